/** Writes a tenant and its models as rows. Each write replaces the previous one, in one transaction. */
import type { TenantProjection } from "../app/tenant-projection";
import { type Pause, pause, withRetries } from "./d1-retry";
import { erasedUsageInserts } from "./erased-usage-rows";
import { eraseLeftSessions } from "./store";
import { toRows } from "./tenant-rows";
import { removeUsage } from "./usage-bound";

export function createTenantProjection(db: D1Database, wait: Pause = pause): TenantProjection {
  return {
    async write(change) {
      const { tenant, models } = toRows(change);
      const remove = (table: string) => db.prepare(`DELETE FROM ${table} WHERE tenant_id = ?`).bind(change.tenant);
      const insert = (table: string, row: Readonly<Record<string, string | number | null>>) => {
        const names = Object.keys(row);
        return db
          .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
          .bind(...Object.values(row));
      };
      const rows = models.map((row) => insert("models", row));
      await withRetries(() => db.batch([remove("tenants"), insert("tenants", tenant), remove("models"), ...rows]), wait);
    },
    async close(tenant) {
      const rows = ["tenants", "models"].map((table) => db.prepare(`DELETE FROM ${table} WHERE tenant_id = ?`).bind(tenant));
      await withRetries(() => db.batch(rows), wait);
    },
    sweep: (tenant, at) => eraseLeftSessions(db, tenant, at),
    async hide(tenant, sessions, at) {
      const ids = JSON.stringify(sessions);
      const bury = "INSERT OR IGNORE INTO session_tombstones (tenant_id, session_id, erased_at) SELECT ?1, value, ?2 FROM json_each(?3)";
      const list = "DELETE FROM sessions WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2))";
      await withRetries(() => db.batch([db.prepare(bury).bind(tenant, at, ids), db.prepare(list).bind(tenant, ids)]), wait);
    },
    async writeUsage(tenant, usage) {
      await withRetries(() => db.batch(erasedUsageInserts(db, tenant, usage)), wait);
    },
    removeUsage: (tenant, before) => withRetries(() => removeUsage(db, { tenant, before }), wait),
  };
}
