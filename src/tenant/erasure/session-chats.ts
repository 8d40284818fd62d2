/** Which conversation of a channel a session is of: its chat's object holds texts that wait, and is emptied when the session is erased. */
import type { ChatAddress, ChatApi } from "../../app/channels/chat-api";
import type { Log } from "../../app/ports";
import type { SessionId, TenantId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import type { SyncSql } from "../../lib/sync-sql";

/** conversation: its key within the channel, which may name a person. */
export const SESSION_CHAT_TABLES: readonly string[] = [
  "CREATE TABLE session_chats (session TEXT PRIMARY KEY, channel TEXT NOT NULL, conversation TEXT NOT NULL) STRICT, WITHOUT ROWID",
];

type SessionChat = Pick<ChatAddress, "channel" | "conversation">;
export type FindChat = (address: ChatAddress) => Pick<ChatApi, "forgetSession">;

export interface SessionChats {
  /** Call it in the transaction that registers the session. */
  note(session: SessionId, chat: SessionChat): void;
  /** Empties the chat of what it holds of the session. False: it is out of reach, and the call is to be repeated. */
  forget(session: SessionId): Promise<boolean>;
}

interface SessionChatDeps {
  readonly sql: SyncSql;
  readonly tenant: () => TenantId;
  readonly chats: FindChat;
  /** Called inside the transaction that deletes the name of a conversation. */
  readonly noteScrub: () => void;
  readonly log: Log;
}

export function createSessionChats({ sql, tenant, chats, noteScrub, log }: SessionChatDeps): SessionChats {
  return {
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
      const { channel, conversation } = chat;
      const address = { tenant: tenant(), channel, conversation };
      try {
        await chats(address).forgetSession(address, session);
      } catch (error) {
        log.warn("tenant.chat_not_forgotten", { session, error: toErrorName(error) });
        return false;
      }
      sql.transaction(() => {
        sql.rows("DELETE FROM session_chats WHERE session = ?", session);
        noteScrub();
      });
      return true;
    },
  };
}
