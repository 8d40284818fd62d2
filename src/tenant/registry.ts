/** The models that a tenant can name: its own overrides, then those of the deployment, then the embedded one. */
import type { ModelSpec } from "../app/ports";
import type { ModelOverride, TenantError } from "../app/tenant-api";
import { err, ok, type Result } from "../lib/result";
import { EMBEDDED_WINDOW } from "./model-presets";
import type { TenantSql } from "./tenant-sql";

/**
 * Models of a tenant's own. Each change of one writes the rows of all of them again, in one batch, and all are one
 * answer of `GET /v1/models`; a catalogue of the size of a whole gateway belongs into the deployment's configuration.
 */
export const MAX_MODELS = 100;

/** Always there, so that a deployment without any account can chat. */
const EMBEDDED: ModelSpec = {
  id: "embedded",
  provider: "embedded",
  upstream_id: "embedded",
  base_url: null,
  context_window: EMBEDDED_WINDOW,
  max_output: 1_024,
  source: "deployment",
};

export type DeploymentModels = ReadonlyMap<string, ModelSpec>;

/** `models`: the configured ones by id; an entry named `embedded` changes the embedded model's limits. */
export function buildDeploymentModels(models: Readonly<Record<string, ModelOverride>>): DeploymentModels {
  const specs = Object.entries(models).map(([id, model]): [string, ModelSpec] => [id, { ...model, id, source: "deployment" }]);
  return new Map([[EMBEDDED.id, EMBEDDED], ...specs]);
}

export interface Registry {
  resolve(id: string): ModelSpec | null;
  /** By id. */
  list(): readonly ModelSpec[];
  /** Changing one that is there is never refused. */
  put(id: string, model: ModelOverride): Result<ModelSpec, TenantError>;
  /** Removes the tenant's own; the deployment's model of that name, if any, shows again and cannot be removed. */
  remove(id: string): Result<null, TenantError>;
}

type ModelRow = {
  readonly id: string;
  readonly provider: ModelSpec["provider"];
  readonly upstream_id: string;
  readonly base_url: string | null;
  readonly context_window: number | null;
  readonly max_output: number;
};

const COLUMNS = "id, provider, upstream_id, base_url, context_window, max_output";

/** `tenant`: its base URL is the tenant's own choice, so the deployment's credentials must never go there. */
function toSpec({ id, provider, upstream_id, base_url, context_window, max_output }: ModelRow): ModelSpec {
  return { id, provider, upstream_id, base_url, context_window, max_output, source: "tenant" };
}

export function createRegistry(sql: TenantSql, deployment: DeploymentModels): Registry {
  function own(id: string): ModelSpec | null {
    const row = sql.rows<ModelRow>(`SELECT ${COLUMNS} FROM models WHERE id = ?`, id)[0];
    return row ? toSpec(row) : null;
  }
  function count(): number {
    return sql.rows<{ n: number }>("SELECT count(*) AS n FROM models")[0]?.n ?? 0;
  }
  return {
    resolve: (id) => own(id) ?? deployment.get(id) ?? null,
    list: () => {
      const all = new Map(deployment);
      for (const row of sql.rows<ModelRow>(`SELECT ${COLUMNS} FROM models`)) all.set(row.id, toSpec(row));
      return [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    put: (id, { provider, upstream_id, base_url, context_window, max_output }) => {
      if (!own(id) && count() >= MAX_MODELS) return err({ code: "model_limit", limit: MAX_MODELS });
      sql.rows(
        `INSERT INTO models (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET provider = excluded.provider, upstream_id = excluded.upstream_id,
           base_url = excluded.base_url, context_window = excluded.context_window, max_output = excluded.max_output`,
        id,
        provider,
        upstream_id,
        base_url,
        context_window,
        max_output,
      );
      return ok({ id, provider, upstream_id, base_url, context_window, max_output, source: "tenant" });
    },
    remove: (id) => {
      const removed = sql.rows("DELETE FROM models WHERE id = ? RETURNING id", id);
      return removed.length > 0 ? ok(null) : err({ code: "model_not_found", model: id });
    },
  };
}
