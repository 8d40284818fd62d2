/** The session's SQL interface over Node's SQLite, in memory. Transactions nest as savepoints, as in the object's storage. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { EMPTY_FILLER } from "../../src/lib/overwrite-freed.ts";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row.ts";
import type { Sql } from "../../src/session/log/sql.ts";

/** `maxPages`: the maximum size of the database, of which a quarter is kept free. */
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
        // When the disk is full, the engine may already have rolled back the whole transaction.
        if (!database.isTransaction) throw cause;
        database.exec(`ROLLBACK TO ${name}`);
        database.exec(`RELEASE ${name}`);
        throw cause;
      } finally {
        depth--;
      }
    },
    isFull: () => maxPages !== null && countPages(database) > maxPages * 0.75,
    // The database is in memory, so there is no file.
    scrub: async () => database.exec(EMPTY_FILLER.join(";")),
    wipe: async () => {
      prepared.clear();
      const tables = database.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY sql NOT LIKE ?",
      );
      // Dropping a virtual table also drops the tables that store its content.
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
