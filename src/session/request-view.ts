/** Binds a session to the request that a call serves. */
import type { Caller } from "../app/session-api";
import type { SessionRuntime } from "./runtime";

/** The session as a call of this request sees it. Without a request: as it is. */
export function seeAs(runtime: SessionRuntime, { request_id: request }: Pick<Caller, "request_id">): SessionRuntime {
  if (request === undefined) return runtime;
  const { requests } = runtime;
  const log = requests.nameRequest(runtime.deps.log, request);
  const own = {
    get deps() {
      return { ...runtime.deps, log };
    },
    ports: () => ({ ...runtime.ports(), log }),
  };
  return new Proxy(runtime, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function"
        ? (...args: readonly unknown[]) => requests.during(request, () => Reflect.apply(value, target, args))
        : value;
    },
  });
}
