/** A tenant's database in memory, over Node's own SQLite. */
import { DatabaseSync } from "node:sqlite";
import { readUsedBytes } from "../../scripts/support/node-sql";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import type { SyncSql } from "../../src/lib/sync-sql";
import { migrateTenant } from "../../src/tenant/core/tenant-schema";

export function createEmptySql(database = new DatabaseSync(":memory:")): SyncSql {
  return {
    usedBytes: () => readUsedBytes(database),
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => database.prepare(statement).all(...params) as Row[],
    transaction: (body) => {
      database.exec("BEGIN");
      try {
        const value = body();
        database.exec("COMMIT");
        return value;
      } catch (cause) {
        database.exec("ROLLBACK");
        throw cause;
      }
    },
  };
}

export function createMigratedSql(): SyncSql {
  const sql = createEmptySql();
  sql.transaction(() => migrateTenant(sql));
  return sql;
}
