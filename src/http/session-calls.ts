/** Calls to the session that the path names, for the tenant of the key. */

import type { WholeSessionApi } from "../app/control-api";
import type { Log } from "../app/ports";
import type { Caller, Outcome } from "../app/session-api";
import type { SessionId } from "../domain/ids";
import { isReasonHidden, isStorageFull } from "../lib/sync-sql";
import { readPrincipal } from "./auth";
import { callWithRetry, readMarks } from "./calls";
import type { Asker, HttpDeps } from "./deps";
import { readAct } from "./read-act";

export interface SessionCalls {
  readonly session: SessionId;
  /** `work` may run twice, so it must have one effect however often it is called. */
  repeatable<T>(work: (api: WholeSessionApi, caller: Caller) => Promise<T>): Promise<T>;
  readonly log: Log;
  /** Seals a text for the caller's tenant. The same text is sealed the same each time. */
  sealAlike(text: string): Promise<string>;
  once<T>(work: (api: WholeSessionApi, caller: Caller) => Promise<T>): Promise<T>;
}

export function sessionClient(deps: HttpDeps, c: Asker, session: SessionId): SessionCalls {
  const { tenant, key, access_token, restriction } = readPrincipal(c);
  const end_user = access_token?.reach.end_user;
  const caller = { tenant, session, key, ...(end_user !== undefined && { end_user }), ...(restriction && { restriction }) };
  const connect = () => deps.sessions(caller.tenant, caller.session);
  const isRead = c.req.method === "GET";
  /** On a full disk the first call has stored nothing: its object is reset, or could not begin. The second one writes nothing. */
  const unlessFull = async <T>(work: Work<T>, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      if (!isStorageFull(error) && (isExplained(error) || !(deps.config.isLocal && isReasonHidden(error)))) throw error;
      deps.log.error(isRead && !isStorageFull(error) ? "http.read_again" : "http.disk_full", { request_id: c.get("requestId"), session });
      return await work(connect(), { ...caller, isFull: true });
    }
  };
  return {
    session,
    log: deps.log,
    sealAlike: (text) => deps.compactionSealer.sealAlike(tenant, text),
    repeatable: (work) => unlessFull(work, () => callWithRetry(connect, (api) => work(api, caller))),
    once: (work) => unlessFull(work, () => work(connect(), caller)),
  };
}

/** True when the runtime says why the call failed: its object was out of reach, or has too much to do already. A further call answers nothing. */
function isExplained(error: unknown): boolean {
  const { retryable, overloaded } = readMarks(error);
  return retryable || overloaded;
}

type Work<T> = (api: WholeSessionApi, caller: Caller) => Promise<T>;

/** As `sessionClient`, for a change that the tenant's audit log has. */
export function actingClient(deps: HttpDeps, c: Asker, session: SessionId): SessionCalls {
  const calls = sessionClient(deps, c, session);
  const act = readAct(c);
  return {
    ...calls,
    repeatable: (work) => calls.repeatable((api, caller) => work(api, { ...caller, act })),
    once: (work) => calls.once((api, caller) => work(api, { ...caller, act })),
  };
}

/** An error unless the caller may reach the session. It reads one row of the session's log. */
export function findSession(deps: HttpDeps, c: Asker, session: SessionId): Promise<Outcome<unknown>> {
  return sessionClient(deps, c, session).repeatable((api, caller) => api.events(caller, { after: null, limit: 1, order: "desc" }));
}
