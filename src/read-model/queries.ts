/** Lists across the sessions of one tenant. Every query begins with the tenant, so no other tenant's rows are read. */

import { and, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { ReadError, SessionList, SessionListInput, SessionListPage } from "../app/read-api";
import type { TenantId } from "../domain/ids";
import { parseId, type SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import { databaseFor, type ReadModelEnv } from "./database-for";
import { sessions } from "./schema";
import { type SessionPlace, selectSessions } from "./session-filter";
import { SUMMARY_COLUMNS, type SummaryRow, toSummary } from "./session-summary";

/** A place in a list. It holds the order that it was made for, because in another order it would be another place. */
interface Cursor extends Pick<SessionListInput, "orderBy" | "order">, SessionPlace {}

const toCursor = ({ orderBy, order, at, id }: Cursor): string =>
  btoa(`${orderBy}:${order}:${at}:${id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Null when the text is no cursor that this server made for a list in this order. */
function parseCursor(text: string, { orderBy, order }: Pick<Cursor, "orderBy" | "order">): Cursor | null {
  const [, place, time, name] = /^(\w+:\w+):(\d{1,15}):(\w+)$/.exec(decode(text)) ?? [];
  const id = name === undefined ? null : parseId("ses", name);
  return id && place === `${orderBy}:${order}` ? { orderBy, order, at: Number(time), id } : null;
}

function decode(text: string): string {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}

export function createSessionList(env: ReadModelEnv): SessionList {
  return {
    listSessions: async (input) => listSessions(await databaseFor(env, input.tenant), input),
    isListed: async ({ tenant, session }) => isListed(await databaseFor(env, tenant), tenant, session),
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
  const { tenant, filter, orderBy, order, limit } = input;
  const after = input.after === null ? null : parseCursor(input.after, input);
  if (input.after !== null && !after) return err({ code: "invalid_cursor" });
  const { from, where, params, end } = await selectSessions(db, tenant, filter, { orderBy, order, after });
  const sql = `SELECT ${SUMMARY_COLUMNS} FROM ${from} WHERE ${where} ORDER BY s.${orderBy} ${order}, s.id ${order} LIMIT ?`;
  const { results } = await db
    .prepare(sql)
    .bind(...params, limit + 1)
    .all<SummaryRow>();
  const data = results.slice(0, limit).map(toSummary);
  const last = data.at(-1);
  // Without a full page the next one begins behind the last session that was checked.
  const next = results.length > limit && last ? { at: last[orderBy], id: last.id } : end;
  return ok({ data, has_more: next !== null, next_cursor: next && toCursor({ orderBy, order, ...next }) });
}
