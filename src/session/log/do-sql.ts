/** The session's SQL over the object's own storage. */
import type { Sql, SqlRow, SqlValue } from "./sql";

/** What an object's database may hold, in bytes: 10 GB (docs/platform-facts.md). */
const MAX_DATABASE_BYTES = 10_000_000_000;
/** Kept free of it for the end of what is under way: a reply, its calls and their results, frames, failures, tombstones. */
const RESERVED_BYTES = 64_000_000;

export function createObjectSql(storage: DurableObjectStorage): Sql {
  return {
    all: <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => storage.sql.exec<Row>(query, ...params).toArray(),
    script: (statements) => void storage.sql.exec(statements),
    transaction: (work) => storage.transactionSync(work),
    wipe: () => storage.deleteAll(),
    isFull: () => storage.sql.databaseSize > MAX_DATABASE_BYTES - RESERVED_BYTES,
  };
}
