import { describe, expect, it } from "vitest";
import { generateAdminKey, isAdminKeyShaped, isGenuineAdminKey } from "../../src/deployment/admin-key";
import { parseId } from "../../src/domain/ids";
import { generateApiKey, parseApiKey } from "../../src/tenant/keys/api-key";

const PEPPER = "a-pepper-for-tests-only";
const here = { current: PEPPER, previous: null };

describe("an admin key", () => {
  it("names its environment, and only the deployment that made it finds it genuine", async () => {
    const key = await generateAdminKey("dev", PEPPER);

    expect(key).toMatch(/^lhadm_dev_[0-9A-Za-z]{54}$/);
    expect(isAdminKeyShaped(key)).toBe(true);
    expect(await isGenuineAdminKey(key, here)).toBe(true);
    expect(await isGenuineAdminKey(key, { ...here, current: "another pepper" })).toBe(false);
  });

  it("is genuine beside a new pepper, for as long as its own is configured", async () => {
    const key = await generateAdminKey("dev", PEPPER);

    expect(await isGenuineAdminKey(key, { current: "another pepper", previous: { pepper: PEPPER, until: 0 } })).toBe(true);
  });

  it("is another one each time", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => generateAdminKey("dev", PEPPER)));

    expect(new Set(made).size).toBe(20);
  });

  it("with any one character changed is not genuine", async () => {
    const key = await generateAdminKey("dev", PEPPER);
    const start = "lhadm_dev_".length;

    for (let at = start; at < key.length; at++) {
      const changed = key.slice(0, at) + (key[at] === "a" ? "b" : "a") + key.slice(at + 1);
      expect([at, await isGenuineAdminKey(changed, here)]).toEqual([at, false]);
    }
  });

  it("is no key of a tenant, and the other way round", async () => {
    const tenant = parseId("ten", "ten_01JD8Z3V6Q4N7R2T5W9X0Y1A01");
    if (!tenant) throw new Error("no id");
    const apiKey = await generateApiKey({ env: "dev", tenant }, PEPPER);

    expect(isAdminKeyShaped(apiKey)).toBe(false);
    expect(parseApiKey(await generateAdminKey("dev", PEPPER))).toBeNull();
    // The checksum of one kind is none of the other's.
    expect(await isGenuineAdminKey(apiKey, here)).toBe(false);
  });

  it.each(["", "lhadm_dev_", "lhadm__", `lhadm_dev_${"a".repeat(53)}`, `lhadm_dev_${"a".repeat(55)}`, `lhadm_DEV_${"a".repeat(54)}`])(
    "%j has not the form of one",
    (text) => {
      expect(isAdminKeyShaped(text)).toBe(false);
    },
  );
});
