/** A tenant's own row and those of its models: the expected rows, the stored rows, and the sessions that have rows. */
import { and, desc, eq, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Row, RowSnapshot } from "../app/diff-rows";
import { toModelColumns } from "../app/model-columns";
import type { ModelEntry } from "../app/model-entry";
import type { TenantChange } from "../app/tenant-api";
import type { TenantRows } from "../app/tenant-rows";
import type { Quirks } from "../context/model-quirks";
import { repairErasedUsage } from "./erased-usage-rows";
import { sessions } from "./schema";
import { removeUsage } from "./usage-bound";

/** Far above the number of models that a tenant can have. More rows than this would be a fault to report. */
const MAX_MODEL_ROWS = 5_000;

export function createTenantRows(db: D1Database): TenantRows {
  return {
    expect: (change) => {
      const { tenant, models } = toRows(change);
      return toSnapshot([tenant], models);
    },
    read: async (tenant) => {
      const [found, models] = await db.batch<Row>([
        db.prepare("SELECT * FROM tenants WHERE tenant_id = ?").bind(tenant),
        db.prepare(`SELECT * FROM models WHERE tenant_id = ? ORDER BY provider_id, id LIMIT ${MAX_MODEL_ROWS}`).bind(tenant),
      ]);
      return toSnapshot(found?.results ?? [], models?.results ?? []);
    },
    listSessions: async ({ tenant, after, limit }) => {
      const rows = await drizzle(db)
        .select({ id: sessions.id, created_at: sessions.createdAt })
        .from(sessions)
        .where(and(eq(sessions.tenantId, tenant), after === null ? undefined : lt(sessions.id, after)))
        .orderBy(desc(sessions.id))
        .limit(limit + 1);
      return { data: rows.slice(0, limit), has_more: rows.length > limit };
    },
    removeUsage: (input) => removeUsage(db, input),
    mendErasedUsage: (input) => repairErasedUsage(db, input),
  };
}

/** The rows of a tenant as they are written. */
export function toRows({ tenant, settings, models }: TenantChange): { readonly tenant: Row; readonly models: readonly Row[] } {
  const { name, default_model, default_policy } = settings;
  return {
    tenant: { tenant_id: tenant, name, default_model, default_policy },
    models: models.map((model) => ({ tenant_id: tenant, is_default: model.id === default_model ? 1 : 0, ...toModelRow(model) })),
  };
}

/** Leaves out prices that come from the package and quirks that were learned: the rows must be the same whenever they are written. */
function toModelRow(model: ModelEntry): Row {
  const { prices, quirks: _withLearned, ...unpriced } = model;
  const said = model.known_quirks.filter(({ source }) => source === model.source).map(({ quirk, value }) => [quirk, value]);
  const isPriced = prices !== undefined && model.figures.prices !== "prices_package";
  const configured = {
    ...unpriced,
    ...(said.length > 0 && { quirks: Object.fromEntries(said) as Quirks }),
    ...(isPriced && { prices }),
  };
  return {
    provider_id: model.provider,
    id: model.id,
    display_name: null,
    source: model.source,
    upstream_id: model.upstream_id,
    base_url: model.base_url,
    max_output: model.max_output,
    context_window_size: model.context_window,
    ...toModelColumns(configured),
  };
}

function toSnapshot(tenants: readonly Row[], models: readonly Row[]): RowSnapshot {
  const byName = (rows: readonly Row[], toName: (row: Row) => string) => Object.fromEntries(rows.map((row) => [toName(row), row]));
  return {
    tenants: byName(tenants, (row) => String(row.tenant_id)),
    models: byName(models, (row) => `${row.provider_id}/${row.id}`),
  };
}
