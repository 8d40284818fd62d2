import { describe, expect, it } from "vitest";
import { toEtag } from "../../src/app/conditions";
import type { PlanChange } from "../../src/app/deployment-api";
import { NO_LIMITS } from "../../src/contract/limits";
import { MAX_PLANS } from "../../src/deployment/tenant-plans";
import { ACT } from "../support/act";
import { openForTest } from "./support";

const STARTER: PlanChange = { name: "starter", limits: { ...NO_LIMITS, tenant: { files: 10 } }, budgets: [] };
const LARGE: PlanChange = { ...STARTER, limits: { ...NO_LIMITS, tenant: { files: null } } };

const at = (time: number) => ({ actor: ACT.actor, request_id: null, at: time });
const givenPlans = () => openForTest().plans;

describe("a tenant plan", () => {
  it("keeps its time of creation, and gets a higher version with each change", () => {
    const plans = givenPlans();

    const first = plans.put(STARTER, at(1));
    const other = plans.put({ ...LARGE, name: "large" }, at(2));
    const changed = plans.put(LARGE, at(3));

    expect(first).toEqual({ ok: true, value: { ...STARTER, version: 1, created_at: 1, updated_at: 1 } });
    expect(other).toMatchObject({ value: { version: 2 } });
    expect(changed).toEqual({ ok: true, value: { ...LARGE, version: 3, created_at: 1, updated_at: 3 } });
    expect(plans.list().map(({ name }) => name)).toEqual(["large", "starter"]);
  });

  it("that says the same already keeps its version", () => {
    const plans = givenPlans();
    plans.put(STARTER, at(1));

    expect(plans.put(STARTER, at(2))).toMatchObject({ value: { version: 1, updated_at: 1 } });
  });

  it("is changed and removed only under the etag that the request names", () => {
    const plans = givenPlans();
    const made = plans.put(STARTER, at(1));
    const read = made.ok ? toEtag(made.value) : "";
    plans.put(LARGE, at(2));
    const condition = { match: [read], none_match: null };
    const refused = { ok: false, error: { code: "precondition_failed" } };

    expect(plans.put({ ...STARTER, condition }, at(3))).toMatchObject(refused);
    expect(plans.put({ ...STARTER, condition: { match: null, none_match: "*" } }, at(3))).toMatchObject(refused);
    expect(plans.remove("starter", condition)).toMatchObject(refused);
    expect(plans.find("starter")).toMatchObject({ value: LARGE });
  });

  it("that was removed is unknown", () => {
    const plans = givenPlans();
    plans.put(STARTER, at(1));
    const unknown = { ok: false, error: { code: "plan_not_found", plan: "starter" } };

    expect(plans.remove("starter")).toEqual({ ok: true, value: null });

    expect([plans.find("starter"), plans.remove("starter")]).toEqual([unknown, unknown]);
  });

  it("beyond the most is refused, and one that exists is still changed", () => {
    const plans = givenPlans();
    for (let n = 0; n < MAX_PLANS; n++) plans.put({ ...STARTER, name: `plan-${n}` }, at(n));

    expect(plans.put(STARTER, at(1))).toEqual({ ok: false, error: { code: "plan_limit", limit: MAX_PLANS } });
    expect(plans.put({ ...LARGE, name: "plan-0" }, at(1))).toMatchObject({ ok: true });
  });
});
