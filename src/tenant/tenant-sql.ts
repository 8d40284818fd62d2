/** The database of a tenant's object as its modules see it: synchronous, so that nothing comes between a read and its write. */
import type { SqlRow, SqlValue } from "../lib/sql-row";

export interface TenantSql {
  /** Runs one statement with bound parameters. `Row` states the columns that the statement names. */
  rows<Row extends SqlRow>(statement: string, ...params: SqlValue[]): readonly Row[];
  /** All or nothing; a throw rolls back and goes on. Not to be nested. */
  transaction<T>(body: () => T): T;
}

export function createTenantSql(storage: DurableObjectStorage): TenantSql {
  return {
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => storage.sql.exec<Row>(statement, ...params).toArray(),
    transaction: (body) => storage.transactionSync(body),
  };
}
