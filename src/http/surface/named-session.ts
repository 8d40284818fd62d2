/** The session that a request of another vendor's client names, in the header or as its key lets it. */
import type { Context } from "hono";
import { externalId } from "../../contract/label";
import { parseId, type SessionId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import { putSession } from "../create-session";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { isAside, readClientWords } from "./beside";
import { noteIgnored } from "./ignored";

export const SESSION_HEADER = "X-Session-Id";

/** The header has no effect on the request, and the answer says so. */
export const noteUnused = (c: Context<HttpEnv>): void => noteIgnored(c, [SESSION_HEADER]);

interface Asked {
  readonly model: string | undefined;
  readonly tools: readonly unknown[] | null;
}

interface InSession<T> {
  readonly session: SessionId;
  readonly started: T;
}

/**
 * Starts in the session that the request names. Null: it names none, or is no part of its conversation, and has to be answered without one.
 * `start`: null says the latter. It is called again only where there was no session.
 */
export async function startInNamed<T>(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  asked: Asked,
  start: (session: SessionId) => Promise<Result<T | null, HttpError>>,
): Promise<Result<InSession<T> | null, HttpError>> {
  const named = readNamed(c, asked.tools);
  if (named === null) return ok(null);
  const known = named.session === null ? await findByName(c, deps, named.name) : ok(named.session);
  if (!known.ok) return known;
  const first = known.value === null ? null : await startIn(c, known.value, start);
  if (named.name === null || (first !== null && (first.ok || !isGone(first.error)))) return first ?? ok(null);
  const made = await openByName(c, deps, { ...asked, name: named.name });
  return made.ok ? startIn(c, made.value, start) : made;
}

/** For a session that is named elsewhere, too. */
export async function startIn<T>(
  c: Context<HttpEnv>,
  session: SessionId,
  start: (session: SessionId) => Promise<Result<T | null, HttpError>>,
): Promise<Result<InSession<T> | null, HttpError>> {
  const started = await start(session);
  if (!started.ok) return started;
  if (started.value === null) noteUnused(c);
  else c.header(SESSION_HEADER, session);
  return ok(started.value && { session, started: started.value });
}

/** The session that a request names which adds nothing. Null: none. */
export async function findNamedSession(c: Context<HttpEnv>, deps: HttpDeps, asked: Asked): Promise<Result<SessionId | null, HttpError>> {
  const named = readNamed(c, asked.tools);
  if (named === null) return ok(null);
  return named.session === null ? findByName(c, deps, named.name) : ok(named.session);
}

type Named = { readonly session: SessionId; readonly name: null } | { readonly session: null; readonly name: string };

/** The headers in which agents name their conversations. They count where the key lets its clients name sessions. */
const AGENT_HEADERS = ["x-claude-code-session-id", "session-id"];

/**
 * An id in our form is ours, whether there is such a session or not. Any other value is a client's own id: it has no effect, unless the key says
 * that it names a session.
 */
function readNamed(c: Context<HttpEnv>, tools: Asked["tools"]): Named | null {
  const given = c.req.header(SESSION_HEADER);
  const makesNames = readPrincipal(c).clients?.session_header === "create";
  if (given === undefined && !makesNames) return null;
  const isAsides = isAside(readClientWords(c), tools);
  const session = given === undefined || isAsides ? null : parseId("ses", given);
  if (session) return { session, name: null };
  const own = given ?? AGENT_HEADERS.map((name) => c.req.header(name)).find((value) => value !== undefined);
  const name = externalId.safeParse(own);
  if (!isAsides && makesNames && name.success) return { session: null, name: name.data };
  if (given !== undefined) noteUnused(c);
  return null;
}

export const isGone = ({ code }: HttpError): boolean => code === "session_not_found" || code === "session_erased";

/** The session may never have been opened. */
const findByName = (c: Context<HttpEnv>, deps: HttpDeps, name: string): Promise<Result<SessionId | null, HttpError>> =>
  callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.findExternalId(name),
  );

async function openByName(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { name, model }: Asked & { readonly name: string },
): Promise<Result<SessionId, HttpError>> {
  const put = await putSession(deps, c, { external_id: name, ...(model !== undefined && { model }) });
  return put.ok ? ok(put.value.session.id) : put;
}
