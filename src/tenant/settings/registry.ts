/** The models that a tenant can name: its own overrides, then the deployment's, then the embedded one. */
import { ZodError } from "zod";
import { type DeploymentKeys, findKeySource, isPaidByTenant, needsKey } from "../../app/key-source";
import type { ModelEntry, ModelOverride, SuggestedLimit } from "../../app/model-entry";
import type { Clock, ModelSpec } from "../../app/ports";
import type { TenantError } from "../../app/tenant-api";
import type { Prices } from "../../context/economy";
import type { LimitSuggestion } from "../../contract/model";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";
import { type DescribedModel, describeModel, type FindDeploymentPrices, type FindPrices, listKnownQuirks } from "./describe-model";
import { createLearnedQuirks } from "./learned-quirks";
import { knownModel } from "./model-presets";
import { MODEL_COLUMNS, type ModelRow, toModelValues, toSaid } from "./model-rows";
import { createSuggestions } from "./suggestions";

/**
 * The most models of a tenant. Each change of one writes the rows of all in one batch, and `GET /v1/models` returns all
 * in one answer. A larger catalogue, as of a gateway, belongs in the deployment's configuration.
 */
export const MAX_MODELS = 100;

/** Always available, so that a deployment without any provider account can chat. */
const EMBEDDED_MODEL: ModelOverride = { provider: "embedded", upstream_id: "embedded", base_url: null };

export type DeploymentModels = ReadonlyMap<string, ModelOverride>;

const NO_MAX_OUTPUT = "needed: no max output is known of a model of this name";

const FOREIGN_PRICES =
  "calls of this model are paid for by the deployment, which says what they cost; name a credential to pay for them yourself";

const lacksMaxOutput = (model: ModelOverride): boolean => model.max_output === undefined && knownModel(model) === null;

/**
 * `models` are the configured models by id. An entry named `embedded` changes the embedded model's limits. Throws a
 * `ZodError` that names each model whose max output is unknown.
 */
export function buildDeploymentModels(models: Readonly<Record<string, ModelOverride>>): DeploymentModels {
  const said = Object.entries(models);
  const lacking = said.filter(([, model]) => lacksMaxOutput(model));
  if (lacking.length > 0) {
    throw new ZodError(
      lacking.map(([id]) => ({ code: "custom", path: ["MODELS", id, "max_output"], message: NO_MAX_OUTPUT, input: null })),
    );
  }
  return new Map([["embedded", EMBEDDED_MODEL], ...said]);
}

/** The credentials that a model may name. */
export interface KnownCredentials {
  has(name: string): boolean;
}

export interface Registry {
  resolve(id: string, findPrices: FindPrices): ModelSpec | null;
  find(id: string, findPrices: FindPrices): ModelEntry | null;
  /** All models, ordered by id. */
  list(findPrices: FindPrices): readonly ModelEntry[];
  /**
   * Registers a model, and forgets what refusals taught about its endpoint. The limit on their number never refuses a change of an
   * existing one. When the id now means another model, its suggestions are deleted.
   */
  put(id: string, model: ModelOverride): Result<null, TenantError>;
  /** Removes the tenant's own model. The deployment's model of that id, if any, is visible again; it cannot be removed. */
  remove(id: string): Result<null, TenantError>;
  /** What the tenant registered. */
  listOwn(): readonly { readonly id: string; readonly model: ModelOverride }[];
  /** True for a model of the tenant's own whose id the deployment does not have. */
  isOnlyOwn(id: string): boolean;
  suggest(suggested: SuggestedLimit, at: number): Result<readonly LimitSuggestion[], TenantError>;
  /** The tenant's models that use this credential. */
  listModelsWith(credential: string): readonly string[];
}

const isSameModel = (a: ModelOverride, b: ModelOverride): boolean =>
  a.provider === b.provider && a.upstream_id === b.upstream_id && a.base_url === b.base_url;

interface RegistryDeps {
  readonly sql: SyncSql;
  readonly deployment: DeploymentModels;
  readonly credentials: KnownCredentials;
  readonly deploymentKeys: DeploymentKeys;
  readonly now: Clock;
}

interface Named {
  readonly id: string;
  readonly model: ModelOverride;
  readonly by: ModelSpec["source"];
}

