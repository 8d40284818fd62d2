/**
 * The owner of one tenant: keys, models, sealed credentials, settings and the directory of its sessions. Thin: it checks that the tenant
 * exists, keeps each change in one transaction and hands it to the read model. A tenant that was never created
 * leaves nothing behind, however often its name is called.
 */
import { DurableObject } from "cloudflare:workers";
import type { LimitSuggestion, ModelEntry, ModelOverride, SuggestedLimit } from "../app/model-entry";
import type { ModelSpec } from "../app/ports";
import type * as api from "../app/tenant-api";
import type { HttpTool, HttpToolEntry, McpServerEntry } from "../app/tool-entry";
import type { PolicyChoice } from "../context/policy-choice";
import type { ErasedUsage } from "../domain/erased-usage";
import type { KeyId, SessionId } from "../domain/ids";
import { deploymentKeysOf, type Env, parseConfig } from "../env";
import { createLog } from "../lib/log";
import { err, ok } from "../lib/result";
import { databaseFor } from "../read-model/database-for";
import { createTenantProjection } from "../read-model/tenant-projection";
import { sessionStub } from "../wiring";
import { noteChange } from "./changes";
import { type CredentialStore, createCredentialStore } from "./credential-store";
import { createDirectory, type Directory, type Registration } from "./directory";
import { createErasedUsage, type ErasedUsageStore } from "./erased-usage";
import type { Erasures } from "./erasures";
import { createKeys, type Keys } from "./keys";
import { mergePolicy } from "./merge-policy";
import { MODEL_PRESETS } from "./model-presets";
import { loadPrices } from "./price-package";
import { buildDeploymentModels, createRegistry, type DeploymentModels, type Registry } from "./registry";
import { createRequests, type Requests } from "./requests";
import { createSettings, type Settings } from "./settings";
import { isCreated, migrate } from "./tenant-schema";
import { createTenantSql, type TenantSql } from "./tenant-sql";
import { createToolRegistry, type PutMcpServer, type ToolRegistry } from "./tool-registry";
import { createUpkeep, type Upkeep } from "./upkeep";

type AddKeyInput = Parameters<api.TenantApi["addKey"]>[0];
type KeepUsageInput = Parameters<api.TenantApi["keepUsage"]>[0];
type CreateInput = Parameters<api.TenantApi["create"]>[0];

const NOT_FOUND: api.TenantError = { code: "tenant_not_found" };
const UNPRICED = (): null => null;

