/** The database of a chat's object: what waits, and what it knows of its conversation. */
import type { ChatPlace, ChatUser } from "../../app/channels/channel";
import type { ChatAddress } from "../../app/channels/chat-api";
import type { ChatStore } from "../../app/channels/chat-store";
import { parseId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";
import { migrateChat } from "./chat-schema";
import { createButtonRows, createMessageRows, createSessionRows, createTimeRows, createTurnRows } from "./known-rows";
import { createDeliveryRows, createEarlyChangeRows, createPartRows, removeTexts } from "./waiting-rows";

/** Only a verified webhook and the tenant's own side address such an object, so that it has its tables from the beginning. */
export function openChatStore(sql: SyncSql): ChatStore {
  sql.transaction(() => migrateChat(sql));
  return {
    transaction: (body) => sql.transaction(body),
    readAddress: () => {
      const [row] = sql.rows<{ tenant: string; channel: string; conversation: string }>(
        "SELECT tenant, channel, conversation FROM address",
      );
      const tenant = row && parseId("ten", row.tenant);
      return tenant ? { tenant, channel: row.channel, conversation: row.conversation } : null;
    },
    keepAddress: ({ tenant, channel, conversation }: ChatAddress) =>
      void sql.rows(
        "INSERT INTO address (one, tenant, channel, conversation) VALUES (1, ?, ?, ?) ON CONFLICT (one) DO NOTHING",
        tenant,
        channel,
        conversation,
      ),
    readAudience: () => {
      const [row] = sql.rows<{ place: string | null; person: string | null }>("SELECT place, person FROM address");
      if (!row?.place) return null;
      return { place: JSON.parse(row.place) as ChatPlace, user: row.person === null ? null : (JSON.parse(row.person) as ChatUser) };
    },
    keepAudience: ({ place, user }) =>
      void sql.rows("UPDATE address SET place = ?, person = ?", JSON.stringify(place), user && JSON.stringify({ ...user, name: null })),
    deliveries: createDeliveryRows(sql),
    turns: createTurnRows(sql),
    parts: createPartRows(sql),
    messages: createMessageRows(sql),
    buttons: createButtonRows(sql),
    early: createEarlyChangeRows(sql),
    sessions: createSessionRows(sql),
    times: createTimeRows(sql),
    forgetSession: (session) => forgetSession(sql, session),
  };
}

function forgetSession(sql: SyncSql, session: string): void {
  for (const table of ["deliveries", "parts", "turns", "early_changes"] as const) removeTexts(sql, table, "session = ?1", session);
  sql.rows("DELETE FROM messages WHERE session = ?", session);
  sql.rows("DELETE FROM buttons WHERE session = ?", session);
  // The generation stays, so that its external id is never given out twice.
  sql.rows("UPDATE sessions SET session = NULL WHERE session = ?", session);
  const isLeft = ["deliveries", "parts", "turns", "sessions"].some((table) => {
    const where = table === "sessions" ? "WHERE session IS NOT NULL" : "";
    return sql.rows(`SELECT 1 FROM ${table} ${where} LIMIT 1`).length > 0;
  });
  // Who talks here is not kept either. The next delivery brings it.
  if (!isLeft) for (const table of ["address", "times", "sent"]) sql.rows(`DELETE FROM ${table}`);
}
