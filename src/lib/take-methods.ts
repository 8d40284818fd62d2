/**
 * Makes each function of a table a method of a class. The function's first argument is `toSubject` the instance. The methods are defined on
 * the prototype, because Workers RPC reaches nothing else.
 */
export function takeMethods<Instance extends object, Subject>(
  type: { readonly prototype: Instance },
  calls: Readonly<Record<string, (subject: Subject, ...args: never[]) => unknown>>,
  toSubject: (instance: Instance) => Subject,
): void {
  for (const [name, call] of Object.entries(calls)) {
    const value = function (this: Instance, ...args: readonly unknown[]): unknown {
      return Reflect.apply(call, undefined, [toSubject(this), ...args]);
    };
    Object.defineProperty(type.prototype, name, { value });
  }
}
