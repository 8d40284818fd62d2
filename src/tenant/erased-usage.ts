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
   * Stores a session's sums and returns all sums that are stored for it. Call it inside a transaction. They take the
   * place of all that the session has handed over before. An empty list changes nothing: the session's log is already wiped then.
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
  readonly key_id: string;
  readonly end_user: string;
};

const SUMS = ["calls", "failed", "input", "uncached", "cached", "cache_write", "output", "reasoning", "cost", "unpriced"] as const;
const GROUP = ["at", "model", "purpose", "key_id", "end_user"] as const;
const COLUMNS = [...GROUP, ...SUMS] as const;

function toUsage({ session: _session, ...row }: Row): ErasedUsage {
  const purpose = CALL_PURPOSES.find((known) => known === row.purpose);
  if (!purpose) throw new Error("A stored purpose is unknown");
  return { ...row, purpose };
}

export function createErasedUsage(sql: SyncSql): ErasedUsageStore {
  const select = `SELECT session, ${COLUMNS.join(", ")} FROM erased_usage`;
  const insert = `INSERT INTO erased_usage (session, ${COLUMNS.join(", ")}) VALUES (?${", ?".repeat(COLUMNS.length)})`;
  const added = SUMS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");
  const add = `${insert} ON CONFLICT (session, ${GROUP.join(", ")}) DO UPDATE SET ${added}`;
  return {
    add: (session, usage) => {
      for (const row of usage) sql.rows(add, session, ...COLUMNS.map((column) => row[column]));
    },
    keep: (session, usage) => {
      if (usage.length > 0) sql.rows("DELETE FROM erased_usage WHERE session = ?", session);
      for (const row of usage) sql.rows(insert, session, ...COLUMNS.map((column) => row[column]));
      return sql.rows<Row>(`${select} WHERE session = ? ORDER BY ${GROUP.join(", ")}`, session).map(toUsage);
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
        `${select} WHERE session > ? AND session <= ? ORDER BY session, ${GROUP.join(", ")}`,
        after ?? BEFORE_EVERY_ID,
        last.session,
      );
      const bySession = Map.groupBy(rows, (row) => row.session);
      return [...bySession].map(([session, own]) => ({ session: toSessionId(session), usage: own.map(toUsage) }));
    },
  };
}
