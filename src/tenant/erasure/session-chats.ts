/**
 * Which conversation of a channel a session is of: its chat's object holds texts that wait, and is emptied when the session is erased. Chats whose
 * channel was deleted are emptied as well, by the alarm where there are many.
 */
import type { ChatAddress, ChatApi } from "../../app/channels/chat-api";
import type { Clock, Log } from "../../app/ports";
import type { SessionId, TenantId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import { toFiller } from "../../lib/scrub/filler";
import type { SyncSql } from "../../lib/sync-sql";
import { armAlarm, type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";
import { forEachTogether } from "./gather-sessions";

/** conversation: its key within the channel, which may name a person. left_chats: those that are still to be emptied. at: when their channel was deleted. */
export const SESSION_CHAT_TABLES: readonly string[] = [
  "CREATE TABLE session_chats (session TEXT PRIMARY KEY, channel TEXT NOT NULL, conversation TEXT NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX session_chats_by_channel ON session_chats (channel)",
  `CREATE TABLE left_chats (seq INTEGER PRIMARY KEY, channel TEXT NOT NULL, conversation TEXT NOT NULL, at INTEGER NOT NULL,
    due_at INTEGER NOT NULL, attempts INTEGER NOT NULL) STRICT`,
  "CREATE INDEX left_chats_by_time ON left_chats (due_at)",
];

/** Chats that one alarm empties. */
const AT_ONCE = 200;
const FIRST_RETRY_MS = 15_000;

type SessionChat = Pick<ChatAddress, "channel" | "conversation">;
export type FindChat = (address: ChatAddress) => Pick<ChatApi, "forgetSession" | "empty">;

export interface SessionChats {
  /** Call it in the transaction that registers the session. */
  note(session: SessionId, chat: SessionChat): void;
  /** Empties the chat of what it holds of the session. False: it is out of reach, and the call is to be repeated. */
  forget(session: SessionId): Promise<boolean>;
  /** The channel's chats are to be emptied: it was deleted, or is of another platform. Call it in the transaction of the change. */
  leave(channel: string): void;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Empties chats that are due. Never rejects. */
  run(): Promise<void>;
}

interface SessionChatDeps {
  readonly sql: SyncSql;
  readonly tenant: () => TenantId;
  readonly isDeleted: () => boolean;
  readonly chats: FindChat;
  /** Called inside the transaction that deletes the name of a conversation. */
  readonly noteScrub: () => void;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

type LeftChat = SessionChat & { readonly seq: number; readonly at: number; readonly attempts: number };

export function createSessionChats({ sql, tenant, isDeleted, chats, noteScrub, alarm, now, log }: SessionChatDeps): SessionChats {
  const toAddress = ({ channel, conversation }: SessionChat): ChatAddress => ({ tenant: tenant(), channel, conversation });

  /** A deleted row leaves its text in the page, so that it is overwritten first. */
  const remove = (table: "session_chats" | "left_chats", where: string, value: string | number): void =>
    sql.transaction(() => {
      sql.rows(`UPDATE ${table} SET conversation = ${toFiller("conversation")} WHERE ${where}`, value);
      sql.rows(`DELETE FROM ${table} WHERE ${where}`, value);
      noteScrub();
    });

  /** What waits in the chat of a deleted tenant goes with its first session. */
  async function forgetIn(chat: SessionChat, session: SessionId): Promise<void> {
    const address = toAddress(chat);
    if (isDeleted()) await chats(address).empty(address, now());
    else await chats(address).forgetSession(address, session);
  }

  /** A chat that could not be emptied is tried again later, after ever longer waits. */
  async function emptyOne(left: LeftChat): Promise<void> {
    const { seq, at, attempts } = left;
    const address = toAddress(left);
    try {
      await chats(address).empty(address, at);
      remove("left_chats", "seq = ?", seq);
    } catch (error) {
      log.warn("tenant.chat_not_emptied", { error: toErrorName(error), attempts });
    }
  }
  const nextDue = (): number | null => sql.rows<{ due: number | null }>("SELECT min(due_at) AS due FROM left_chats")[0]?.due ?? null;
  const resume = (): Promise<void> => armAlarm(alarm, nextDue(), now);
  return {
    nextDue,
    resume,
    note: (session, { channel, conversation }) =>
      void sql.rows(
        "INSERT OR REPLACE INTO session_chats (session, channel, conversation) VALUES (?, ?, ?)",
        session,
        channel,
        conversation,
      ),
    forget: async (session) => {
      const [chat] = sql.rows<SessionChat & Record<string, string>>(
        "SELECT channel, conversation FROM session_chats WHERE session = ?",
        session,
      );
      if (!chat) return true;
      try {
        await forgetIn(chat, session);
      } catch (error) {
        log.warn("tenant.chat_not_forgotten", { session, error: toErrorName(error) });
        return false;
      }
      remove("session_chats", "session = ?", session);
      sql.rows("DELETE FROM channel_log WHERE session = ?", session);
      return true;
    },
    leave: (channel) => {
      const at = now();
      const added = sql.rows(
        `INSERT INTO left_chats (channel, conversation, at, due_at, attempts)
         SELECT DISTINCT channel, conversation, ?2, ?2, 0 FROM session_chats WHERE channel = ?1 RETURNING seq`,
        channel,
        at,
      );
      if (added.length > 0) alarm.set(at);
    },
    run: async () => {
      const due = sql.rows<LeftChat & Record<string, string | number>>(
        "SELECT seq, channel, conversation, at, attempts FROM left_chats WHERE due_at <= ? ORDER BY due_at LIMIT ?",
        now(),
        AT_ONCE,
      );
      for (const { seq, attempts } of due) {
        const again = now() + toRetryWait(FIRST_RETRY_MS, attempts);
        sql.rows("UPDATE left_chats SET attempts = attempts + 1, due_at = ? WHERE seq = ?", again, seq);
      }
      await forEachTogether(due, emptyOne);
      await resume();
    },
  };
}