export class TenantObject extends DurableObject<Env> implements api.TenantApi, api.TenantMaintenance {
  readonly #sql: TenantSql;
  readonly #deployment: DeploymentModels;
  readonly #deploymentPolicy: PolicyChoice;
  readonly #settings: Settings;
  readonly #requests: Requests;
  readonly #keys: Keys;
  readonly #registry: Registry;
  readonly #credentials: CredentialStore;
  readonly #tools: ToolRegistry;
  readonly #directory: Directory;
  readonly #erasedUsage: ErasedUsageStore;
  readonly #upkeep: Upkeep;
  #created: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = createTenantSql(ctx.storage);
    const config = parseConfig(env);
    this.#deployment = buildDeploymentModels(config.MODELS);
    this.#deploymentPolicy = config.POLICY;
    this.#settings = createSettings(this.#sql);
    this.#requests = createRequests(this.#sql);
    this.#keys = createKeys(this.#sql);
    this.#credentials = createCredentialStore(this.#sql);
    this.#tools = createToolRegistry(this.#sql, this.#credentials);
    const deploymentKeys = deploymentKeysOf(config);
    this.#registry = createRegistry({ sql: this.#sql, deployment: this.#deployment, credentials: this.#credentials, deploymentKeys });
    this.#directory = createDirectory(this.#sql);
    this.#erasedUsage = createErasedUsage(this.#sql);
    this.#upkeep = createUpkeep({
      sql: this.#sql,
      storage: ctx.storage,
      projection: { write: (change) => createTenantProjection(databaseFor(env, change.tenant)).write(change) },
      snapshot: () => this.#snapshot(),
      tenant: () => this.#settings.identity().tenant,
      sessions: ({ tenant, session }) => sessionStub(env, tenant, session),
      log: createLog({ component: "tenant" }),
    });
    this.#created = isCreated(this.#sql);
    if (!this.#created) return;
    this.#sql.transaction(() => this.#prepare());
    ctx.waitUntil(this.#upkeep.resume());
  }

  async create({ tenant, name, idempotency }: CreateInput): Promise<api.TenantOutcome<{ readonly replayed: boolean }>> {
    const at = Date.now();
    if (this.#created) {
      const first = this.#requests.recall(idempotency, at);
      if (!first.ok) return first;
      return first.value === tenant ? ok({ replayed: true }) : err({ code: "tenant_exists" });
    }
    const created = this.#change(() => {
      this.#prepare();
      this.#settings.insert({ tenant, name, at });
      this.#requests.remember(idempotency, tenant, at);
      return ok({ replayed: false });
    });
    this.#created = true;
    return created;
  }

  async settings(): Promise<api.TenantOutcome<api.TenantSettings>> {
    return this.#created ? ok(this.#settings.read()) : err(NOT_FOUND);
  }

  async changeSettings({ default_policy: policy, ...changes }: api.TenantChanges): Promise<api.TenantOutcome<api.TenantSettings>> {
    if (!this.#created) return err(NOT_FOUND);
    const model = changes.default_model;
    if (model !== undefined && !this.#registry.resolve(model, UNPRICED)) return err({ code: "model_not_found", model });
    if (policy === undefined) return this.#change(() => ok(this.#settings.change(changes)));
    const merged = mergePolicy(policy, { present: this.#settings.read().default_policy, deployment: this.#deploymentPolicy });
    if (!merged.ok) return merged;
    return this.#change(() => ok(this.#settings.change({ ...changes, default_policy: merged.value })));
  }

  async addKey(key: AddKeyInput): Promise<api.TenantOutcome<api.KeyView>> {
    return this.#created ? this.#sql.transaction(() => this.#keys.add({ ...key, at: Date.now() })) : err(NOT_FOUND);
  }

  async listKeys(): Promise<api.TenantOutcome<readonly api.KeyView[]>> {
    return this.#created ? ok(this.#keys.list()) : err(NOT_FOUND);
  }

  async revokeKey(id: KeyId, by: KeyId | null): Promise<api.TenantOutcome<api.KeyView>> {
    return this.#created ? this.#heard(this.#sql.transaction(() => this.#keys.revoke(id, { by, at: Date.now() }))) : err(NOT_FOUND);
  }

  async authenticate(hash: string): Promise<api.Principal | null> {
    if (!this.#created) return null;
    return this.#keys.authenticate({ hash, tenant: this.#settings.identity().tenant, at: Date.now() });
  }

  async registerSession(input: Parameters<api.TenantApi["registerSession"]>[0]): Promise<api.TenantOutcome<Registration>> {
    if (!this.#created) return err(NOT_FOUND);
    return this.#sql.transaction(() => this.#directory.register({ ...input, at: Date.now() }));
  }

  async forgetSession(session: SessionId): Promise<api.TenantOutcome<null>> {
    return this.#created ? ok(this.#directory.forget(session)) : err(NOT_FOUND);
  }

  async beginErasure(input: Parameters<Erasures["begin"]>[0]): Promise<api.TenantOutcome<{ readonly noted: boolean }>> {
    return this.#created ? ok({ noted: this.#upkeep.erasures.begin(input) }) : err(NOT_FOUND);
  }

  async endErasure(session: SessionId): Promise<api.TenantOutcome<null>> {
    return this.#created ? ok(this.#upkeep.erasures.end(session)) : err(NOT_FOUND);
  }

  async listSessions(page: { readonly after: SessionId | null; readonly limit: number }): Promise<api.TenantOutcome<api.SessionPage>> {
    return this.#created ? ok(this.#directory.list(page)) : err(NOT_FOUND);
  }

  async keepUsage({ session, usage }: KeepUsageInput): Promise<api.TenantOutcome<readonly ErasedUsage[]>> {
    return this.#created ? ok(this.#sql.transaction(() => this.#erasedUsage.keep(session, usage))) : err(NOT_FOUND);
  }

  async listErasedUsage(
    page: Parameters<api.TenantMaintenance["listErasedUsage"]>[0],
  ): ReturnType<api.TenantMaintenance["listErasedUsage"]> {
    return this.#created ? ok(this.#erasedUsage.list(page)) : err(NOT_FOUND);
  }

  async resolveModel(id: string): Promise<ModelSpec | null> {
    return this.#created ? this.#registry.resolve(id, await loadPrices(Date.now)) : null;
  }

  async listModels(): Promise<api.TenantOutcome<readonly ModelEntry[]>> {
    return this.#created ? ok(this.#registry.list(await loadPrices(Date.now))) : err(NOT_FOUND);
  }

  async getModel(id: string): Promise<api.TenantOutcome<ModelEntry>> {
    if (!this.#created) return err(NOT_FOUND);
    const found = this.#registry.find(id, await loadPrices(Date.now));
    return found ? ok(found) : err({ code: "model_not_found", model: id });
  }

  async putModel(id: string, model: ModelOverride): Promise<api.TenantOutcome<ModelEntry>> {
    if (!this.#created) return err(NOT_FOUND);
    const put = this.#change(() => this.#registry.put(id, model));
    return put.ok ? this.getModel(id) : put;
  }

  async deleteModel(id: string): Promise<api.TenantOutcome<null>> {
    if (!this.#created) return err(NOT_FOUND);
    const isDefault = this.#settings.read().default_model === id && this.#registry.isOnlyOwn(id);
    return isDefault ? err({ code: "model_is_default", model: id }) : this.#change(() => this.#registry.remove(id));
  }

  async suggestLimit(suggested: SuggestedLimit): Promise<api.TenantOutcome<readonly LimitSuggestion[]>> {
    return this.#created ? this.#sql.transaction(() => this.#registry.suggest(suggested, Date.now())) : err(NOT_FOUND);
  }

  async putCredential(input: Parameters<api.TenantApi["putCredential"]>[0]): Promise<api.TenantOutcome<api.CredentialView>> {
    if (!this.#created) return err(NOT_FOUND);
    const { name, sealed } = input;
    const put = this.#heard(this.#sql.transaction(() => this.#credentials.put(name, sealed, Date.now())));
    if (!put.ok) return put;
    const view = this.#credentialViews().find((credential) => credential.name === name);
    return view ? ok(view) : err({ code: "credential_not_found", credential: name });
  }

  async listCredentials(): Promise<api.TenantOutcome<readonly api.CredentialView[]>> {
    return this.#created ? ok(this.#credentialViews()) : err(NOT_FOUND);
  }

  async deleteCredential(name: string): Promise<api.TenantOutcome<null>> {
    return this.#created ? this.#heard(this.#credentials.remove(name)) : err(NOT_FOUND);
  }

  async sealedCredential(name: string): Promise<api.SealedCredential | null> {
    return this.#created ? this.#credentials.sealed(name) : null;
  }

  async sealedCredentials(): Promise<api.TenantOutcome<readonly { readonly name: string; readonly sealed: api.SealedCredential }[]>> {
    return this.#created ? ok(this.#credentials.allSealed()) : err(NOT_FOUND);
  }

  async replaceSealed(resealed: readonly api.Resealed[]): Promise<api.TenantOutcome<{ readonly replaced: number }>> {
    if (!this.#created) return err(NOT_FOUND);
    return ok({ replaced: this.#sql.transaction(() => this.#credentials.replace(resealed)) });
  }

  async listTools(names: readonly string[] | null): Promise<api.TenantOutcome<readonly HttpToolEntry[]>> {
    return this.#created ? ok(this.#tools.tools(names)) : err(NOT_FOUND);
  }

  async putTool(name: string, tool: HttpTool): Promise<api.TenantOutcome<HttpToolEntry>> {
    return this.#created ? this.#heard(this.#sql.transaction(() => this.#tools.putTool(name, tool, Date.now()))) : err(NOT_FOUND);
  }

  async deleteTool(name: string): Promise<api.TenantOutcome<null>> {
    return this.#created ? this.#heard(this.#tools.removeTool(name)) : err(NOT_FOUND);
  }

  async listMcpServers(names: readonly string[] | null): Promise<api.TenantOutcome<readonly McpServerEntry[]>> {
    return this.#created ? ok(this.#tools.servers(names)) : err(NOT_FOUND);
  }

  async putMcpServer(input: PutMcpServer): Promise<api.TenantOutcome<McpServerEntry>> {
    return this.#created ? this.#heard(this.#sql.transaction(() => this.#tools.putServer(input, Date.now()))) : err(NOT_FOUND);
  }

  async deleteMcpServer(name: string): Promise<api.TenantOutcome<null>> {
    return this.#created ? this.#heard(this.#tools.removeServer(name)) : err(NOT_FOUND);
  }

  async exportTenant(): Promise<api.TenantOutcome<api.TenantExport>> {
    if (!this.#created) return err(NOT_FOUND);
    const models = this.#registry.list(await loadPrices(Date.now));
    return ok({ ...this.#snapshot(), models, created_at: this.#settings.identity().created_at, keys: this.#keys.list() });
  }

  async projectAgain(): Promise<api.TenantOutcome<null>> {
    if (!this.#created) return err(NOT_FOUND);
    this.#sql.transaction(() => this.#upkeep.outbox.touch());
    await this.#upkeep.outbox.drain();
    return ok(null);
  }

  /** Only ever set for a tenant that exists: the read model is behind, or an erasure is under way. */
  override async alarm(): Promise<void> {
    if (this.#created) await this.#upkeep.ring();
  }

  /** Without the package's prices, which are in no row: a change need not load them. */
  #snapshot(): api.TenantChange {
    return { tenant: this.#settings.identity().tenant, settings: this.#settings.read(), models: this.#registry.list(UNPRICED) };
  }

  #credentialViews(): readonly api.CredentialView[] {
    return this.#credentials.list().map((credential) => ({ ...credential, models: this.#registry.usersOf(credential.name) }));
  }

  /** A wake after a deployment that brought other models or presets changes what this tenant can name: the alarm then says so. */
  #prepare(): void {
    migrate(this.#sql);
    this.#upkeep.outbox.touchIfDeploymentChanged(JSON.stringify([[...this.#deployment], MODEL_PRESETS]));
  }

  /** One transaction with the note that the read model is behind, then the write to it in the background: D1 is never waited for. */
  #change<T>(body: () => api.TenantOutcome<T>): api.TenantOutcome<T> {
    const outcome = this.#sql.transaction(() => {
      const value = body();
      if (value.ok) this.#upkeep.outbox.touch();
      return value;
    });
    if (outcome.ok) this.ctx.waitUntil(this.#upkeep.outbox.drain());
    return this.#heard(outcome);
  }

  #heard<T>(outcome: T): T {
    if (this.#created) noteChange(this.#settings.identity().tenant);
    return outcome;
  }
}