export function createRegistry({ sql, deployment, credentials, deploymentKeys, now }: RegistryDeps): Registry {
  const suggestions = createSuggestions(sql);
  const learned = createLearnedQuirks(sql);
  const columns = MODEL_COLUMNS.join(", ");

  /** Matches by provider, upstream id and address, not by registered id: a tenant may register the same model under another id. */
  function deploymentPrices({ provider, upstream_id, base_url }: Parameters<FindDeploymentPrices>[0]): Prices | null {
    const same = [...deployment.values()].filter((model) => isSameModel(model, { provider, upstream_id, base_url }));
    return same.find(({ prices }) => prices)?.prices ?? null;
  }
  const describe = (named: Named, published: FindPrices): DescribedModel =>
    describeModel(named, learned.list(named.model, now()), { deployment: deploymentPrices, published });

  function own(id: string): Named | null {
    const row = sql.rows<ModelRow>(`SELECT ${columns} FROM models WHERE id = ?`, id)[0];
    const model = row && toSaid(row);
    return model ? { id, model, by: "tenant" } : null;
  }
  function find(id: string): Named | null {
    const model = deployment.get(id);
    return own(id) ?? (model ? { id, model, by: "deployment" } : null);
  }
  function count(): number {
    return sql.rows<{ n: number }>("SELECT count(*) AS n FROM models")[0]?.n ?? 0;
  }
  const listOwn = (): readonly Named[] =>
    sql.rows<ModelRow>(`SELECT ${columns} FROM models`).flatMap((row) => {
      const model = toSaid(row);
      return model ? [{ id: row.id, model, by: "tenant" as const }] : [];
    });
  function all(): readonly Named[] {
    const named = new Map([...deployment].map(([id, model]): [string, Named] => [id, { id, model, by: "deployment" }]));
    for (const own of listOwn()) named.set(own.id, own);
    return [...named.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
  function toEntry(named: Named, findPrices: FindPrices): ModelEntry {
    const { spec, figures } = describe(named, findPrices);
    const { endpoint } = named.model;
    const known_quirks = listKnownQuirks(named, learned.list(named.model, now()));
    const differing = suggestions.of(spec.id).filter(({ figure, tokens }) => spec[figure] !== tokens);
    const credential_missing = spec.credential !== undefined && !credentials.has(spec.credential);
    const source = findKeySource(spec);
    const key_missing = source.from === "deployment" && needsKey(spec) && deploymentKeys[source.key] === undefined;
    const shown = { ...spec, figures, suggestions: differing, credential_missing, key_missing };
    return { ...shown, ...(endpoint && { endpoint }), known_quirks };
  }
  function findFault(id: string, model: ModelOverride): TenantError | null {
    const { credential } = model;
    if (lacksMaxOutput(model)) return { code: "invalid", field: "max_output", detail: NO_MAX_OUTPUT };
    if (credential !== undefined && !credentials.has(credential)) {
      return { code: "invalid", field: "credential", detail: "no such credential" };
    }
    if (model.prices && !isPaidByTenant({ ...model, source: "tenant" })) {
      return { code: "invalid", field: "prices", detail: FOREIGN_PRICES };
    }
    return !own(id) && count() >= MAX_MODELS ? { code: "model_limit", limit: MAX_MODELS } : null;
  }
  return {
    resolve: (id, findPrices) => {
      const named = find(id);
      return named && describe(named, findPrices).spec;
    },
    find: (id, findPrices) => {
      const named = find(id);
      return named && toEntry(named, findPrices);
    },
    list: (findPrices) => all().map((named) => toEntry(named, findPrices)),
    put: (id, model) => {
      const fault = findFault(id, model);
      if (fault) return err(fault);
      const before = find(id);
      if (before && !isSameModel(before.model, model)) suggestions.forget(id);
      learned.forget(model);
      sql.rows(
        `INSERT INTO models (${columns}) VALUES (${MODEL_COLUMNS.map(() => "?").join(", ")})
         ON CONFLICT (id) DO UPDATE SET ${MODEL_COLUMNS.map((column) => `${column} = excluded.${column}`).join(", ")}`,
        ...toModelValues(id, model),
      );
      return ok(null);
    },
    remove: (id) => {
      const removed = sql.rows("DELETE FROM models WHERE id = ? RETURNING id", id);
      if (removed.length === 0) return err({ code: deployment.has(id) ? "model_not_own" : "model_not_found", model: id });
      suggestions.forget(id);
      return ok(null);
    },
    listOwn,
    isOnlyOwn: (id) => own(id) !== null && !deployment.has(id),
    suggest: (suggested, at) => {
      const named = find(suggested.model);
      if (!named) return err({ code: "model_not_found", model: suggested.model });
      suggestions.add(suggested, at);
      if (suggested.source === "provider_endpoint") learned.forget(named.model);
      if (suggested.quirks) learned.add(named.model, suggested.quirks, at);
      return ok(suggestions.of(suggested.model));
    },
    listModelsWith: (credential) =>
      sql.rows<{ id: string }>("SELECT id FROM models WHERE credential = ? ORDER BY id", credential).map(({ id }) => id),
  };
}
