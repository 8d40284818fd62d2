/** A tenant's database in memory, over Node's own SQLite. */
import { DatabaseSync } from "node:sqlite";
import { PreparedStatements, readUsedBytes } from "../../scripts/support/node-sql";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import type { SyncSql } from "../../src/lib/sync-sql";
import { migrateTenant } from "../../src/tenant/core/tenant-schema";
import { checkPlan } from "../support/tenant-plans";

export function createEmptySql(database = new DatabaseSync(":memory:")): SyncSql {
  const prepared = new PreparedStatements(database);
  return {
    usedBytes: () => readUsedBytes(database),
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => {
      checkPlan(database, statement);
      return prepared.prepare(statement).all(...params) as Row[];
    },
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

export function createMigratedSql(database?: DatabaseSync): SyncSql {
  const sql = createEmptySql(database);
  sql.transaction(() => migrateTenant(sql));
  return sql;
}

/** For many runs one after another: to migrate a database takes forty times as long as to empty it. */
export class ReusedTenantSql {
  readonly #database = new DatabaseSync(":memory:");
  readonly #sql = createMigratedSql(this.#database);
  readonly #restore: string;

  constructor() {
    const tables = this.#sql.rows<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name);
    const filled = tables.filter((name) => this.#sql.rows(`SELECT 1 FROM ${name} LIMIT 1`).length > 0);
    for (const name of filled) this.#database.exec(`CREATE TEMP TABLE first_${name} AS SELECT * FROM ${name}`);
    const deleted = tables.map((name) => `DELETE FROM ${name}`);
    this.#restore = [...deleted, ...filled.map((name) => `INSERT INTO ${name} SELECT * FROM first_${name}`)].join(";");
  }

  /** The database as its migration left it. */
  empty(): SyncSql {
    this.#database.exec(`BEGIN;${this.#restore};COMMIT`);
    return this.#sql;
  }
}
