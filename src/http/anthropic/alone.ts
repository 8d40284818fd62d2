/** A message without a session: its request brings the whole conversation, and nothing of it is kept after the answer. */
import type { Context } from "hono";
import type { RespondInput } from "../../app/respond-api";
import { err, ok, type Result } from "../../lib/result";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { ofNamedModel } from "../session-model";
import { type StartedLeg, toStartedLeg } from "../surface/started-leg";
import type { PreparedThrowaway } from "../surface/throwaway";
import { toAsked } from "./asked-with";
import { toTheirError } from "./refusal";
import type { MessageBody } from "./request-body";
import type { MessageRequest } from "./session";
import { createMessageWriter } from "./written";

/** An edit of the context by a summary, as clients ask for it. */
const COMPACTS = /^compact_/;
const findEdit = ({ context_management }: MessageBody): string | undefined =>
  (context_management?.edits ?? []).find(({ type }) => COMPACTS.test(type))?.type;

export async function startMessageAlone(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { alone: { session, begin }, request }: { readonly alone: PreparedThrowaway; readonly request: MessageRequest },
): Promise<Result<StartedLeg, HttpError>> {
  const { body, tools } = request;
  const written = await createMessageWriter(c, deps, { session, isThrowaway: true })(request.messages);
  if (!written.ok) return written;
  const messages = written.value.map(({ message }) => message);
  const edit = findEdit(body);
  const sent = { ...(edit === undefined && ({ whole: true } as const)), ...(body.stream && ({ listens: true } as const)) };
  const input: RespondInput = { ...toAsked(body), tools, idempotency: null, after: null, results: [], messages, run: true, ...sent };
  const accepted = await begin(input);
  if (!accepted.ok) return err(toTheirError(ofNamedModel(accepted.error, body), { results: [], messages: written.value, open: [] }));
  return ok(toStartedLeg(accepted.value, { session, epoch: 0, continues: false, ...(edit !== undefined && { edit }) }));
}
