/** Stores the usage of the tenant's erased sessions. Their logs are gone, so the tenant's object owns what is left of their ledgers. */
import type { ErasedSessionUsage } from "../app/tenant-api";
import type { ErasedUsage } from "../domain/erased-usage";
import type { SessionId } from "../domain/ids";
import { CALL_PURPOSES } from "../domain/model-call";
import type { SyncSql } from "../lib/sync-sql";
import { toSessionId } from "./directory";

/** A string that sorts before every session id. */
const BEFORE_EVERY_ID = "";

export interface ErasedUsageStore {
  /**
   * Stores a session's sums and returns all sums that are stored for it. Call it inside a transaction. Repeated sums
   * replace themselves. An empty list changes nothing: the session's log is already wiped then.
   */
  keep(session: SessionId, usage: readonly ErasedUsage[]): readonly ErasedUsage[];
  /** Adds to the sums that are stored for the id. Call it inside a transaction. */
  add(session: SessionId, usage: readonly ErasedUsage[]): void;
  /** The sums of at most `sessions` sessions, ordered by their ids. */
  list(page: { readonly after: SessionId | null; readonly sessions: number }): readonly ErasedSessionUsage[];
}

type Row = Readonly<Record<(typeof SUMS)[number] | "at", number>> & {
  readonly session: string;
  readonly model: string;
  readonly purpose: string;
};

const SUMS = ["calls", "failed", "input", "uncached", "cached", "cache_write", "output", "reasoning", "cost", "unpriced"] as const;
const COLUMNS = ["at", "model", "purpose", ...SUMS] as const;

function toUsage({ session: _session, ...row }: Row): ErasedUsage {
  const purpose = CALL_PURPOSES.find((known) => known === row.purpose);
  if (!purpose) throw new Error("A stored purpose is unknown");
  return { ...row, purpose };
}

export function createErasedUsage(sql: SyncSql): ErasedUsageStore {
  const select = `SELECT session, ${COLUMNS.join(", ")} FROM erased_usage`;
  const insert = `INSERT OR REPLACE INTO erased_usage (session, ${COLUMNS.join(", ")}) VALUES (?${", ?".repeat(COLUMNS.length)})`;
  const added = SUMS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");
  const add = `${insert.replace("INSERT OR REPLACE", "INSERT")} ON CONFLICT (session, at, model, purpose) DO UPDATE SET ${added}`;
  return {
    add: (session, usage) => {
      for (const row of usage) sql.rows(add, session, ...COLUMNS.map((column) => row[column]));
    },
    keep: (session, usage) => {
      for (const row of usage) sql.rows(insert, session, ...COLUMNS.map((column) => row[column]));
      return sql.rows<Row>(`${select} WHERE session = ? ORDER BY at, model, purpose`, session).map(toUsage);
    },
    list: ({ after, sessions }) => {
      const ids = sql.rows<{ session: string }>(
        "SELECT DISTINCT session FROM erased_usage WHERE session > ? ORDER BY session LIMIT ?",
        after ?? BEFORE_EVERY_ID,
        sessions,
      );
      const last = ids.at(-1);
      if (!last) return [];
      const rows = sql.rows<Row>(
        `${select} WHERE session > ? AND session <= ? ORDER BY session, at, model, purpose`,
        after ?? BEFORE_EVERY_ID,
        last.session,
      );
      const bySession = Map.groupBy(rows, (row) => row.session);
      return [...bySession].map(([session, own]) => ({ session: toSessionId(session), usage: own.map(toUsage) }));
    },
  };
}
