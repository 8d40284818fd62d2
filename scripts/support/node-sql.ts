/** The session's SQL over Node's own SQLite, in memory. Transactions nest as savepoints, as they do in the object's storage. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row.ts";
import type { Sql } from "../../src/session/log/sql.ts";

/** `maxPages`: what the database may hold at most, and of that a quarter is kept free. */
export function createNodeSql({ maxPages = null }: { readonly maxPages?: number | null } = {}): Sql {
  const database = new DatabaseSync(":memory:");
  if (maxPages !== null) database.exec(`PRAGMA max_page_count = ${maxPages}`);
  const prepared = new Map<string, StatementSync>();
  let depth = 0;

  const prepare = (query: string): StatementSync => {
    const known = prepared.get(query);
    if (known) return known;
    const statement = database.prepare(query);
    prepared.set(query, statement);
    return statement;
  };
  return {
    all: <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => prepare(query).all(...params) as Row[],
    script: (statements) => database.exec(statements),
    transaction: (work) => {
      const name = `nested_${depth}`;
      database.exec(`SAVEPOINT ${name}`);
      depth++;
      try {
        const value = work();
        database.exec(`RELEASE ${name}`);
        return value;
      } catch (cause) {
        // Over a full disk the engine may have rolled all of it back by itself.
        if (!database.isTransaction) throw cause;
        database.exec(`ROLLBACK TO ${name}`);
        database.exec(`RELEASE ${name}`);
        throw cause;
      } finally {
        depth--;
      }
    },
    isFull: () => maxPages !== null && countPages(database) > maxPages * 0.75,
    // In memory: there is no file.
    scrub: async () => {},
    wipe: async () => {
      prepared.clear();
      const tables = database.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY sql NOT LIKE ?",
      );
      // A virtual table takes those that it is made of with it.
      for (const { name } of tables.all("CREATE VIRTUAL%")) database.exec(`DROP TABLE IF EXISTS "${String(name)}"`);
    },
  };
}

/** Pages in use. */
const countPages = (database: DatabaseSync): number =>
  Number(
    database.prepare("SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count) AS n").get()
      ?.n,
  );
