/** The first half of whatever makes a session: its place in the tenant's directory. */
import type { Context } from "hono";
import { principalOf } from "./auth";
import { callTwice } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";
import { readIdempotency } from "./idempotency";

/** A fresh id, or with a key that was seen the same one again. `isKeyed`: the same request may come back to it. */
export async function registerSession(deps: HttpDeps, c: Context<HttpEnv>, key: string | undefined) {
  const input = { session: deps.newId("ses"), idempotency: await readIdempotency(c, key) };
  const registered = await callTwice(
    () => deps.tenants(principalOf(c).tenant),
    (api) => api.registerSession(input),
  );
  return { registered, isKeyed: input.idempotency !== null };
}
