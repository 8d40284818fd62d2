/** A message of a session: the session has the conversation, and the request adds what is new in its messages. */
import type { Context } from "hono";
import type { Idempotency } from "../../app/session-api";
import type { Schedule } from "../../app/session-ports";
import type { SessionId } from "../../domain/ids";
import type { ToolDefinition } from "../../domain/message";
import { err, ok } from "../../lib/result";
import type { HttpDeps, HttpEnv } from "../deps";
import type { SessionCalls } from "../session-calls";
import type { ClientWords } from "../surface/beside";
import { sendInLine } from "../surface/in-line";
import { type CopyWords, type NewInCopy, type StartedInSession, startFromCopy } from "../surface/start-from-copy";
import { toAsked } from "./asked-with";
import { parseToolUseId, toToolUseId } from "./read-blocks";
import { type CopiedBlocks, findFaults, refusePrefill } from "./read-copy";
import { toTheirError } from "./refusal";
import type { MessageBody } from "./request-body";
import { resumeTurn } from "./resume";
import { createMessageWriter } from "./written";

export interface MessageRequest {
  readonly body: MessageBody;
  readonly messages: readonly CopiedBlocks[];
  readonly tools: readonly ToolDefinition[] | null;
  readonly idempotency: Idempotency | null;
  readonly client: ClientWords;
}

/** All that is new, in order. A system message is recorded where it is, so that it is new if what stands around it is. */
export function listNew(
  messages: readonly CopiedBlocks[],
  { results, messages: spoken }: NewInCopy<CopiedBlocks>,
): readonly CopiedBlocks[] {
  const fresh = new Set([...results, ...spoken]);
  let from = messages.findIndex((message) => fresh.has(message));
  if (from < 0) return [];
  while (messages[from - 1]?.role === "system") from -= 1;
  return messages.slice(from);
}

interface Asking {
  readonly calls: SessionCalls;
  readonly schedule: Schedule;
  readonly messages: readonly CopiedBlocks[];
  readonly client: ClientWords;
}

const createWords = ({ calls, schedule, messages, client }: Asking): CopyWords<CopiedBlocks> => ({
  toCallName: toToolUseId,
  parseCallName: parseToolUseId,
  toOutcome: ({ text: output, is_error }) => ({ output, is_error }),
  listSpoken(fresh) {
    const added = listNew(messages, fresh);
    const fault = findFaults(added);
    return fault ? err(fault) : ok(added.filter((message) => !fresh.results.includes(message)));
  },
  answerNothingNew: async (end) => (await resumeTurn({ calls, schedule, messages, end })) ?? err(refusePrefill(messages)),
  // A client that sends only what is new may know more than it sends. An agent brings its whole copy.
  hasLostCalls({ results, messages: spoken }, { turn }) {
    const sent = messages.filter(({ role }) => role !== "system").length;
    const waitsForPerson = (turn?.open_calls ?? []).some(({ runs }) => runs === "server");
    return (client.isAgent || results.length + spoken.length < sent) && !waitsForPerson;
  },
  toError: (error, sent, { turn }) => toTheirError(error, { ...sent, open: turn?.open_calls ?? [] }),
});

interface InSession {
  readonly calls: SessionCalls;
  readonly session: SessionId;
  readonly request: MessageRequest;
}

export function startMessage(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { calls, session, request: { body, messages, tools, idempotency, client } }: InSession,
): Promise<StartedInSession> {
  const { schedule } = deps;
  const write = createMessageWriter(c, deps, { session, isThrowaway: false });
  const request = { messages, asked: toAsked(body), tools, idempotency, client, isStreamed: body.stream === true };
  const copy = { calls, session, request, write, words: createWords({ calls, schedule, messages, client }) };
  return sendInLine({ calls, schedule }, () => startFromCopy(copy));
}
