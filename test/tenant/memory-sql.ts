/** A tenant's database in memory, over Node's own SQLite. */
import { DatabaseSync } from "node:sqlite";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import { migrateTenant } from "../../src/tenant/tenant-schema";
import type { TenantSql } from "../../src/tenant/tenant-sql";

export function createEmptySql(): TenantSql {
  const database = new DatabaseSync(":memory:");
  return {
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

export function createMigratedSql(): TenantSql {
  const sql = createEmptySql();
  sql.transaction(() => migrateTenant(sql));
  return sql;
}
