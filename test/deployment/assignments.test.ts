import { describe, expect, it } from "vitest";
import type { AssignedLimits } from "../../src/app/tenant-limits-api";
import { NO_LIMITS } from "../../src/contract/limits";
import { deploymentCalls } from "../../src/deployment/deployment-calls";
import { PUSH_PART } from "../../src/deployment/limit-pushes";
import type { TenantId } from "../../src/domain/ids";
import { makeId } from "../http/support";
import { ACT } from "../support/act";
import { openForTest } from "./support";

const files = (most: number) => ({ name: "starter", limits: { ...NO_LIMITS, tenant: { files: most, sessions: 5 } }, budgets: [] });
const TENANT = makeId("ten", 1);

/** Tenants' objects that keep the newest of what they are told, while they are within reach. */
function givenDeployment() {
  const kept = new Map<TenantId, AssignedLimits>();
  const world = { isDown: false, calls: 0, at: Date.now() };
  const alarms: number[] = [];
  const tell = async (tenant: TenantId, assigned: AssignedLimits) => {
    world.calls += 1;
    if (world.isDown) throw new Error("out of reach");
    const known = kept.get(tenant);
    if (!known || assigned.revision > known.revision) kept.set(tenant, assigned);
    return { revision: Math.max(assigned.revision, known?.revision ?? 0) };
  };
  const deployment = openForTest({ tell, alarms, now: () => world.at });
  const assign = (tenant: TenantId, change: object) => deploymentCalls.assignPlan(deployment, ACT, { tenant, ...change });
  return { deployment, kept, world, alarms, assign };
}

describe("a tenant", () => {
  it("has the limits of its plan, and its own over them", async () => {
    const { deployment, kept, assign } = givenDeployment();
    await deploymentCalls.putPlan(deployment, ACT, files(10));

    const assigned = await assign(TENANT, { plan: "starter", limits: { tenant: { files: null }, key: { requests_per_minute: 6 } } });

    const limits = { tenant: { files: null, sessions: 5 }, key: { requests_per_minute: 6 }, end_user: {} };
    expect(assigned).toMatchObject({ ok: true, value: { plan: "starter", effective_limits: limits, confirmed: true } });
    expect(kept.get(TENANT)).toMatchObject({ plan: "starter", limits });
  });

  it("has budgets of its own without a plan, and beside a plan's: one of its own replaces the plan's of that name", async () => {
    const budget = (name: string, amount: number) => ({ name, of: "tenant", period: "day", unit: "usd", amount, purposes: "all" }) as const;
    const { deployment, kept, assign } = givenDeployment();
    await deploymentCalls.putPlan(deployment, ACT, { ...files(10), budgets: [budget("daily", 1), budget("other", 9)] });

    const own = await assign(TENANT, { budgets: [budget("daily", 5)] });
    expect(own).toMatchObject({ ok: true, value: { plan: null, budgets: [budget("daily", 5)], effective_budgets: [budget("daily", 5)] } });
    expect(kept.get(TENANT)?.budgets).toEqual([budget("daily", 5)]);

    await assign(TENANT, { plan: "starter" });
    expect(kept.get(TENANT)?.budgets).toEqual([budget("other", 9), budget("daily", 5)]);
    const { revision = 0 } = kept.get(TENANT) ?? {};
    await assign(TENANT, { budgets: [budget("daily", 5)] });
    expect(kept.get(TENANT)?.revision).toBe(revision);
    await assign(TENANT, { budgets: null });
    expect(kept.get(TENANT)?.budgets).toEqual([budget("daily", 1), budget("other", 9)]);
  });

  it("is told a change of its plan by the alarm", async () => {
    const { deployment, kept, world, alarms, assign } = givenDeployment();
    await deploymentCalls.putPlan(deployment, ACT, files(10));
    await assign(TENANT, { plan: "starter" });

    await deploymentCalls.putPlan(deployment, ACT, files(20));
    expect(alarms.length).toBeGreaterThan(0);
    world.at = deployment.assignments.nextDue() ?? 0;
    await deployment.pushes.run();

    expect(kept.get(TENANT)?.limits.tenant.files).toBe(20);
    expect(deployment.assignments.nextDue()).toBeNull();
  });

  it("of no known plan is refused, and a plan that a tenant has is not removed", async () => {
    const { deployment, assign } = givenDeployment();

    expect(await assign(TENANT, { plan: "none" })).toMatchObject({ ok: false, error: { code: "plan_not_found" } });
    await deploymentCalls.putPlan(deployment, ACT, files(10));
    await assign(TENANT, { plan: "starter" });
    expect(await deploymentCalls.deletePlan(deployment, ACT, "starter", undefined)).toEqual({
      ok: false,
      error: { code: "plan_in_use", tenants: 1 },
    });
    await assign(TENANT, { plan: null });
    expect(await deploymentCalls.deletePlan(deployment, ACT, "starter", undefined)).toEqual({ ok: true, value: null });
  });

  it("that moves to an older plan is told a higher revision", async () => {
    const { deployment, kept, assign } = givenDeployment();
    await deploymentCalls.putPlan(deployment, ACT, { ...files(1), name: "old" });
    await deploymentCalls.putPlan(deployment, ACT, files(10));
    await assign(TENANT, { plan: "starter" });
    const before = kept.get(TENANT)?.revision ?? 0;

    await assign(TENANT, { plan: "old" });

    expect(kept.get(TENANT)?.revision).toBeGreaterThan(before);
    expect(kept.get(TENANT)?.limits.tenant.files).toBe(1);
  });
});

