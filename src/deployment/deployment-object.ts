/**
 * The one Durable Object of the deployment: the composition root that the platform constructs. It owns the list of tenants and the admin keys. No turn and no
 * request of a tenant waits for it (docs/decisions/0021). It takes its methods from `deploymentCalls`.
 */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env";
import { createLog } from "../lib/log";
import { scrub } from "../lib/scrub/scrub";
import { createSyncSql } from "../lib/sync-sql";
import { takeMethods } from "../lib/take-methods";
import { tenantStub } from "../wiring";
import { type Deployment, openDeployment } from "./deployment";
import { deploymentCalls } from "./deployment-calls";

export class DeploymentObject extends DurableObject<Env> {
  readonly #deployment: Deployment;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#deployment = openDeployment(createSyncSql(ctx.storage), {
      tell: (tenant, assigned) => tenantStub(env, tenant).setLimits(assigned),
      setAlarm: (at) => ctx.waitUntil(ctx.storage.setAlarm(at)),
      scrub: () => scrub(ctx.storage),
      now: Date.now,
      log: createLog({ component: "deployment" }),
    });
    // In case the platform dropped the last one.
    this.#deployment.pushes.arm();
  }

  /** Set only while a tenant has not confirmed what it may use. */
  override async alarm(): Promise<void> {
    await this.#deployment.pushes.run();
  }

  static {
    takeMethods(DeploymentObject, deploymentCalls, (object) => object.#deployment);
  }
}
