/** The session's SQL over the object's own storage. */
import type { Sql, SqlRow, SqlValue } from "./sql";

export function createObjectSql(storage: DurableObjectStorage): Sql {
  return {
    all: <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => storage.sql.exec<Row>(query, ...params).toArray(),
    script: (statements) => void storage.sql.exec(statements),
    transaction: (work) => storage.transactionSync(work),
    wipe: () => storage.deleteAll(),
  };
}
