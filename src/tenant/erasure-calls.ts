/** The calls about erasures that a tenant's object answers. */
import type { TenantErasureApi } from "../app/erasure-api";
import type { ErasureFacts } from "../app/erasure-view";
import type { TenantOutcome } from "../app/tenant-api";
import type { ErasureId } from "../domain/ids";
import { err, ok } from "../lib/result";
import type { Tenant } from "./core/tenant";
import { type Calls, existing, lasting } from "./existing-tenant";

function findErasure({ upkeep }: Tenant, id: ErasureId): TenantOutcome<ErasureFacts> {
  const found = upkeep.erasures.receipts.find(id);
  return found ? ok(found) : err({ code: "erasure_not_found", erasure: id });
}

export const erasureCalls = {
  beginErasure: existing(async (tenant, act, input) => {
    const { erasures } = tenant.upkeep;
    const begun = tenant.transaction(() => erasures.begin({ ...input, act }));
    // The forks of few are erased when this answers; the alarm goes on with those of many.
    if (input.forks) await erasures.run();
    return ok(begun);
  }),
  noteErasure: existing(({ upkeep }, session, pending) => ok(upkeep.erasures.report(session, pending))),
  endErasure: existing(({ upkeep }, session) => ok(upkeep.erasures.end(session))),
  eraseEndUser: existing(async (tenant, act, endUser) => {
    const { erasures, exports, scrub } = tenant.upkeep;
    const user = tenant.digestEndUser(endUser);
    const id = tenant.transaction(() => {
      exports.endOf(endUser);
      tenant.forgetPerson(endUser);
      return erasures.beginEndUser(user, act);
    });
    await erasures.resume();
    await exports.resume();
    tenant.announce(null);
    await erasures.run();
    await scrub.run();
    await scrub.resume();
    return findErasure(tenant, id);
  }),
  eraseTenant: lasting(async (tenant, act) => {
    const { erasures } = tenant.upkeep;
    const begun = tenant.change(() => ok(erasures.beginTenant(tenant.settings.identity().tenant, act)));
    if (!begun.ok) return begun;
    // Its sessions, and then its own part. The alarm goes on where there are many.
    await erasures.run();
    await erasures.run();
    await tenant.upkeep.scrub.resume();
    return findErasure(tenant, begun.value);
  }),
  endUserEnded: existing((tenant, endUser) => ok(tenant.upkeep.erasures.findEnd(tenant.digestEndUser(endUser)))),
  listErasingUsers: existing((tenant, endUsers) => {
    const { receipts } = tenant.upkeep.erasures;
    const isErasing = (name: string) =>
      receipts.findLike({ kind: "end_user", target: tenant.digestEndUser(name), forks: false, running: true }) !== null;
    return ok(endUsers.filter(isErasing));
  }),
  getErasure: lasting(findErasure),
  listErasures: existing(({ upkeep }, page) => ok(upkeep.erasures.receipts.list(page))),
} satisfies Pick<Calls, keyof TenantErasureApi>;
