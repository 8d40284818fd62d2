/** Appends OpenAI's items to a conversation: looks their files up, and finds out whose calls the results answer. */
import type { Context } from "hono";
import type { WholeSessionApi } from "../../../app/control-api";
import type { Outcome as Answer, Caller, Idempotency, ToolResultInput } from "../../../app/session-api";
import type { WrittenMessage } from "../../../app/written-message";
import type { DisplayItem } from "../../../contract/item";
import type { SessionId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import type { Asker, HttpDeps, HttpEnv } from "../../deps";
import type { HttpError } from "../../problem";
import { type SessionCalls, sessionClient } from "../../session-calls";
import { sendInLine } from "../../surface/in-line";
import { holdFiles, takeAllFiles } from "../../take-files";
import { toContent, toWrittenMessages } from "./read-items";
import type { ReadInput, ReadMessage } from "./transcript";

type Outcome<T> = Promise<Result<T, HttpError>>;

interface Appended {
  readonly session: SessionId;
  readonly input: ReadInput;
  readonly idempotency: Idempotency | null;
  readonly isThrowaway?: boolean;
}

/** Appends all items or none, and returns the messages that they are now. No turn starts. */
export async function storeItems(c: Context<HttpEnv>, deps: HttpDeps, asked: Appended): Outcome<readonly DisplayItem[]> {
  const { session, input, idempotency, isThrowaway = false } = asked;
  const [approval] = input.approvals;
  if (approval) return invalid(approval.field, "an approval belongs to the input of a response");
  const taken = await takeMessages(c, deps, { session, messages: input.messages, isThrowaway });
  if (!taken.ok) return taken;
  const calls = sessionClient(deps, c, session);
  const results = input.results.map(({ result }) => result);
  const sendNow = idempotency ? calls.repeatable : calls.once;
  // A running turn would come between the items and what they follow.
  const send: Adding["send"] = (work) => sendInLine({ calls, schedule: deps.schedule }, () => sendNow(work));
  const added = { calls, results, messages: taken.value, idempotency, send, input };
  if (results.length + taken.value.length === 0) return ok([]);
  if (results.length === 0) return importAll(added);
  const answered = await answerCalls(added);
  if (answered.ok || answered.error.code !== "call_not_open")
    return answered.ok ? answered : err(toItemError(answered.error, { input, results: [] }));
  // They are no results of a turn that waits: they may be of an appended reply. Either way of recording them has a key of its own.
  return importAll({ ...added, idempotency: idempotency && { ...idempotency, key: `${idempotency.key} import` } });
}

const invalid = (field: string, detail: string): Result<never, HttpError> => err({ code: "invalid_request", errors: [{ field, detail }] });

interface Adding {
  readonly calls: SessionCalls;
  readonly send: <T>(work: (api: WholeSessionApi, caller: Caller) => Promise<Answer<T>>) => Promise<Answer<T>>;
  readonly input: ReadInput;
  readonly results: readonly ToolResultInput[];
  readonly messages: readonly WrittenMessage[];
  readonly idempotency: Idempotency | null;
}

/** The turn that waits ends with its last result, because no turn goes on without a response that is asked for. */
async function answerCalls({ calls, send, results, messages, idempotency }: Adding): Outcome<readonly DisplayItem[]> {
  const asked = { after: null, results, messages, run: false, tools: null, idempotency };
  const done = await send((api, caller) => api.respond(caller, asked));
  if (!done.ok) return done;
  const { position } = done.value;
  if (position === null) throw new TypeError("appended items have a position");
  const count = results.length + messages.length;
  if (messages.length === 0) return readAppended(calls, { from: position, count });
  const page = await calls.repeatable((api, caller) =>
    api.items(caller, { after: position + 1, limit: count, order: "desc", branch: "all" }),
  );
  return page.ok ? ok(page.value.data.toReversed()) : page;
}

/** Results of calls as messages, for calls of a reply that was recorded and not asked for. */
export const toAnswers = (results: readonly ToolResultInput[]): readonly WrittenMessage[] =>
  results.map(({ call_id, output, is_error }) => ({ role: "tool", call_id: call_id ?? "", output, is_error }));

async function importAll({ calls, send, input, results, messages, idempotency }: Adding): Outcome<readonly DisplayItem[]> {
  const all = [...toAnswers(results), ...messages];
  const done = await send((api, caller) => api.importMessages(caller, { messages: all, idempotency }));
  if (!done.ok) return err(toItemError(done.error, { input, results }));
  const [first] = done.value.data;
  return first ? readAppended(calls, { from: first.position, count: all.length }) : ok([]);
}

async function readAppended(
  calls: SessionCalls,
  { from, count }: { readonly from: number; readonly count: number },
): Outcome<DisplayItem[]> {
  const found: DisplayItem[] = [];
  for (let after = from - 1; found.length < count; ) {
    const place = after;
    const page = await calls.repeatable((api, caller) =>
      api.items(caller, { after: place, limit: count - found.length, order: "asc", branch: "all" }),
    );
    if (!page.ok) return page;
    const last = page.value.data.at(-1);
    found.push(...page.value.data);
    if (!last || !page.value.has_more) break;
    after = last.position;
  }
  return ok(found);
}

const PLACE = /^(?:items|messages)\.(\d+)(?:\.(.*))?$/;

/** The refusal with the field as the client wrote it. `results`: those that went before the messages. */
function toItemError(error: HttpError, { input, results }: Pick<Adding, "input" | "results">): HttpError {
  if (error.code === "call_not_open") return toUnknownCall(error.call);
  const [, index, rest] = (error.code === "invalid" && PLACE.exec(error.field)) || [];
  if (error.code !== "invalid" || index === undefined) return error;
  const result = results[Number(index)] ?? null;
  if (rest === "call_id") return toUnknownCall(result?.call_id ?? readCall(input.messages[Number(index) - results.length]));
  const field = (result ? input.results : input.messages)[Number(index) - (result ? 0 : results.length)]?.field;
  return { ...error, field: [field, rest].filter(Boolean).join(".") };
}

const readCall = (message: ReadMessage | undefined): string => (message?.role === "tool" ? message.call_id : "");

const toUnknownCall = (call: string): HttpError => ({
  code: "invalid_request",
  errors: [{ field: "input", detail: `No tool call found for function call output with call_id ${call}.` }],
});

interface Taking {
  readonly session: SessionId;
  readonly messages: readonly ReadMessage[];
  readonly isThrowaway: boolean;
}

/** The messages as the session takes them: data URLs become stored files, and every file is looked up. */
export async function takeMessages(
  c: Asker,
  deps: HttpDeps,
  { session, messages, isThrowaway }: Taking,
): Outcome<readonly WrittenMessage[]> {
  if (!(await holdStored(c, deps, { session, messages, isThrowaway }))) return err({ code: "session_erased" });
  const fresh = messages.flatMap((message, index) =>
    message.role === "tool" ? [] : message.parts.flatMap(({ part, isStored }, place) => (isStored ? [] : [{ index, place, part }])),
  );
  const contents = fresh.map(({ index, place, part }) => ({ field: `${index}.${place}`, content: [part] }));
  const taken = await takeAllFiles(c, deps, { session, contents, isThrowaway });
  if (!taken.ok) return err(toFileError(taken.error, messages));
  const filled = messages.map(toContent);
  for (const [nth, { index, place }] of fresh.entries()) {
    const [part] = taken.value[nth] ?? [];
    if (typeof part === "object") filled[index]?.splice(place, 1, part);
  }
  return ok(toWrittenMessages(messages, filled));
}

/** Notes that the session is about to refer to files of other sessions, as for a copy. False: the session was erased meanwhile. */
async function holdStored(c: Asker, deps: HttpDeps, { session, messages, isThrowaway }: Taking): Promise<boolean> {
  const parts = messages.flatMap((message) => (message.role === "tool" ? [] : message.parts));
  const files = parts.flatMap(({ part, isStored }) => (isStored && "file_id" in part && part.file_id ? [part.file_id] : []));
  return files.length === 0 || holdFiles(c, deps, { session, files: [...new Set(files)], ...(isThrowaway && { throwaway: "names" }) });
}

const PART = /^(\d+)\.(\d+)\./;

/** The refusal of a file, with the field that holds it as the client wrote it. */
function toFileError(error: HttpError, messages: readonly ReadMessage[]): HttpError {
  const rename = (field: string): string => {
    const [, message, part] = PART.exec(field) ?? [];
    const found = messages[Number(message)];
    return (found && found.role !== "tool" && found.parts[Number(part)]?.field) || field;
  };
  if (error.code === "invalid_request") return { ...error, errors: error.errors.map((each) => ({ ...each, field: rename(each.field) })) };
  if (error.code === "file_type_not_allowed" || error.code === "file_too_large") return { ...error, field: rename(error.field) };
  return error;
}
