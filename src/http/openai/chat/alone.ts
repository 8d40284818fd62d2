/** A chat completion without a session: its messages are the whole conversation, and nothing of it is kept after the answer. */
import type { Context } from "hono";
import type { RespondInput } from "../../../app/respond-api";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpDeps, HttpEnv } from "../../deps";
import type { HttpError } from "../../problem";
import { ofNamedModel } from "../../session-model";
import { type StartedLeg, toStartedLeg } from "../../surface/started-leg";
import type { PreparedThrowaway } from "../../surface/throwaway";
import type { CompletionMessage } from "./messages";
import { toChatError } from "./refusal";
import { type ChatRequest, joinSystem } from "./session";
import { createChatWriter } from "./written";

interface Alone {
  readonly alone: PreparedThrowaway;
  readonly request: ChatRequest;
  /** The edit that the request asks for: what exceeds the model's window is compacted for it. Absent: the request is then refused. */
  readonly edit?: string | undefined;
}

/** Instructions alone are what the model is to answer. */
function splitSystem(given: readonly CompletionMessage[]) {
  const [system, spoken] = [given.filter(({ role }) => role === "system"), given.filter(({ role }) => role !== "system")];
  if (spoken.length > 0) return { system, spoken };
  return { system: system.slice(0, -1), spoken: system.slice(-1).map((message) => ({ ...message, role: "user" as const })) };
}

export async function startAlone(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { alone: { session, begin }, request, edit }: Alone,
): Promise<Result<StartedLeg, HttpError>> {
  const { asked, tools, isStreamed } = request;
  const { system, spoken } = splitSystem(request.messages);
  const written = await createChatWriter(c, deps, { session, isThrowaway: true })(spoken);
  if (!written.ok) return written;
  const messages = written.value.map(({ message }) => message);
  const turn = { ...asked, system: joinSystem(system), tools, idempotency: null, ...(edit === undefined && ({ whole: true } as const)) };
  const input: RespondInput = { ...turn, after: null, results: [], messages, run: true, ...(isStreamed && { listens: true }) };
  const accepted = await begin(input);
  if (!accepted.ok) return err(toChatError(ofNamedModel(accepted.error, asked), { results: [], messages: written.value }));
  return ok(toStartedLeg(accepted.value, { session, epoch: 0, continues: false, ...(edit !== undefined && { edit }) }));
}
