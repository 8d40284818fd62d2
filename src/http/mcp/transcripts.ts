/** The MCP server's resources: the transcript of each session, as text that a person reads. */
import type { ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { SessionSummary } from "../../contract/session";
import { parseId, type SessionId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { boundToEndUser } from "../access-limits";
import { findRefusal, readPrincipal } from "../auth";
import { describeRefusal, type HttpError } from "../problem";
import { reachReadModel } from "../read-model";
import { toFilter } from "../schemas/session";
import { sessionClient } from "../session-calls";
import { toFieldErrors } from "../validation";
import { RPC } from "./error-body";
import { fillPage, type Message } from "./shapes";
import type { ToolCall } from "./tool";

type Asking = Pick<ToolCall, "c" | "deps">;

const MIME = "text/plain";
const LIST_PAGE = 50;
const READ_PAGE = 100;
const URI = /^longhand:\/\/sessions\/(ses_[0-9A-Z]{26})\/transcript(?:\?after=(\d{1,15}))?$/;

const toUri = (session: string, after?: number): string =>
  `longhand://sessions/${session}/transcript${after === undefined ? "" : `?after=${after}`}`;

const listInput = z.object({ cursor: z.string().min(1).max(512).optional() });
const readInput = z.object({ uri: z.string().max(512) });

/** A refusal in the words of JSON-RPC. The SDK sends `code`, `message` and `data` of what is thrown. */
class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const UNKNOWN = new Set<HttpError["code"]>(["session_not_found", "session_erased", "not_found"]);

function toRefusal({ c }: Asking, error: HttpError): RpcError {
  const { document, status } = describeRefusal(error, c.get("requestId"));
  const refused = status < 500 ? (status === 400 ? RPC.invalidParams : RPC.server) : RPC.internal;
  return new RpcError(UNKNOWN.has(error.code) ? RPC.resourceNotFound : refused, document.detail, document);
}

function orThrow<T>(asking: Asking, result: Result<T, HttpError>): T {
  if (!result.ok) throw toRefusal(asking, result.error);
  return result.value;
}

function readParams<S extends z.ZodType>(asking: Asking, schema: S, params: unknown): z.output<S> {
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) throw toRefusal(asking, { code: "invalid_request", errors: toFieldErrors(parsed.error.issues) });
  return parsed.data;
}

export const TEMPLATES: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      uriTemplate: "longhand://sessions/{session_id}/transcript{?after}",
      name: "transcript",
      title: "Transcript of a session",
      description: "What was said in a conversation, oldest first. A long one continues at the address on its last line.",
      mimeType: MIME,
    },
  ],
};

const toResource = ({ id, title, message_count }: Pick<SessionSummary, "id" | "title" | "message_count">) => ({
  uri: toUri(id),
  name: id,
  title: title ?? id,
  description: `Transcript of ${message_count} messages`,
  mimeType: MIME,
});

export async function listTranscripts(asking: Asking, params: unknown): Promise<ListResourcesResult> {
  const { cursor = null } = readParams(asking, listInput, params);
  return orThrow(asking, await findTranscripts(asking, cursor));
}

async function findTranscripts({ c, deps }: Asking, after: string | null): Promise<Result<ListResourcesResult, HttpError>> {
  const principal = readPrincipal(c);
  const refused = findRefusal(principal, { scope: "sessions:read", opensTo: "end_user" });
  if (refused) return err(refused);
  const bounded = boundToEndUser(c, {});
  if (!bounded.ok) return bounded;
  const order = { orderBy: "updated_at", order: "desc" } as const;
  const input = { tenant: principal.tenant, filter: toFilter({ ...bounded.value, archived: "false" }), ...order, limit: LIST_PAGE, after };
  const reached = await reachReadModel(c, deps, () => deps.sessionList.listSessions(input));
  if (!reached.ok) return reached;
  if (!reached.value.ok) return reached.value;
  const { data, next_cursor } = reached.value.value;
  return ok({ resources: data.map(toResource), ...(next_cursor !== null && { nextCursor: next_cursor }) });
}

export async function readTranscript(asking: Asking, params: unknown): Promise<ReadResourceResult> {
  const { uri } = readParams(asking, readInput, params);
  const [, id = "", after] = URI.exec(uri) ?? [];
  const session = parseId("ses", id);
  if (!session) throw toRefusal(asking, { code: "not_found" });
  const text = orThrow(asking, await writeTranscript(asking, session, after === undefined ? null : Number(after)));
  return { contents: [{ uri, mimeType: MIME, text }] };
}

async function writeTranscript({ c, deps }: Asking, session: SessionId, after: number | null): Promise<Result<string, HttpError>> {
  const refused = findRefusal(readPrincipal(c), { scope: "sessions:read", opensTo: "session", session });
  if (refused) return err(refused);
  const calls = sessionClient(deps, c, session);
  const page = await calls.repeatable((api, caller) => api.items(caller, { after, limit: READ_PAGE, order: "asc" }));
  if (!page.ok) return page;
  const { data, has_more } = page.value;
  const shown = fillPage(data);
  const last = data[shown.length - 1];
  const isMore = has_more || shown.length < data.length;
  const place = last && (last.tool_calls?.at(-1)?.position ?? last.position);
  const rest = isMore && place !== undefined ? [`The transcript goes on: ${toUri(session, place)}`] : [];
  return ok([...shown.map(toParagraph), ...rest].join("\n\n"));
}

/** What any reader takes for the end of a line. */
const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/** Indented, so that no text of a message can pass for the head of another one. */
const indent = (text: string): string =>
  text
    .split(LINE_END)
    .map((line) => `    ${line}`)
    .join("\n");

function toParagraph({ position, role, name, text, media, tool_calls, tool_name, created_at, ...marks }: Message): string {
  const speaker = [role, ...(tool_name === null ? [] : [JSON.stringify(tool_name)]), ...(name === null ? [] : [JSON.stringify(name)])];
  const noted = [marks.is_error && "error", marks.incomplete && "incomplete", marks.truncated && "cut"].filter((mark) => mark !== false);
  const head = `[${position}] ${speaker.join(" ")}, ${created_at}${noted.length > 0 ? ` (${noted.join(", ")})` : ""}`;
  const body = [
    ...(text === "" ? [] : [text]),
    ...media.map(({ type, media_type, name: file }) => `(${type}, ${media_type}${file === null ? "" : `, ${file}`})`),
    ...tool_calls.map((call) => `(calls ${call.name}: ${call.arguments})`),
  ];
  return [head, ...body.map(indent)].join("\n");
}