describe("a tenant that is out of reach", () => {
  it("stays in the list, and is told later and later until it confirms", async () => {
    const { deployment, kept, world, alarms, assign } = givenDeployment();
    world.isDown = true;

    expect(await assign(TENANT, { limits: { tenant: { files: 3 } } })).toMatchObject({ ok: true, value: { confirmed: false } });
    const waits: number[] = [];
    for (let n = 0; n < 4; n++) {
      const due = deployment.assignments.nextDue() ?? 0;
      waits.push(due);
      world.at = due;
      await deployment.pushes.run();
    }
    const gaps = waits.slice(1).map((due, n) => due - (waits[n] ?? 0));
    expect(gaps).toEqual([10_000, 20_000, 40_000]);
    expect(alarms.at(-1)).toBe(deployment.assignments.nextDue());

    world.isDown = false;
    world.at = deployment.assignments.nextDue() ?? 0;
    await deployment.pushes.run();
    expect([kept.get(TENANT)?.limits.tenant.files, deployment.assignments.nextDue()]).toEqual([3, null]);
  });

  it("is told what is in effect when it comes back, not what was meant then", async () => {
    const { deployment, kept, world, assign } = givenDeployment();
    world.isDown = true;
    await assign(TENANT, { limits: { tenant: { files: 3 } } });
    await assign(TENANT, { limits: { tenant: { files: 4 } } });
    world.isDown = false;

    world.at = deployment.assignments.nextDue() ?? 0;
    await deployment.pushes.run();

    expect(kept.get(TENANT)?.limits.tenant.files).toBe(4);
  });
});

it("a plan of 10,000 tenants is told in parts, and each tenant once", async () => {
  const { deployment, kept, world } = givenDeployment();
  await deploymentCalls.putPlan(deployment, ACT, files(1));
  const tenants = Array.from({ length: 10_000 }, (_, n) => `ten_01JD8Z3V6Q4N7R2T5W9X0${String(n).padStart(5, "0")}` as TenantId);
  deployment.sql.transaction(() => {
    for (const tenant of tenants) deployment.assignments.change({ tenant, plan: "starter" }, { ...ACT, at: world.at });
    for (const tenant of tenants) deployment.assignments.forget(tenant);
  });

  await deploymentCalls.putPlan(deployment, ACT, files(2));
  world.at = Date.now() + 1_000;
  let parts = 0;
  for (; deployment.assignments.nextDue() !== null; parts++) await deployment.pushes.run();

  expect([parts, world.calls, kept.size]).toEqual([10_000 / PUSH_PART, 10_000, 10_000]);
  expect([...kept.values()].every(({ limits }) => limits.tenant.files === 2)).toBe(true);
});
