/** A database whose writes fail when a test says so, in the engine's own words. Reads, deletions and emptying go on, as on a full disk. */
import type { Sql } from "../../src/session/log/sql";

/** How workerd words it. */
export class DiskFullError extends Error {
  override readonly name = "DiskFullError";
  constructor() {
    super("database or disk is full: SQLITE_FULL");
  }
}

/** One write that failed, for whatever reason. */
export class WriteFailedError extends Error {
  override readonly name = "WriteFailedError";
  constructor() {
    super("disk I/O error: SQLITE_IOERR");
  }
}

const needsRoom = (query: string): boolean => !/^\s*(SELECT|DELETE)/.test(query);

/** `fault` is asked before each write; null: it works. */
export function createFaultySql(base: Sql, fault: (query: string) => Error | null): Sql {
  const check = (query: string): void => {
    const error = needsRoom(query) ? fault(query) : null;
    if (error) throw error;
  };
  return {
    ...base,
    all: (query, ...params) => {
      check(query);
      return base.all(query, ...params);
    },
    script: (statements) => {
      check(statements);
      base.script(statements);
    },
  };
}
