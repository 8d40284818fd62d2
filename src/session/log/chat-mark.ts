/**
 * The chat that the session belongs to, and how far in the log it knows of the turns that schedules started. The log itself has what waits, so
 * that a run and its job are one transaction. A session without a chat has no such rows.
 */
import type { ChatAddress } from "../../app/channels/chat-api";
import { readMeta, writeMeta } from "./log-schema";
import type { Sql } from "./sql";

/** The conversation within the tenant. It may name a person, and goes with the database when the session is erased. */
export type OwnChat = Pick<ChatAddress, "channel" | "conversation">;

const CHAT_KEY = "chat";
const FOLLOWED_KEY = "chat_followed";

export const keepOwnChat = (sql: Sql, { channel, conversation }: OwnChat): void =>
  writeMeta(sql, CHAT_KEY, JSON.stringify({ channel, conversation }));

/** Null: the session belongs to no chat. */
export function readOwnChat(sql: Sql): OwnChat | null {
  const text = readMeta(sql, CHAT_KEY);
  return text === null ? null : (JSON.parse(text) as OwnChat);
}

/** Up to this seq the chat follows the turns of all runs. */
export const writeFollowed = (sql: Sql, seq: number): void => writeMeta(sql, FOLLOWED_KEY, String(seq));

export const readFollowed = (sql: Sql): number => Number(readMeta(sql, FOLLOWED_KEY) ?? 0);
