/** Calls to the session that the path names, for the tenant of the key. */
import type { Context } from "hono";
import type { WholeSessionApi } from "../app/control-api";
import type { Log } from "../app/ports";
import type { Caller } from "../app/session-api";
import type { SessionId } from "../domain/ids";
import { readPrincipal } from "./auth";
import { callWithRetry } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";

export interface SessionCalls {
  /** `work` may run twice, so it must have one effect however often it is called. */
  repeatable<T>(work: (api: WholeSessionApi, caller: Caller) => Promise<T>): Promise<T>;
  readonly log: Log;
  once<T>(work: (api: WholeSessionApi, caller: Caller) => Promise<T>): Promise<T>;
}

export function sessionClient(deps: HttpDeps, c: Context<HttpEnv>, session: SessionId): SessionCalls {
  const caller = { tenant: readPrincipal(c).tenant, session };
  const connect = () => deps.sessions(caller.tenant, caller.session);
  return {
    log: deps.log,
    repeatable: (work) => callWithRetry(connect, (api) => work(api, caller)),
    once: (work) => work(connect(), caller),
  };
}
