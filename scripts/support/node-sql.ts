/** The session's SQL over Node's own SQLite, in memory. Transactions nest as savepoints, as they do in the object's storage. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Sql, SqlRow, SqlValue } from "../../src/session/log/sql.ts";

export function createNodeSql(): Sql {
  const database = new DatabaseSync(":memory:");
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
        database.exec(`ROLLBACK TO ${name}`);
        database.exec(`RELEASE ${name}`);
        throw cause;
      } finally {
        depth--;
      }
    },
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
