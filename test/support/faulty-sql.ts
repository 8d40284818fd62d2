/**
 * A database whose writes fail when a test says so, with the engine's own errors. Reads, deletions and clearing still
 * work, as on a full disk.
 */
import type { Sql } from "../../src/session/log/sql";

/** The error text of workerd. */
export class DiskFullError extends Error {
  override readonly name = "DiskFullError";
  constructor() {
    super("database or disk is full: SQLITE_FULL");
  }
}

/** A single write that failed, for any reason. */
export class WriteFailedError extends Error {
  override readonly name = "WriteFailedError";
  constructor() {
    super("disk I/O error: SQLITE_IOERR");
  }
}

const needsRoom = (query: string): boolean => !/^\s*(SELECT|DELETE)/.test(query);

/** `fault` is called before each write. Null: the write succeeds. */
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
