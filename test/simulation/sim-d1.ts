/**
 * D1 over Node's SQLite, with the real migrations and statements. A batch is a transaction. It may fail before its
 * commit, or after it with a lost response. A batch that was sent before its object died may still arrive.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PreparedStatements } from "../../scripts/support/node-sql";
import { TABLES } from "../../src/read-model/store";
import { LEFT_OF_ERASED } from "../read-model/rows";
import type { Scheduler, Scope } from "./scheduler";

type Param = string | number | null;

/** The part of D1's interface that the read model uses. */
interface Prepared {
  readonly sql: string;
  readonly params: readonly Param[];
  bind(...params: Param[]): Prepared;
  all(): Promise<{ readonly results: readonly Record<string, unknown>[] }>;
  run(): Promise<unknown>;
  raw(): Promise<readonly (readonly unknown[])[]>;
  first(column?: string): Promise<unknown>;
}

interface BatchResult {
  readonly results: readonly Record<string, unknown>[];
  readonly meta: { readonly changes: number };
}

interface Reach {
  readonly scheduler: Scheduler;
  readonly fails: () => number;
  /** A query that is not done by then has no effect. Absent: it may take for ever. */
  readonly deadlineMs?: number;
  /** A query that fails is as often never answered. Absent: it is always answered. */
  readonly hangs?: boolean;
}

/** Runs `work` at some later time, and returns its result. */
type Send = <T>(label: string, work: () => T) => Promise<T>;

const MIGRATIONS = join(import.meta.dirname, "../../migrations");

export class SimD1 {
  readonly #database = new DatabaseSync(":memory:");
  readonly #statements = new PreparedStatements(this.#database);

  constructor() {
    const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
    for (const file of files.sort()) this.#database.exec(readFileSync(join(MIGRATIONS, file), "utf8"));
  }

  /** Empties the tables of sessions, because opening a database for each run would take longer than the run. */
  clear(): void {
    for (const table of [...TABLES.map(({ name }) => name), ...LEFT_OF_ERASED]) this.#database.exec(`DELETE FROM ${table}`);
    this.#database.exec("DELETE FROM usage_days");
    this.#database.exec("INSERT INTO search_index (search_index) VALUES ('delete-all')");
  }

  /** Reads at once and without faults, for checks. */
  get direct(): D1Database {
    return this.#connect(async (_, work) => work());
  }

  /** The database as one scope reaches it. */
  reachedBy(scope: Scope, world: Reach): D1Database {
    const { scheduler, fails, hangs = false, deadlineMs = Number.POSITIVE_INFINITY } = world;
    const { random } = scheduler;
    return this.#connect((label, work) => {
      let done: { readonly value: ReturnType<typeof work> } | null = null;
      const sentAt = scheduler.now;
      const effect = (): void => {
        const failing = random.chance(fails());
        if (scheduler.now - sentAt > deadlineMs) return;
        if (failing && random.chance(0.5)) return;
        const value = work();
        if (!failing) done = { value };
      };
      return scheduler.gate(scope, `D1 ${label}`, { effect, weight: 2 }).then(() => {
        if (done) return done.value;
        const error = random.chance(0.5) ? "D1_ERROR: Network connection lost" : "D1_ERROR: out of reach";
        if (hangs) return scheduler.goWrong(error);
        throw new Error(error);
      });
    });
  }

  #connect(send: Send): D1Database {
    const prepare = (sql: string, params: readonly Param[] = []): Prepared => ({
      sql,
      params,
      bind: (...bound) => prepare(sql, bound),
      all: () => send("query", () => this.#run(sql, params)),
      run: () => send("query", () => this.#run(sql, params)),
      raw: () => send("query", () => this.#run(sql, params).results.map((row) => Object.values(row))),
      first: (column) =>
        send("query", () => {
          const [row] = this.#run(sql, params).results;
          return row === undefined ? null : column === undefined ? row : row[column];
        }),
    });
    const batch = (statements: readonly Prepared[]): Promise<BatchResult[]> => send("batch", () => this.#commit(statements));
    // Only methods that the read model calls exist. A call of another one fails the test at run time.
    return { prepare, batch } as unknown as D1Database;
  }

  #commit(statements: readonly Prepared[]): BatchResult[] {
    this.#database.exec("BEGIN");
    try {
      const results = statements.map(({ sql, params }) => this.#run(sql, params));
      this.#database.exec("COMMIT");
      return results;
    } catch (cause) {
      this.#database.exec("ROLLBACK");
      throw cause;
    }
  }

  #run(sql: string, params: readonly Param[]): BatchResult {
    const statement = this.#statements.prepare(sql);
    if (!/^\s*(SELECT|WITH|EXPLAIN)\b/i.test(sql)) return { results: [], meta: { changes: Number(statement.run(...params).changes) } };
    return { results: statement.all(...params), meta: { changes: 0 } };
  }
}
