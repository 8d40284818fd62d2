/** Reads what is left at the end: the sessions and the channels' logs through the API, what people see, and what still waits. `judge` judges it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { readMessages, readText } from "../../replay/read-back.ts";
import { type Connection, callApi } from "../../support/api-client.ts";
import { type Piece, PLATFORMS, type PlatformName, readPieces, readQuestion } from "./plan.ts";
import type { Platform } from "./platforms.ts";

export interface TurnEvidence {
  readonly id: string;
  readonly status: string;
  /** The user's message that asked for it. */
  readonly message_id: string | null;
  /** The pieces of a reply that it said, also where it was cut off. */
  readonly said: readonly Piece[];
}

export interface SessionEvidence {
  readonly id: string;
  /** The user's messages, oldest first. Null: the mark of none that was sent. */
  readonly asked: readonly { readonly id: string; readonly mark: number | null }[];
  readonly turns: readonly TurnEvidence[];
}

export interface LogLine {
  readonly kind: string;
  readonly reason: string;
  readonly turn_id: string | null;
}

export interface ChatEvidence {
  readonly platform: PlatformName;
  readonly chat: number;
  /** Oldest first. */
  readonly texts: readonly string[];
}

export interface BotEvidence {
  readonly sessions: readonly SessionEvidence[];
  readonly log: readonly LogLine[];
  readonly chats: readonly ChatEvidence[];
}

const paged = <T extends z.ZodType>(entry: T) =>
  z.object({ data: z.array(entry), has_more: z.boolean(), next_cursor: z.union([z.string(), z.number()]).nullable() });
const sessionPage = paged(z.object({ id: z.string() }));
const turnPage = paged(
  z
    .object({ id: z.string(), status: z.string(), message_id: z.string().nullable(), output_text: z.string(), items: z.array(z.unknown()) })
    .transform(({ output_text, items, ...turn }): TurnEvidence => ({ ...turn, said: readPieces(output_text || JSON.stringify(items)) })),
);
const logPage = paged(z.object({ kind: z.string(), reason: z.string(), turn_id: z.string().nullable() }));

async function readAll<T>(
  connection: Connection,
  path: string,
  page: z.ZodType<{ readonly data: T[]; readonly has_more: boolean; readonly next_cursor: string | number | null }>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let after = ""; ; ) {
    const { data, has_more, next_cursor } = page.parse(await callApi(connection, { method: "GET", path: `${path}?limit=100${after}` }));
    all.push(...data);
    if (!has_more || next_cursor === null) return all;
    after = `&after=${encodeURIComponent(next_cursor)}`;
  }
}

async function readSession(connection: Connection, id: string): Promise<SessionEvidence> {
  const messages = await readMessages(connection, id);
  const asked = messages
    .filter(({ role }) => role === "user")
    .map((message) => ({ id: message.id, mark: readQuestion(readText(message)) }));
  return { id, asked, turns: await readAll(connection, `/v1/sessions/${id}/turns`, turnPage) };
}

/** Sessions that are read at the same time. */
const TOGETHER = 8;

async function readSessions(connection: Connection): Promise<readonly SessionEvidence[]> {
  const ids = await readAll(connection, "/v1/sessions", sessionPage);
  const read: SessionEvidence[] = [];
  for (let from = 0; from < ids.length; from += TOGETHER)
    read.push(...(await Promise.all(ids.slice(from, from + TOGETHER).map(({ id }) => readSession(connection, id)))));
  return read;
}

export async function readChats(platforms: readonly Platform[], chats: number): Promise<readonly ChatEvidence[]> {
  const numbers = Array.from({ length: chats }, (_, index) => index + 1);
  const all = platforms.flatMap((platform) => numbers.map((chat) => ({ platform, chat })));
  return Promise.all(all.map(async ({ platform, chat }) => ({ platform: platform.name, chat, texts: await platform.show(chat) })));
}

export async function readLogs(connection: Connection): Promise<readonly LogLine[]> {
  const logs = await Promise.all(PLATFORMS.map((name) => readAll(connection, `/v1/channels/${name}/log`, logPage)));
  return logs.flat();
}

export async function readEvidence(connection: Connection, platforms: readonly Platform[], chats: number): Promise<BotEvidence> {
  const sessions = await readSessions(connection);
  return { sessions, log: await readLogs(connection), chats: await readChats(platforms, chats) };
}

const WAITING = ["deliveries", "turns", "parts"] as const;

/** How many rows wait in the chats' objects. The server must have stopped. */
export function countWaiting(state: string): number {
  const directory = join(state, "v3", "do");
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    ({ name, parentPath }) => name.endsWith(".sqlite") && parentPath.includes("ChatObject"),
  );
  return files.reduce((sum, file) => sum + countRows(join(file.parentPath, file.name)), 0);
}

function countRows(path: string): number {
  const database = new DatabaseSync(path);
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const names = WAITING.filter((table) => tables.some(({ name }) => name === table));
    return names.reduce((sum, table) => sum + Number(database.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.n ?? 0), 0);
  } finally {
    database.close();
  }
}
