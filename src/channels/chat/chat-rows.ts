/** The database of a chat's object: what waits, and what it knows of its conversation. */
import type { ChatPlace, ChatUser } from "../../app/channels/channel";
import type { ChatAddress } from "../../app/channels/chat-api";
import type { ChatStore } from "../../app/channels/chat-store";
import { parseId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";
import { migrateChat } from "./chat-schema";
import { createButtonRows, createMessageRows, createSessionRows, createTimeRows, createTurnRows } from "./known-rows";
import { createDeliveryRows, createEarlyChangeRows, createPartRows, forgetEdits, removeTexts } from "./waiting-rows";

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
    empty: (until) => empty(sql, until),
    isBare: () => isBare(sql),
    forgetPeople: () => forgetPeople(sql),
  };
}

const TEXTS = ["deliveries", "parts", "turns"] as const;

const isHeld = (sql: SyncSql, tables: readonly string[]): boolean =>
  tables.some((table) => sql.rows(`SELECT 1 FROM ${table} LIMIT 1`).length > 0);

const isBare = (sql: SyncSql): boolean =>
  !isHeld(sql, ["deliveries", "parts", "turns"]) && sql.rows("SELECT 1 FROM sessions WHERE session IS NOT NULL LIMIT 1").length === 0;

const OF_PEOPLE = ["address", "times", "sent", "buttons", "messages"];

/** Erases who talks here; the next delivery brings them again. Deletions that came early stay, as digests. */
function forgetPeople(sql: SyncSql): void {
  forgetEdits(sql);
  for (const table of OF_PEOPLE) sql.rows(`DELETE FROM ${table}`);
}

function forgetSession(sql: SyncSql, session: string): void {
  for (const table of TEXTS) removeTexts(sql, table, "session = ?1", session);
  removeTexts(sql, "early_changes", "session = ?1 AND body <> 'null'", session);
  // A platform may still bring what was deleted.
  sql.rows("UPDATE early_changes SET session = NULL WHERE session = ?", session);
  sql.rows("DELETE FROM messages WHERE session = ?", session);
  sql.rows("DELETE FROM buttons WHERE session = ?", session);
  // The generation stays, so that its external id is never given out twice.
  sql.rows("UPDATE sessions SET session = NULL WHERE session = ?", session);
  if (isBare(sql)) forgetPeople(sql);
}

function empty(sql: SyncSql, until: number): void {
  removeTexts(sql, "deliveries", "stored_at <= ?1", until);
  removeTexts(sql, "parts", "created_at <= ?1", until);
  for (const table of ["turns", "early_changes"] as const) removeTexts(sql, table, "seq > 0");
  for (const table of ["messages", "buttons", "times", "sent"]) sql.rows(`DELETE FROM ${table}`);
  // The address is of the new channel as well. Where replies of schedules went is of the old one.
  sql.rows("UPDATE address SET place = NULL, person = NULL");
  sql.rows("UPDATE sessions SET session = NULL");
  if (isBare(sql)) forgetPeople(sql);
}
