/** A chat completion of a session: the session has the conversation, and the request adds what is new in its messages. */
import type { Context } from "hono";
import type { Idempotency, TurnInput } from "../../../app/session-api";
import type { SessionId } from "../../../domain/ids";
import type { ToolDefinition } from "../../../domain/message";
import { err, ok } from "../../../lib/result";
import type { HttpDeps, HttpEnv } from "../../deps";
import type { SessionCalls } from "../../session-calls";
import type { ClientWords } from "../../surface/beside";
import { sendInLine } from "../../surface/in-line";
import { type CopyWords, type StartedInSession, startFromCopy } from "../../surface/start-from-copy";
import { type CompletionMessage, parseCallName, toCallName, toOutput } from "./messages";
import { toChatError } from "./refusal";
import { createChatWriter } from "./written";

export interface ChatRequest {
  readonly messages: readonly CompletionMessage[];
  readonly asked: TurnInput;
  readonly tools: readonly ToolDefinition[] | null;
  readonly idempotency: Idempotency | null;
  readonly isStreamed: boolean;
  readonly client: ClientWords;
}

interface Chat {
  readonly calls: SessionCalls;
  readonly request: ChatRequest;
  readonly session: SessionId;
}

export const joinSystem = (system: readonly CompletionMessage[]): string | null =>
  system.length === 0 ? null : system.map(({ text }) => text).join("\n\n");

const createWords = ({ messages }: ChatRequest): CopyWords<CompletionMessage> => ({
  toCallName,
  parseCallName,
  toOutcome: (result) => ({ output: toOutput(result), is_error: false }),
  listSpoken: ({ messages: spoken }) => ok(spoken),
  answerNothingNew: async () => {
    const errors = [
      { field: `${messages.at(-1)?.field}.role`, detail: "must be user or tool in the last message: the session has the rest" },
    ];
    return err({ code: "invalid_request", errors });
  },
  hasLostCalls: () => true,
  toError: toChatError,
});

export function startCompletion(c: Context<HttpEnv>, deps: HttpDeps, { calls, session, request }: Chat): Promise<StartedInSession> {
  const system = joinSystem(request.messages.filter(({ role }) => role === "system"));
  const write = createChatWriter(c, deps, { session, isThrowaway: false });
  const words = createWords(request);
  const copy = { calls, session, write, words, request: { ...request, asked: { ...request.asked, system } } };
  return sendInLine({ calls, schedule: deps.schedule }, () => startFromCopy(copy));
}
