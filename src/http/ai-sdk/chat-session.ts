/** The session behind a chat's id: the one that has it as its external id, or the one whose own id it is. */
import type { Context } from "hono";
import type { SessionDescription } from "../../contract/session";
import { parseId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { findByExternalId, putSession } from "../create-session";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { sessionClient } from "../session-calls";

type Found = Promise<Result<SessionDescription, HttpError>>;

/** An error unless the chat has a session that the caller may reach. */
export async function findChat(deps: HttpDeps, c: Context<HttpEnv>, id: string): Found {
  const session = parseId("ses", id);
  const found = session
    ? await sessionClient(deps, c, session).repeatable((api, caller) => api.describe(caller))
    : await findByExternalId(deps, c, id);
  if (!found.ok) return found;
  const reached = readPrincipal(c).access_token?.reach.session;
  return reached === undefined || reached === found.value.id ? found : err({ code: "session_not_found" });
}

/**
 * Finds the chat's session, or creates one with the tenant's defaults. Only a key creates: with a token, a page could take an
 * external id that the tenant is about to give to another session.
 */
export async function openChat(deps: HttpDeps, c: Context<HttpEnv>, id: string): Found {
  if (readPrincipal(c).access_token !== undefined || parseId("ses", id)) return findChat(deps, c, id);
  const put = await putSession(deps, c, { external_id: id });
  return put.ok ? ok(put.value.session) : put;
}

/** Null for a chat that has no session yet, and for one that is not the caller's: a page looks for both before it writes. */
export async function findChatIfAny(
  deps: HttpDeps,
  c: Context<HttpEnv>,
  id: string,
): Promise<Result<SessionDescription | null, HttpError>> {
  const found = await findChat(deps, c, id);
  if (found.ok) return found;
  return found.error.code === "session_not_found" || found.error.code === "session_erased" ? ok(null) : found;
}
