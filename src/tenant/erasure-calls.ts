/** The calls about erasures that a tenant's object answers. */
import type { TenantErasureApi } from "../app/erasure-api";
import { err, ok } from "../lib/result";
import { existing, lasting } from "./existing-tenant";
import type { Tenant } from "./tenant";

type Calls = {
  readonly [Name in keyof TenantErasureApi]: TenantErasureApi[Name] extends (...args: infer A) => Promise<infer T>
    ? (tenant: Tenant, ...args: A) => Promise<T>
    : never;
};

export const erasureCalls = {
  beginErasure: existing(async (tenant, input) => {
    const { erasures } = tenant.upkeep;
    const begun = tenant.transaction(() => erasures.begin(input));
    // The forks of few are erased when this answers; the alarm goes on with those of many.
    if (input.forks) await erasures.run();
    return ok(begun);
  }),
  noteErasure: existing(({ upkeep }, session, pending) => ok(upkeep.erasures.report(session, pending))),
  endErasure: existing(({ upkeep }, session) => ok(upkeep.erasures.end(session))),
  eraseEndUser: existing(async (tenant, endUser) => {
    const { erasures } = tenant.upkeep;
    const user = await tenant.digestEndUser(endUser);
    const id = tenant.transaction(() => erasures.beginEndUser(user));
    await erasures.resume();
    tenant.announce(null);
    await erasures.run();
    const found = erasures.receipts.find(id);
    return found ? ok(found) : err({ code: "erasure_not_found", erasure: id });
  }),
  eraseTenant: lasting(async (tenant) => {
    const { erasures } = tenant.upkeep;
    const begun = tenant.change(() => ok(erasures.beginTenant(tenant.settings.identity().tenant)));
    if (!begun.ok) return begun;
    // Its sessions, and then its own part. The alarm goes on where there are many.
    await erasures.run();
    await erasures.run();
    const found = erasures.receipts.find(begun.value);
    return found ? ok(found) : err({ code: "erasure_not_found", erasure: begun.value });
  }),
  endUserEnded: existing(async (tenant, endUser) => ok(tenant.upkeep.erasures.findEnd(await tenant.digestEndUser(endUser)))),
  getErasure: lasting(({ upkeep }, id) => {
    const found = upkeep.erasures.receipts.find(id);
    return found ? ok(found) : err({ code: "erasure_not_found", erasure: id });
  }),
  listErasures: existing(({ upkeep }, page) => ok(upkeep.erasures.receipts.list(page))),
} satisfies Calls;
