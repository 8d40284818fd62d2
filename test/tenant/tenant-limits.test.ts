import { describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../src/contract/limits";
import { createTenantLimits } from "../../src/tenant/limits/tenant-limits";
import { createMigratedSql } from "./memory-sql";

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
