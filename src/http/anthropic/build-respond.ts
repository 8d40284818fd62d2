/** What a request asks of its session: what is new in a session that the client names, or all of it in one that is thrown away. */
import type { Context } from "hono";
import type { RespondInput } from "../../app/respond-api";
import type { Idempotency, SessionError } from "../../app/session-api";
import type { WrittenMessage } from "../../app/written-message";
import type { SessionId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { toParts } from "../schemas/message";
import { findTools } from "../session-tools";
import { takeAllFiles } from "../take-files";
import { toAsked, toTheirField } from "./asked-with";
import { toToolUseId } from "./read-blocks";
import { type AddedMessage, findNew, listResults, readAdded } from "./read-request";
import type { MessageBody } from "./request-body";

/** `fields`: where the request has each written message, for refusals. */
interface BuiltRespond {
  readonly input: RespondInput;
  readonly added: readonly AddedMessage[];
  readonly fields: readonly string[];
}

interface Asking {
  readonly body: MessageBody;
  readonly session: SessionId;
  readonly idempotency: Idempotency | null;
  /** The session has nothing: all messages of the request are recorded, calls and results too. */
  readonly isThrowaway: boolean;
}

/** An edit of the context by a summary, as clients ask for it. */
const COMPACTS = /^compact_/;
const asksToCompact = ({ context_management }: MessageBody): boolean =>
  (context_management?.edits ?? []).some(({ type }) => COMPACTS.test(type));

export async function buildRespond(c: Context<HttpEnv>, deps: HttpDeps, asking: Asking): Promise<Result<BuiltRespond, HttpError>> {
  const { body, session, idempotency, isThrowaway } = asking;
  const read = readAdded(body, isThrowaway ? 0 : findNew(body.messages));
  if (!read.ok) return read;
  const { messages: added } = read.value;
  const tools = await findTools(deps, readPrincipal(c).tenant, read.value.tools);
  if (!tools.ok) return tools;
  const written = await writeMessages(c, deps, { session, added, isThrowaway });
  if (!written.ok) return written;
  const results = isThrowaway ? [] : listResults(added).map(({ id: _, ...result }) => result);
  const messages = written.value.map(({ message }) => message);
  const whole = isThrowaway && !asksToCompact(body) && ({ whole: true } as const);
  const input = { ...toAsked(body), after: null, results, messages, run: true, tools: tools.value, idempotency, ...whole };
  return ok({ input, added, fields: written.value.map(({ field }) => field) });
}

interface Writing {
  readonly session: SessionId;
  readonly added: readonly AddedMessage[];
  readonly isThrowaway: boolean;
}

interface Written {
  readonly field: string;
  readonly message: WrittenMessage;
}

/** Results of calls come before what else their message says. A message of results alone says nothing more. */
async function writeMessages(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { session, added, isThrowaway }: Writing,
): Promise<Result<readonly Written[], HttpError>> {
  const contents = added.map(({ field, parts }) => ({ field: `${field}.content`, content: [...parts] }));
  const taken = await takeAllFiles(c, deps, { session, contents, isThrowaway });
  if (!taken.ok) return taken;
  return ok(
    added.flatMap(({ field, role, calls, results }, index): Written[] => {
      const parts = toParts(taken.value[index] ?? []);
      const said = parts.length + calls.length > 0 ? [{ field, message: { role, parts, ...(calls.length > 0 && { calls }) } }] : [];
      return isThrowaway ? [...results.map((result) => ({ field, message: toImported(result) })), ...said] : said;
    }),
  );
}

const toImported = ({ id, output, is_error }: AddedMessage["results"][number]): WrittenMessage => ({
  role: "tool",
  call_id: id,
  output,
  is_error,
});

const invalid = (field: string, detail: string): HttpError => ({ code: "invalid_request", errors: [{ field, detail }] });

/** The refusal by the fields of the request. */
export function toTheirError(error: HttpError, { added, fields }: BuiltRespond): HttpError {
  if (error.code === "invalid") return { ...error, field: toRequestField(error.field, fields) };
  const results = added.flatMap(({ field, results: given }) => given.map(({ id }) => ({ field, id })));
  if (error.code === "call_not_open") {
    const at = error.index === null ? undefined : results[error.index];
    return invalid(at?.field ?? "messages", `unexpected tool_use_id in a tool_result: ${at?.id ?? error.call}. No such call is open`);
  }
  if (error.code === "calls_unanswered") return invalid(added[0]?.field ?? "messages", toUnanswered(error));
  return error;
}

/** `messages.1.call_id` of what was written is a result in another message of the request. */
function toRequestField(field: string, fields: readonly string[]): string {
  const [, index, rest] = /^messages\.(\d+)(?:\.(.+))?$/.exec(field) ?? [];
  if (index === undefined) return toTheirField(field);
  const name = rest === "call_id" ? "tool_use_id" : rest;
  return [fields[Number(index)] ?? `messages.${index}`, ...(name === undefined ? [] : [name])].join(".");
}

const toUnanswered = ({ calls }: Extract<SessionError, { code: "calls_unanswered" }>): string =>
  `tool_use ids were found without tool_result blocks: ${calls.map(({ execution }) => toToolUseId(execution)).join(", ")}`;
