/**
 * The Durable Object of one tenant: the composition root that the platform constructs. It owns keys, models, sealed credentials, tools,
 * settings and the directory of sessions. It takes its methods from `tenantCalls`; `Tenant` holds the stores.
 */
import { DurableObject } from "cloudflare:workers";
import { listHolding, listWritten } from "../app/placement";
import { chatStub } from "../channel-wiring";
import { type Env, parseConfig, readDeploymentKeys } from "../env";
import { parseExportLine } from "../http/import-sessions";
import { createSettingParser } from "../http/schemas/setting";
import { recordCheck } from "../http/schemas/stored-record";
import { createLog } from "../lib/log";
import { scrub } from "../lib/scrub/scrub";
import { createSyncSql } from "../lib/sync-sql";
import { takeMethods } from "../lib/take-methods";
import { startTimer } from "../lib/timer";
import { findDatabase } from "../read-model/database-for";
import { createPlacedTenantProjection } from "../read-model/placed-projection";
import { createTenantProjection } from "../read-model/tenant-projection";
import { buildExportStore, buildFileStore, deploymentStub, sendWebhookFor, sessionStub } from "../wiring";
import { createNameAnnouncer } from "./announce-name";
import { Tenant } from "./core/tenant";
import { buildDeploymentModels } from "./settings/registry";
import { bindImports, tenantCalls } from "./tenant-calls";

export class TenantObject extends DurableObject<Env> {
  readonly #tenant: Tenant;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const config = parseConfig(env);
    const announceName = createNameAnnouncer((tenant) => deploymentStub(env).registerTenants([tenant]));
    const open = (name: string) => createTenantProjection(findDatabase(env, name));
    const projection = createPlacedTenantProjection({
      written: () => listWritten(this.#tenant.placement.read()).map(open),
      held: () => listHolding(this.#tenant.placement.read()).map(open),
    });
    this.#tenant = new Tenant({
      sql: createSyncSql(ctx.storage),
      deployment: { models: buildDeploymentModels(config.MODELS), keys: readDeploymentKeys(config), policy: config.POLICY },
      storage: ctx.storage,
      projection: {
        write: async (change) => {
          await projection.write(change);
          const { standings, placement } = this.#tenant;
          await announceName({ ...change, status: standings.read().status, database: placement.read().database });
        },
        close: async (tenant, at) => {
          await projection.close(tenant, at);
          await deploymentStub(env).closeTenant(tenant, at);
        },
        sweep: (tenant, at) => projection.sweep(tenant, at),
        hide: (tenant, sessions, at) => projection.hide(tenant, sessions, at),
        writeUsage: (tenant, usage) => projection.writeUsage(tenant, usage),
        removeUsage: (tenant, before) => projection.removeUsage(tenant, before),
      },
      recordAdminActs: (tenant, acts) => deploymentStub(env).recordTenantActs(tenant, acts),
      fileStore: (tenant) => buildFileStore(env, tenant),
      exportStore: (tenant) => buildExportStore(env, tenant),
      sendWebhook: (order) => sendWebhookFor(env, this.#tenant.settings.identity().tenant)(order),
      sessions: ({ tenant, session }) => sessionStub(env, tenant, session),
      chats: (address) => chatStub(env, address),
      imports: {
        parseLine: parseExportLine,
        recordCheck,
        parseSetting: createSettingParser({
          allowPrivateModelUrls: config.ALLOW_PRIVATE_MODEL_URLS,
          allowPrivateToolUrls: config.ALLOW_PRIVATE_TOOL_URLS,
        }),
        own: bindImports(() => this.#tenant),
      },
      scrub: (options) => scrub(ctx.storage, options),
      schedule: startTimer,
      background: (work) => ctx.waitUntil(work),
      log: createLog({ component: "tenant" }),
    });
  }

  /** Set only for a tenant that exists: its read model lags, or an erasure is under way. */
  override async alarm(): Promise<void> {
    if (this.#tenant.isCreated) await this.#tenant.upkeep.ring();
  }

  static {
    takeMethods(TenantObject, tenantCalls, (object) => object.#tenant);
  }
}
