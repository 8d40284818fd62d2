/**
 * The request that the running work serves. It follows work through each `await` and into what the work starts beside itself. An object
 * serves many calls at once, so that a field could not say it (docs/decisions/0026).
 */
import { AsyncLocalStorage } from "node:async_hooks";

const scope = new AsyncLocalStorage<string | null>();

/** Runs work on behalf of the request. Null: on behalf of none, whatever started the work. */
export const serveRequest = <T>(request: string | null, work: () => T): T => scope.run(request, work);

/** Null: the work serves no request, as that of an alarm. */
export const readRequest = (): string | null => scope.getStore() ?? null;

/** What a log line that is written now says of its request. */
export function nameRequestNow(): Readonly<Record<string, string>> {
  const request = readRequest();
  return request === null ? { work: "background" } : { request_id: request };
}

/** The method that makes a call on behalf of a request. Every object that takes its methods from a table has it. */
export const SERVE_FOR = "serveFor";

interface Serving {
  [SERVE_FOR](request: string, name: string, args: readonly unknown[]): unknown;
}

/** What the platform's own stubs have. */
const NOT_TOLD: ReadonlySet<string> = new Set(["then", "fetch", "connect", "id", "name", "dup", SERVE_FOR]);

/** The stub of an object, by which each call tells the request that it serves. A call that serves none is made as it is. */
export function tellRequest<Stub extends object>(stub: Stub & Partial<Serving>): Stub {
  return new Proxy(stub, {
    get: (target, name) => {
      const request = readRequest();
      if (request !== null && typeof name === "string" && !NOT_TOLD.has(name))
        return (...args: readonly unknown[]) => target[SERVE_FOR]?.(request, name, args);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (...args: readonly unknown[]) => Reflect.apply(value, target, args) : value;
    },
  });
}
