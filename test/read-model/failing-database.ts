/** A database whose first batch fails: before its commit, or after it with a lost response. */
export function failingOnce(db: D1Database, failure: { readonly message: string; readonly committed: boolean }): D1Database {
  let failed = false;
  return new Proxy(db, {
    get(target, property) {
      if (property === "batch" && !failed) {
        return async (statements: D1PreparedStatement[]): Promise<never> => {
          failed = true;
          if (failure.committed) await target.batch(statements);
          throw new Error(failure.message);
        };
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
