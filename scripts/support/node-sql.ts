/** The session's SQL interface over Node's SQLite, in memory or in files. Transactions nest as savepoints, as in the object's storage. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { EMPTY_FILLER } from "../../src/lib/scrub/filler.ts";
import { type ScrubOptions, scrub } from "../../src/lib/scrub/scrub.ts";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row.ts";
import type { Sql } from "../../src/session/log/sql.ts";

interface NodeSqlOptions {
  /** The maximum size of the database, of which a quarter is kept free. */
  readonly maxPages?: number | null;
  /** Keeps the database in a file, as the platform does: with a write-ahead log that is copied after 1,000 pages. */
  readonly path?: string;
}

export interface NodeSql extends Sql {
  scrub(options?: ScrubOptions): Promise<unknown>;
  close(): void;
}

/** The statements of a database, each prepared once. */
export class PreparedStatements {
  readonly #known = new Map<string, StatementSync>();
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  prepare(query: string): StatementSync {
    const known = this.#known.get(query);
    if (known) return known;
    const statement = this.#database.prepare(query);
    this.#known.set(query, statement);
    return statement;
  }

  clear(): void {
    this.#known.clear();
  }
}

export function createNodeSql({ maxPages = null, path }: NodeSqlOptions = {}): NodeSql {
  const database = new DatabaseSync(path ?? ":memory:");
  if (path !== undefined) database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 1000");
  if (maxPages !== null) database.exec(`PRAGMA max_page_count = ${maxPages}`);
  const prepared = new PreparedStatements(database);
  let depth = 0;

  const all = <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => prepared.prepare(query).all(...params) as Row[];
  const transaction = <T>(work: () => T): T => {
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
  };
  const usedBytes = (): number => readUsedBytes(database);
  const storage = {
    sql: {
      exec: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => {
        const rows = all<Row>(statement, ...params);
        return { toArray: () => rows };
      },
      get databaseSize() {
        return usedBytes();
      },
    },
    transactionSync: transaction,
    sync: async () => {},
  };
  return {
    all,
    script: (statements) => database.exec(statements),
    transaction,
    sync: storage.sync,
    usedBytes,
    isFull: () => maxPages !== null && usedBytes() > maxPages * PAGE_BYTES * 0.75,
    // A database in memory has no file.
    scrub: async (options) => (path === undefined ? database.exec(EMPTY_FILLER.join(";")) : scrub(storage, options)),
    close: () => database.close(),
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

const PAGE_BYTES = 4_096;

/** Of the pages in use. */
export function readUsedBytes(database: DatabaseSync): number {
  const query = "SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count) AS pages";
  return Number(database.prepare(query).get()?.pages) * PAGE_BYTES;
}
