/** What happened in the tenant and concerns no single session. Each is written in the transaction of what it is about, so that it is there once. */
import type { NewTenantEvent, TenantEvent, TenantEventPage } from "../../contract/tenant-event";
import type { SyncSql } from "../../lib/sync-sql";

/** Older events are removed when new ones are written: of the oldest, some with each. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1_000;
const REMOVED_AT_ONCE = 10;

export interface TenantEvents {
  /** Call it inside a transaction. A deleted tenant has no events. */
  append(event: NewTenantEvent): void;
  list(page: { readonly after: number; readonly limit: number }): TenantEventPage;
}

interface TenantEventDeps {
  readonly isDeleted: () => boolean;
  /** Called in the transaction of the event: for the tenant's webhooks. */
  readonly appended: (event: NewTenantEvent, seq: number) => void;
}

type EventRow = { readonly seq: number; readonly at: number; readonly type: string; readonly data: string };

/** The rows are this file's own. */
const toEvent = ({ seq, at, type, data }: EventRow): TenantEvent => ({ seq, at, type, data: JSON.parse(data) }) as TenantEvent;

export function createTenantEvents(sql: SyncSql, { isDeleted, appended }: TenantEventDeps): TenantEvents {
  return {
    append: (event) => {
      if (isDeleted()) return;
      const { at, type, data } = event;
      const insert = "INSERT INTO tenant_events (at, type, data) VALUES (?, ?, ?) RETURNING seq";
      const [row] = sql.rows<{ seq: number }>(insert, at, type, JSON.stringify(data));
      const oldest = `SELECT seq FROM tenant_events ORDER BY seq LIMIT ${REMOVED_AT_ONCE}`;
      sql.rows(`DELETE FROM tenant_events WHERE seq IN (${oldest}) AND at < ?`, at - KEPT_MS);
      if (row) appended(event, row.seq);
    },
    list: ({ after, limit }) => {
      const query = "SELECT seq, at, type, data FROM tenant_events WHERE seq > ? ORDER BY seq LIMIT ?";
      const found = sql.rows<EventRow>(query, after, limit + 1);
      return { data: found.slice(0, limit).map(toEvent), has_more: found.length > limit };
    },
  };
}
