/**
 * `POST /v1/messages/count_tokens`: how large the next request would be. With a session it is what the model would read of the conversation,
 * and what the request adds; without one it is all that the request holds. Nothing is sent or stored.
 */
import type { Context } from "hono";
import { estimateTokens } from "../../context/tokens";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { type HttpError, sendProblem } from "../problem";
import { isMediaInput } from "../schemas/message";
import { type SessionCalls, sessionClient } from "../session-calls";
import { ofSessionModel } from "../session-model";
import { noteIgnored } from "../surface/ignored";
import { findNamedSession } from "../surface/named-session";
import { sortCopy } from "../surface/start-from-copy";
import { weighAdded, weighRest } from "../surface/weigh-input";
import { listServerTools, toSystem } from "./asked-with";
import { BETA_MEMBERS } from "./message-shape";
import { toToolUseId } from "./read-blocks";
import { type CopiedBlocks, findFaults, parseRequest, type ReadCopy, readCopy } from "./read-copy";
import { type CountBody, countBody } from "./request-body";
import { listNew } from "./session";

/** What the request names in place of the session's. Null: the session's holds. */
function weighNamed({ system }: CountBody, { tools }: ReadCopy) {
  const prompt = toSystem(system);
  return {
    system: prompt === null ? null : estimateTokens(prompt),
    tools: tools === null ? null : estimateTokens(JSON.stringify(tools)),
  };
}

export async function countTokens(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const parsed = parseRequest(countBody, await c.req.json(), (unknown) => noteIgnored(c, unknown));
  if (!parsed.ok) return sendProblem(c, parsed.error);
  const body = parsed.value;
  const read = readCopy(body);
  if (!read.ok) return sendProblem(c, read.error);
  noteIgnored(c, listServerTools(body.tools));
  const named = weighNamed(body, read.value);
  const own = (named.system ?? 0) + (named.tools ?? 0);
  const { messages, tools } = read.value;
  const session = await findNamedSession(c, deps, { model: body.model, tools });
  if (!session.ok) return sendProblem(c, session.error);
  const alone = ok({ fresh: messages, tokens: 0 });
  const rest = session.value ? await weighSession(sessionClient(deps, c, session.value), { messages, named }) : alone;
  if (!rest.ok) return sendProblem(c, rest.error);
  const added = await weighAll(c, deps, rest.value.fresh);
  if (!added.ok) return sendProblem(c, added.error);
  return c.json({ input_tokens: Math.ceil(own + added.value + rest.value.tokens), ...BETA_MEMBERS });
}

/** What the messages weigh once they are sent. Nothing is stored, and no file is referred to. */
async function weighAll(c: Context<HttpEnv>, deps: HttpDeps, messages: readonly CopiedBlocks[]): Promise<Result<number, HttpError>> {
  const fault = findFaults(messages);
  if (fault) return err(fault);
  const files = await weighFiles(c, deps, messages);
  if (!files.ok) return files;
  return ok(messages.reduce((sum, message) => sum + weighMessage(message, files.value), 0));
}

const weighMessage = ({ role, text, parts, calls }: CopiedBlocks, files: ReadonlyMap<string, number>): number =>
  weighAdded(role === "tool" ? { parts: [], calls: [], results: [{ output: text }] } : { parts, calls, results: [] }, files);

async function weighFiles(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  messages: readonly CopiedBlocks[],
): Promise<Result<ReadonlyMap<string, number>, HttpError>> {
  const named = messages.flatMap(({ field, parts }) =>
    parts.flatMap((part) => (isMediaInput(part) && part.file_id !== undefined ? [{ field, file: part.file_id }] : [])),
  );
  if (named.length === 0) return ok(new Map());
  const files = [...new Set(named.map(({ file }) => file))];
  const known = await callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.useFiles({ session: deps.newId("ses"), files, asksOnly: true }),
  );
  if (known.ok) return ok(new Map(known.value.map(({ file_id, tokens }) => [file_id, tokens])));
  const { error } = known;
  if (error.code !== "file_not_found") return err(error);
  const field = named.find(({ file }) => file === error.file)?.field ?? "messages";
  return err({ code: "invalid_request", errors: [{ field, detail: `no such file: ${error.file}` }] });
}

interface Counted {
  readonly messages: readonly CopiedBlocks[];
  readonly named: ReturnType<typeof weighNamed>;
}

interface Rest {
  /** What is new in the client's copy. */
  readonly fresh: readonly CopiedBlocks[];
  /** The session's next request without it. */
  readonly tokens: number;
}

async function weighSession(calls: SessionCalls, { messages, named }: Counted): Promise<Result<Rest, HttpError>> {
  const [report, copy] = await Promise.all([
    calls.repeatable((api, caller) => api.context(caller, { content: null })),
    sortCopy({ calls, request: { messages }, words: { toCallName: toToolUseId } }),
  ]);
  if (!report.ok) return err(ofSessionModel(report.error));
  if (!copy.ok) return copy;
  return ok({ fresh: listNew(messages, copy.value.sorted), tokens: weighRest(report.value, named) });
}
