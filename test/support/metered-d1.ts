/** A database that notes how many rows each of its batches has written, indexes aside. `note`: called with each number. */
export function createMeteredD1(
  db: D1Database,
  note: (rows: number) => void = () => {},
): { readonly db: D1Database; readonly written: number[] } {
  const written: number[] = [];
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await db.batch(statements);
    const rows = results.reduce((sum, { meta }) => sum + meta.changes, 0);
    written.push(rows);
    note(rows);
    return results;
  };
  const metered = new Proxy(db, {
    get: (target, name) => (name === "batch" ? batch : Reflect.get(target, name).bind(target)),
  });
  return { db: metered, written };
}
