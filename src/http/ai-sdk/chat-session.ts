/** The session behind a chat's id: the one that has it as its external id, or the one whose own id it is. */
import type { Context } from "hono";
import type { SessionDescription } from "../../contract/session";
import { parseId, type SessionId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import { findByExternalId, putSession } from "../create-session";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { sessionClient } from "../session-calls";
import { isGone } from "../surface/named-session";

type Found = Promise<Result<SessionDescription, HttpError>>;

/** An error unless the chat has a session that the caller may reach. */
export async function findChat(deps: HttpDeps, c: Context<HttpEnv>, id: string): Found {
  const session = parseId("ses", id);
  const found = session
    ? await sessionClient(deps, c, session).repeatable((api, caller) => api.describe(caller))
    : await findByExternalId(deps, c, id);
  return found.ok && !isReached(c, found.value.id) ? err({ code: "session_not_found" }) : found;
}

function isReached(c: Context<HttpEnv>, session: SessionId): boolean {
  const reached = readPrincipal(c).access_token?.reach.session;
  return reached === undefined || reached === session;
}

/** The id of the chat's session, without a call of the session's object. Whether there is such a session, its first call tells. */
export async function locateChat(deps: HttpDeps, c: Context<HttpEnv>, id: string): Promise<Result<SessionId, HttpError>> {
  const own = parseId("ses", id);
  const found = own
    ? ok(own)
    : await callWithRetry(
        () => deps.tenants(readPrincipal(c).tenant),
        (api) => api.findExternalId(id),
      );
  if (!found.ok) return found;
  return found.value !== null && isReached(c, found.value) ? ok(found.value) : err({ code: "session_not_found" });
}

/** Whether a chat without a session gets one. With a token, a page could take an external id that the tenant is about to give away. */
export const mayOpen = (c: Context<HttpEnv>, id: string): boolean => readPrincipal(c).access_token === undefined && !parseId("ses", id);

/** Finds the chat's session, or creates one with the tenant's defaults. */
export async function openChat(deps: HttpDeps, c: Context<HttpEnv>, id: string): Promise<Result<SessionId, HttpError>> {
  const put = await putSession(deps, c, { external_id: id });
  return put.ok ? ok(put.value.session.id) : put;
}

/** Null for a chat that has no session yet, and for one that is not the caller's: a page looks for both before it writes. */
export async function findChatIfAny(
  deps: HttpDeps,
  c: Context<HttpEnv>,
  id: string,
): Promise<Result<SessionDescription | null, HttpError>> {
  const found = await findChat(deps, c, id);
  if (found.ok) return found;
  return isGone(found.error) ? ok(null) : found;
}
