import { describe, expect, it } from "vitest";
import { hashBeside, hashKey } from "../../src/lib/peppered";
import type { Peppers } from "../../src/lib/peppers";
import { generateApiKey, isGenuine, parseApiKey } from "../../src/tenant/keys/api-key";
import { makeId } from "./support";

const tenant = makeId("ten", 7);
const ulid = tenant.slice(4);
const secret = "a".repeat(54);
const PEPPER = "pepper-one";
const only = (pepper: string): Peppers => ({ current: pepper, previous: null });
const rotating = (until: number): Peppers => ({ current: "pepper-two", previous: { pepper: PEPPER, until } });

describe("the form of a key", () => {
  it("a generated key names its environment and its tenant", async () => {
    expect(parseApiKey(await generateApiKey({ env: "dev", tenant }, PEPPER))).toEqual({ env: "dev", tenant });
  });

  it("always has 54 characters of secret without an underscore, and never the same twice", async () => {
    const keys = await Promise.all(Array.from({ length: 500 }, () => generateApiKey({ env: "prod", tenant }, PEPPER)));
    for (const key of keys) expect(key).toMatch(/^lh_prod_[0-9A-Z]{26}_[0-9A-Za-z]{54}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each([
    ["nothing", ""],
    ["another prefix", `sk_dev_${ulid}_${secret}`],
    ["no environment", `lh__${ulid}_${secret}`],
    ["an environment in capitals", `lh_DEV_${ulid}_${secret}`],
    ["an environment that is too long", `lh_${"a".repeat(13)}_${ulid}_${secret}`],
    ["a tenant that is no ULID", `lh_dev_${"U".repeat(26)}_${secret}`],
    ["a tenant in lower case", `lh_dev_${ulid.toLowerCase()}_${secret}`],
    ["a short secret", `lh_dev_${ulid}_${"a".repeat(53)}`],
    ["a long secret", `lh_dev_${ulid}_${"a".repeat(55)}`],
    ["an underscore in the secret", `lh_dev_${ulid}_${"a".repeat(53)}_`],
    ["a line break at the end", `lh_dev_${ulid}_${secret}\n`],
    ["a space in front", ` lh_dev_${ulid}_${secret}`],
    ["a full-width letter", `lh_dev_${ulid}_${"a".repeat(53)}ａ`],
    ["a megabyte", `lh_dev_${ulid}_${"a".repeat(1_000_000)}`],
  ])("%s is not a key", (_, text) => {
    expect(parseApiKey(text)).toBeNull();
  });
});

describe("the checksum of a key", () => {
  it("holds for a key that the deployment made, and for none under another pepper", async () => {
    const key = await generateApiKey({ env: "dev", tenant }, PEPPER);
    expect(await isGenuine(key, only(PEPPER))).toBe(true);
    expect(await isGenuine(key, only("pepper-two"))).toBe(false);
  });

  it("depends on every character of the key", async () => {
    const key = await generateApiKey({ env: "dev", tenant }, PEPPER);
    const changed = [...key].map((char, at) => key.slice(0, at) + (char === "x" ? "y" : "x") + key.slice(at + 1));
    expect(await Promise.all(changed.map((each) => isGenuine(each, only(PEPPER))))).toEqual(changed.map(() => false));
  });
});

describe("a key from before a rotation", () => {
  it("is genuine while the previous pepper is configured, also after its end", async () => {
    const key = await generateApiKey({ env: "dev", tenant }, PEPPER);

    expect(await isGenuine(key, rotating(1_000))).toBe(true);
    expect(await isGenuine(key, only("pepper-two"))).toBe(false);
    expect(await isGenuine(key, { current: "pepper-two", previous: { pepper: "pepper-three", until: 1_000 } })).toBe(false);
  });

  it("has its former hash until the end, and not at it", async () => {
    const key = await generateApiKey({ env: "dev", tenant }, PEPPER);

    expect(await hashBeside(key, rotating(1_000), 999)).toBe(await hashKey(key, PEPPER));
    expect(await hashBeside(key, rotating(1_000), 1_000)).toBeNull();
    expect(await hashBeside(key, only(PEPPER), 0)).toBeNull();
  });
});

describe("the hash of a key", () => {
  it("is HMAC-SHA-256 in hex (RFC 4231, test case 2)", async () => {
    const hash = await hashKey("what do ya want for nothing?", "Jefe");
    expect(hash).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  });

  it("depends on every character of the key and on the pepper", async () => {
    const key = await generateApiKey({ env: "dev", tenant }, PEPPER);
    const hashes = await Promise.all([hashKey(key, "pepper-one"), hashKey(key, "pepper-two"), hashKey(`${key}0`, "pepper-one")]);
    expect(new Set(hashes).size).toBe(3);
  });
});
