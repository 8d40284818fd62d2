import { SERVE_FOR, serveRequest } from "./request-scope";

/**
 * Makes each function of a table a method of a class. The function's first argument is `toSubject` the instance. The methods are defined on
 * the prototype, because Workers RPC reaches nothing else. `serveFor` is one more: it calls a method on behalf of a request (`tellRequest`).
 */
export function takeMethods<Instance extends object, Subject>(
  type: { readonly prototype: Instance },
  calls: Readonly<Record<string, (subject: Subject, ...args: never[]) => unknown>>,
  toSubject: (instance: Instance) => Subject,
): void {
  const define = (name: string, value: unknown) => Object.defineProperty(type.prototype, name, { value, configurable: true });
  for (const [name, call] of Object.entries(calls)) {
    define(name, function (this: Instance, ...args: readonly unknown[]): unknown {
      return Reflect.apply(call, undefined, [toSubject(this), ...args]);
    });
  }
  define(SERVE_FOR, function (this: Instance, request: string, name: string, args: readonly unknown[]): unknown {
    const method: unknown = Object.hasOwn(calls, name) ? Reflect.get(this, name) : null;
    if (typeof method !== "function") throw new TypeError(`There is no call ${name}`);
    return serveRequest(request, () => Reflect.apply(method, this, args));
  });
}
