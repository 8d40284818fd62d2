/** Implements `Sql` over the Durable Object's storage. */
import { scrub } from "../../lib/scrub/scrub";
import type { SqlRow, SqlValue } from "../../lib/sql-row";
import type { Sql } from "./sql";

/** The largest size of an object's database, in bytes: 10 GB (docs/platform-facts.md). */
const MAX_DATABASE_BYTES = 10_000_000_000;
/** Reserved for the end of what is under way: a reply, its calls and their results, frames, failures, tombstones. */
const RESERVED_BYTES = 64_000_000;

export function createObjectSql(storage: DurableObjectStorage): Sql {
  return {
    all: <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => storage.sql.exec<Row>(query, ...params).toArray(),
    script: (statements) => void storage.sql.exec(statements),
    transaction: (work) => storage.transactionSync(work),
    sync: () => storage.sync(),
    wipe: () => storage.deleteAll(),
    scrub: () => scrub(storage),
    usedBytes: () => storage.sql.databaseSize,
    isFull: () => storage.sql.databaseSize > MAX_DATABASE_BYTES - RESERVED_BYTES,
  };
}
