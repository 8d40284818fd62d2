/**
 * The log of each channel: what a tenant would look for when its bot does not answer. It holds ids and fixed words, at most 1,000 rows and 30
 * days of a channel. What a sender can cause at will is counted by the hour.
 */
import type { ChannelCount, ChannelLogEntry, ChannelLogQuery, StoredChannelLog } from "../../app/channels-api";
import type { ChannelLogView } from "../../contract/channel";
import type { Page } from "../../contract/page";
import type { SessionId, TurnId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";

export const MAX_LOG_ROWS = 1_000;
export const LOG_MS = 30 * 86_400_000;
const HOUR_MS = 3_600_000;
/** In characters. A longer text is cut. */
const MAX_REASON = 200;
const MAX_ID = 256;

export interface ChannelLog {
  /** `digest`: of a person of the channel. Call it inside a transaction. */
  note(
    channel: string,
    entries: readonly ChannelLogEntry[],
    input: { readonly now: number; readonly digest: (user: string) => string },
  ): void;
  /** Call it inside a transaction. */
  count(channel: string, counts: readonly ChannelCount[], now: number): void;
  read(channel: string, query: ChannelLogQuery, now: number): Page<StoredChannelLog>;
}

type LogRow = {
  readonly seq: number;
  readonly id: string;
  readonly at: number;
  readonly kind: ChannelLogView["kind"];
  readonly reason: string;
  readonly number: number;
  readonly delivery: string | null;
  readonly session: SessionId | null;
  readonly turn: TurnId | null;
};

const toView = ({ number, session, turn, ...row }: LogRow): StoredChannelLog => ({
  ...row,
  count: number,
  session_id: session,
  turn_id: turn,
});

const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed();

export function createChannelLog(sql: SyncSql): ChannelLog {
  function prune(channel: string, now: number): void {
    sql.rows("DELETE FROM channel_log WHERE channel = ? AND at <= ?", channel, now - LOG_MS);
    sql.rows(
      `DELETE FROM channel_log WHERE channel = ?1 AND seq <= (
         SELECT seq FROM channel_log WHERE channel = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
      channel,
      MAX_LOG_ROWS,
    );
  }

  /** One row for each hour, kind and reason. */
  function countOne(channel: string, { kind, reason, at, number }: ChannelCount): void {
    const words = cut(reason, MAX_REASON);
    sql.rows(
      `INSERT INTO channel_log (channel, id, at, kind, reason, number) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (channel, id) DO UPDATE SET number = number + excluded.number, at = max(at, excluded.at)`,
      channel,
      `${kind}:${Math.floor(at / HOUR_MS)}:${words}`,
      at,
      kind,
      words,
      number,
    );
  }
  return {
    note: (channel, entries, { now, digest }) => {
      for (const { id, at, kind, reason, delivery = null, session = null, turn = null, user } of entries)
        sql.rows(
          `INSERT INTO channel_log (channel, id, at, kind, reason, number, delivery, session, turn, end_user) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
           ON CONFLICT (channel, id) DO NOTHING`,
          channel,
          cut(id, MAX_ID),
          at,
          kind,
          cut(reason, MAX_REASON),
          delivery === null ? null : cut(delivery, MAX_ID),
          session,
          turn,
          user === undefined ? null : digest(user),
        );
      prune(channel, now);
    },
    count: (channel, counts, now) => {
      for (const each of counts) countOne(channel, each);
      prune(channel, now);
    },
    read: (channel, { after, limit, order }, now) => {
      const [beyond, by] = order === "asc" ? [">", "seq"] : ["<", "seq DESC"];
      const rows = sql.rows<LogRow>(
        `SELECT seq, id, at, kind, reason, number, delivery, session, turn FROM channel_log
         WHERE channel = ?1 AND at > ?2 AND (?3 IS NULL OR seq ${beyond} ?3) ORDER BY ${by} LIMIT ?4`,
        channel,
        now - LOG_MS,
        after,
        limit + 1,
      );
      return { data: rows.slice(0, limit).map(toView), has_more: rows.length > limit };
    },
  };
}
