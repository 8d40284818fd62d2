/** The database of a tenant's object. It is synchronous, so that no other code runs between a read and its write. */
import type { SqlRow, SqlValue } from "../lib/sql-row";

export interface TenantSql {
  /** Runs one statement with bound parameters. `Row` states the columns that the statement names. */
  rows<Row extends SqlRow>(statement: string, ...params: SqlValue[]): readonly Row[];
  /** Runs `body` completely or not at all: an exception rolls back and is passed on. It must not be nested. */
  transaction<T>(body: () => T): T;
}

export function createTenantSql(storage: DurableObjectStorage): TenantSql {
  return {
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => storage.sql.exec<Row>(statement, ...params).toArray(),
    transaction: (body) => storage.transactionSync(body),
  };
}
