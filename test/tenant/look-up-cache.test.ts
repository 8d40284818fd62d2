import { expect, it } from "vitest";
import { noteChange, readGeneration } from "../../src/tenant/changes";
import { createLookUpCache } from "../../src/tenant/look-up-cache";
import { createTestClock } from "./support";

it("a cached value is read again once the isolate learned of a change", async () => {
  let value = "old";
  const tenant = "ten_heard";
  const find = createLookUpCache({ ask: async () => value, now: createTestClock().now, generation: () => readGeneration(tenant) });
  expect(await find("key")).toBe("old");
  value = "new";
  expect(await find("key")).toBe("old");

  noteChange("ten_another");
  expect(await find("key")).toBe("old");
  noteChange(tenant);
  expect(await find("key")).toBe("new");
});

it("the last known value is used while the tenant's object is unavailable, even after a change", async () => {
  let isAway = false;
  const tenant = "ten_away";
  const ask = async () => (isAway ? Promise.reject(new Error("away")) : "known");
  const find = createLookUpCache({ ask, now: createTestClock().now, generation: () => readGeneration(tenant) });
  await find("key");
  isAway = true;
  noteChange(tenant);
  expect(await find("key")).toBe("known");
});

it("a change is noticed however many other tenants change", () => {
  const tenant = "ten_first";
  const before = readGeneration(tenant);
  noteChange(tenant);
  for (let n = 0; n < 10_001; n++) noteChange(`ten_${n}`);
  expect(readGeneration(tenant)).toBeGreaterThan(before);
});
