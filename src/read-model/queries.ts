/** Lists across the sessions of one tenant. Every query begins with the tenant, so no other tenant's rows are read. */

import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { ReadError, SessionList, SessionListInput, SessionListPage } from "../app/read-api";
import type { SessionSummary } from "../contract/session";
import type { TenantId } from "../domain/ids";
import { parseId, type SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import { databaseFor } from "./database-for";
import { sessions } from "./schema";

export interface Cursor {
  readonly updatedAt: number;
  readonly id: SessionId;
}

export const toCursor = ({ updatedAt, id }: Cursor): string =>
  btoa(`${updatedAt}:${id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Null when the text is no cursor that this server made. */
function parseCursor(text: string): Cursor | null {
  const [, time, name] = /^(\d{1,15}):(\w+)$/.exec(decode(text)) ?? [];
  const id = name === undefined ? null : parseId("ses", name);
  return id ? { updatedAt: Number(time), id } : null;
}

function decode(text: string): string {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}

export function createSessionList(env: { readonly DB: D1Database }): SessionList {
  return {
    listSessions: (input) => listSessions(databaseFor(env, input.tenant), input),
    isListed: ({ tenant, session }) => isListed(databaseFor(env, tenant), tenant, session),
  };
}

async function isListed(db: D1Database, tenant: TenantId, session: SessionId): Promise<boolean> {
  const found = await drizzle(db)
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.tenantId, tenant), eq(sessions.id, session)))
    .limit(1);
  return found.length > 0;
}

async function listSessions(db: D1Database, input: SessionListInput): Promise<Result<SessionListPage, ReadError>> {
  const after = input.after === null ? null : parseCursor(input.after);
  if (input.after !== null && !after) return err({ code: "invalid_cursor" });
  const found = await drizzle(db)
    .select()
    .from(sessions)
    .where(and(eq(sessions.tenantId, input.tenant), after ? isOlderThan(after) : undefined))
    .orderBy(desc(sessions.updatedAt), desc(sessions.id))
    .limit(input.limit + 1);
  const data = found.slice(0, input.limit).map(toSummary);
  const has_more = found.length > input.limit;
  const last = data.at(-1);
  return ok({ data, has_more, next_cursor: has_more && last ? toCursor({ updatedAt: last.updated_at, id: last.id }) : null });
}

const isOlderThan = (cursor: Cursor): SQL => sql`(${sessions.updatedAt}, ${sessions.id}) < (${cursor.updatedAt}, ${cursor.id})`;

const toSummary = (row: typeof sessions.$inferSelect): SessionSummary => ({
  id: row.id,
  title: row.title,
  model: row.model,
  message_count: row.messageCount,
  last_message_preview: row.lastMessagePreview,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
  compacted: row.overlayCount > 0,
});
