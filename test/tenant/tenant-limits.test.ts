import { describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../src/contract/limits";
import { listLimitUse } from "../../src/tenant/limit-use";
import { createTenantLimits } from "../../src/tenant/limits/tenant-limits";
import { createMigratedSql } from "./memory-sql";
import { newMemoryTenant } from "./memory-tenant";
import { makeId } from "./support";

const FIVE = { ...NO_LIMITS, tenant: { requests_per_minute: 5 } };

describe("the limits of a tenant", () => {
  it("are none until the deployment names some, and where it names none", () => {
    const limits = createTenantLimits(createMigratedSql());
    expect(limits.read()).toBeNull();

    limits.write({ limits: { ...NO_LIMITS, key: { concurrent_turns: null } }, revision: 1 });

    expect(limits.read()).toBeNull();
  });

  it("are those of the newest revision, in whatever order the changes come", () => {
    const limits = createTenantLimits(createMigratedSql());
    limits.write({ limits: FIVE, revision: 2 });
    limits.write({ limits: NO_LIMITS, revision: 1 });

    expect(limits.read()).toEqual(FIVE);
  });
});

it("an end user's token reads its own limits alone, a key those of the tenant and its own", () => {
  const tenant = newMemoryTenant(1);
  const limits = { tenant: { sessions: 5 }, key: { requests_per_minute: 4 }, end_user: { sessions: 3 } };
  tenant.limits.write({ limits, revision: 1 });
  const read = (end_user: string | null) => listLimitUse(tenant, { key: makeId("key", 1), end_user }, 0).map(({ of }) => of);

  expect(read(null)).toEqual(["tenant", "key"]);
  expect(read("ada")).toEqual(["end_user"]);
});
