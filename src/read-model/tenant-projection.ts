/** A tenant and the models it can name, as rows: each write replaces what the last one said, in one transaction. */
import type { ModelSpec } from "../app/ports";
import type { TenantChange, TenantProjection } from "../app/tenant-api";
import { pause, withRetries } from "./d1-retry";

export function createTenantProjection(db: D1Database): TenantProjection {
  return {
    async write(change) {
      await withRetries(() => db.batch(statementsOf(db, change)), pause);
    },
  };
}

function statementsOf(db: D1Database, { tenant, settings, models }: TenantChange): D1PreparedStatement[] {
  const { name, default_model, default_policy } = settings;
  return [
    db
      .prepare("INSERT OR REPLACE INTO tenants (tenant_id, name, default_model, default_policy) VALUES (?, ?, ?, ?)")
      .bind(tenant, name, default_model, default_policy),
    db.prepare("DELETE FROM models WHERE tenant_id = ?").bind(tenant),
    ...models.map((model) => insertModel(db, { tenant, model, isDefault: model.id === default_model })),
  ];
}

function insertModel(
  db: D1Database,
  row: { readonly tenant: string; readonly model: ModelSpec; readonly isDefault: boolean },
): D1PreparedStatement {
  const { id, provider, source, upstream_id, base_url, max_output, context_window } = row.model;
  const columns = "tenant_id, provider_id, id, is_default, source, upstream_id, base_url, max_output, context_window_size";
  return db
    .prepare(`INSERT INTO models (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .bind(row.tenant, provider, id, row.isDefault ? 1 : 0, source, upstream_id, base_url, max_output, context_window);
}
