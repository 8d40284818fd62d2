/** A session's place in its tenant's directory: what makes one begins with it, and what erases one ends with it. */
import type { Context } from "hono";
import { eraseSession } from "../app/erase-session";
import type { SessionId } from "../domain/ids";
import { principalOf } from "./auth";
import { callTwice } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";
import { readIdempotency } from "./idempotency";
import { reachReadModel } from "./read-model";
import { sessionClient } from "./session-calls";

/** A fresh id, or with a key that was seen the same one again. `isKeyed`: the same request may come back to it. */
export async function registerSession(deps: HttpDeps, c: Context<HttpEnv>, key: string | undefined) {
  const input = { session: deps.newId("ses"), idempotency: await readIdempotency(c, key) };
  const registered = await callTwice(
    () => deps.tenants(principalOf(c).tenant),
    (api) => api.registerSession(input),
  );
  return { registered, isKeyed: input.idempotency !== null };
}

export function eraseFor(deps: HttpDeps, c: Context<HttpEnv>, session: SessionId) {
  const { tenant } = principalOf(c);
  const connect = () => deps.tenants(tenant);
  return eraseSession(session, {
    tenant: {
      beginErasure: (input) => callTwice(connect, (api) => api.beginErasure(input)),
      endErasure: (ended) => callTwice(connect, (api) => api.endErasure(ended)),
    },
    erase: (isNoted) => sessionClient(deps, c, session).repeatable((api, caller) => api.erase(caller, isNoted)),
    isListed: () => reachReadModel(c, deps, () => deps.sessionList.isListed({ tenant, session })),
  });
}
