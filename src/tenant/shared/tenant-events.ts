/** What happened in the tenant and concerns no single session. Each is written in the transaction of what it is about, so that it is there once. */
import type { TenantEvent, TenantEventPage } from "../../contract/tenant-event";
import type { SyncSql } from "../../lib/sync-sql";

/** Older events are removed when a new one is written. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1_000;

export interface TenantEvents {
  /** Call it inside a transaction. */
  append(event: Omit<TenantEvent, "seq">): void;
  list(page: { readonly after: number; readonly limit: number }): TenantEventPage;
}

type EventRow = { readonly seq: number; readonly at: number; readonly type: string; readonly data: string };

/** The rows are this file's own. */
const toEvent = ({ seq, at, type, data }: EventRow): TenantEvent => ({
  seq,
  at,
  type: type as TenantEvent["type"],
  data: JSON.parse(data),
});

export function createTenantEvents(sql: SyncSql): TenantEvents {
  return {
    append: ({ at, type, data }) => {
      sql.rows("INSERT INTO tenant_events (at, type, data) VALUES (?, ?, ?)", at, type, JSON.stringify(data));
      sql.rows("DELETE FROM tenant_events WHERE at < ?", at - KEPT_MS);
    },
    list: ({ after, limit }) => {
      const query = "SELECT seq, at, type, data FROM tenant_events WHERE seq > ? ORDER BY seq LIMIT ?";
      const found = sql.rows<EventRow>(query, after, limit + 1);
      return { data: found.slice(0, limit).map(toEvent), has_more: found.length > limit };
    },
  };
}
