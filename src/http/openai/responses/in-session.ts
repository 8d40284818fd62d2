/**
 * A response in the session that `X-Session-Id` names. The client brings its whole copy of the conversation with each request, as one does that
 * stores nothing; the session has the conversation, and the request adds what is new in the copy. Chat completions and Messages do the same.
 */
import type { Context } from "hono";
import type { ToolResultInput, TurnInput } from "../../../app/session-api";
import type { SessionId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { readPrincipal } from "../../auth";
import type { HttpDeps, HttpEnv } from "../../deps";
import type { HttpError } from "../../problem";
import { sessionClient } from "../../session-calls";
import type { ClientWords } from "../../surface/beside";
import { sendInLine } from "../../surface/in-line";
import { toComparedText } from "../../surface/new-messages";
import { type CopiedMessage, type CopyWords, startFromCopy } from "../../surface/start-from-copy";
import type { StartedLeg } from "../../surface/started-leg";
import { createWriter, type WrittenAt } from "../../surface/written";
import { toContent, toWrittenMessages } from "../items/read-items";
import type { ReadInput, ReadMessage } from "../items/transcript";
import { type ResponseAsked, toNote } from "./asked";
import { findApprovalFault } from "./find-approvals";
import { readEcho } from "./input";
import { findResponseTools } from "./mcp-servers";
import { createEndReader, findModel } from "./read-end";
import { toResponseError } from "./refusal";
import type { ResponseRequest } from "./request";
import { beginLeg, continueTurn, type ResponseAsking, type StartedResponse } from "./start-response";

/** A message of the client's copy. A result is a message of its own. */
interface CopiedInput extends CopiedMessage {
  readonly message: ReadMessage;
}

type Asking = Pick<ResponseAsking, "request" | "idempotency" | "isStreamed"> & {
  readonly session: SessionId;
  readonly client: ClientWords;
};

/** Null: the request is no part of the session's conversation. */
export async function startFromInput(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { session, client, request, idempotency, isStreamed }: Asking,
): Promise<Result<StartedResponse | null, HttpError>> {
  const unknown = findApprovalFault(request);
  if (unknown) return err(unknown);
  const calls = sessionClient(deps, c, session);
  const [tools, model] = await Promise.all([
    findResponseTools(deps, readPrincipal(c).tenant, request),
    request.body.model ? ok(request.body.model) : findModel(createEndReader(calls, request.input)),
  ]);
  if (!tools.ok) return tools;
  if (!model.ok) return model;
  const echo = readEcho(request, model.value);
  const messages = listCopied(request.input);
  const write = createWriter<CopiedInput>(c, deps, {
    session,
    isThrowaway: false,
    toGiven: ({ field, message }) => ({ field, content: toContent(message) }),
    toWritten: ({ message }, content) => toWrittenMessages([message], [content])[0] ?? null,
  });
  const copied = { messages, asked: toTurn(request, echo), tools: tools.value, idempotency, isStreamed, client };
  const copy = { calls, session, write, words: createWords(request), request: copied };
  const started = await sendInLine({ calls, schedule: deps.schedule }, () => startFromCopy(copy));
  if (!started.ok || started.value === null) return started.ok ? ok(null) : started;
  return toStartedResponse(started.value, { calls, echo });
}

const toTurn = ({ body, generation, input }: ResponseRequest, echo: ResponseAsked): TurnInput => ({
  model: body.model ?? null,
  generation: generation ?? null,
  system: joinSystem([
    body.instructions ?? "",
    ...input.messages.flatMap((message) => (message.role === "system" ? [toText(message)] : [])),
  ]),
  note: toNote(echo),
});

const joinSystem = (texts: readonly string[]): string | null => texts.filter((text) => text !== "").join("\n\n") || null;

const toText = (message: ReadMessage): string =>
  message.role === "tool" ? message.output : toComparedText(message.parts.map(({ part }) => part));

/** Results of calls that the copy does not have come before what was said with them. */
function listCopied({ messages, results }: ReadInput): readonly CopiedInput[] {
  const orphans = results.map(({ field, result: { call_id, output, is_error } }): ReadMessage => {
    return { role: "tool", field, call_id: call_id ?? "", output, is_error };
  });
  return [...orphans, ...messages].map((message): CopiedInput => {
    const said = { role: message.role, field: message.field, text: toText(message), message };
    return message.role === "tool" ? { ...said, answers: message.call_id, calls: [] } : { ...said, calls: message.calls };
  });
}

const createWords = (request: ResponseRequest): CopyWords<CopiedInput> => ({
  // A call has its provider's own id here.
  toCallName: () => "",
  parseCallName: () => null,
  toOutcome: ({ message }) =>
    message.role === "tool" ? { output: message.output, is_error: message.is_error } : { output: "", is_error: false },
  listSpoken: ({ messages }) => ok(messages),
  answerNothingNew: async () =>
    err({ code: "invalid_request", errors: [{ field: "input", detail: "must end with what is new: the session has the rest" }] }),
  hasLostCalls: () => true,
  toError: (error, { results, messages }) => toResponseError(error, { ...request, input: toSent(request.input, { results, messages }) }),
});

interface Sent {
  readonly results: readonly CopiedInput[];
  readonly messages: readonly WrittenAt[];
}

/** The part of the input that was sent, so that a refusal names it by its place in the request. */
function toSent(input: ReadInput, { results, messages }: Sent): ReadInput {
  const fields = new Set(messages.map(({ field }) => field));
  const sent = results.flatMap(({ field, message }): ReadInput["results"] => {
    if (message.role !== "tool") return [];
    const result: ToolResultInput = { execution_id: null, call_id: message.call_id, output: message.output, is_error: message.is_error };
    return [{ field, result }];
  });
  return { ...input, results: sent, messages: input.messages.filter(({ field }) => fields.has(field)) };
}

interface Answering extends Pick<StartedResponse, "calls"> {
  readonly echo: ResponseAsked;
}

async function toStartedResponse(
  { session, turn, cursor, stream, after, continues, replayed }: StartedLeg,
  { calls, echo }: Answering,
): Promise<Result<StartedResponse, HttpError>> {
  const beginning = { calls, session, cursor, stream, discard: () => {}, sealed: null };
  if (!continues && !replayed) return ok(await beginLeg(beginning, turn, echo));
  const continued = await continueTurn(beginning, { turn, position: continues ? after : 0 });
  // The request may bring other tools than its turn began with.
  return continued.ok ? ok({ ...continued.value, asked: { ...continued.value.asked, tools: echo.tools } }) : continued;
}
