/** Serves a session outside of the platform, as its object does: the same table of calls over a runtime that the caller created. */
import type { WholeSessionApi } from "../../src/app/control-api.ts";
import type { SessionRuntime } from "../../src/session/runtime.ts";
import { sessionCalls } from "../../src/session/service.ts";

export function serveSession(runtime: SessionRuntime): WholeSessionApi {
  const calls = Object.entries(sessionCalls).map(([name, call]) => [
    name,
    (...args: readonly unknown[]): unknown => Reflect.apply(call, undefined, [runtime, ...args]),
  ]);
  // `Object.entries` loses the association of names and signatures. `satisfies` checks them where the table is
  // defined.
  return Object.fromEntries(calls) as WholeSessionApi;
}
