/**
 * Makes each call of a table a method of a class. The calls' first argument is `subjectOf` the instance. The methods are on the
 * prototype, which is all that RPC of Workers reaches.
 */
export function takeMethods<Instance extends object, Subject>(
  type: { readonly prototype: Instance },
  calls: Readonly<Record<string, (subject: Subject, ...args: never[]) => unknown>>,
  subjectOf: (instance: Instance) => Subject,
): void {
  for (const [name, call] of Object.entries(calls)) {
    const value = function (this: Instance, ...args: readonly unknown[]): unknown {
      return Reflect.apply(call, undefined, [subjectOf(this), ...args]);
    };
    Object.defineProperty(type.prototype, name, { value });
  }
}
