/** The seal of what a client keeps: only this deployment writes it, and only for one tenant. */
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { parseId, type TenantId } from "../../src/domain/ids";
import type { Peppers } from "../../src/lib/peppers";
import { createCompactionSealer } from "../../src/tenant/credentials/compaction-sealer";
import { drawn } from "../support/effort";

function makeTenant(end: string): TenantId {
  const id = parseId("ten", `ten_01JD8Z3V6Q4N7R2T5W9X0Y1A${end}`);
  if (!id) throw new Error(end);
  return id;
}
const [TENANT, OTHER] = [makeTenant("2B"), makeTenant("2C")];
const PEPPER = "a-pepper-for-tests-only";
const only = (current: string): Peppers => ({ current, previous: null });
const sealer = createCompactionSealer(only(PEPPER), () => 0);
const texts = fc.string({ unit: "grapheme", maxLength: 400 });
const run = { seed: inject("seed"), numRuns: drawn(100) };

describe("a seal", () => {
  it("opens for its tenant in any isolate of the deployment, and says nothing of its text", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const sealed = await sealer.seal(TENANT, text);
        expect(sealed).toMatch(/^lhc1_[\w-]+$/);
        expect(await createCompactionSealer(only(PEPPER), () => 0).open(TENANT, sealed)).toBe(text);
      }),
      run,
    );
    expect(await sealer.seal(TENANT, "雷克斯")).not.toBe(await sealer.seal(TENANT, "雷克斯"));
  });

  it("does not open for another tenant, or for another deployment", async () => {
    for (const sealed of [await sealer.seal(TENANT, "a summary"), await sealer.sealAlike(TENANT, "a summary")]) {
      expect(await sealer.open(OTHER, sealed)).toBeNull();
      expect(await createCompactionSealer(only("another-pepper-of-tests"), () => 0).open(TENANT, sealed)).toBeNull();
    }
  });

  it("that is made alike is the same each time, for one text and one tenant alone", async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, async (text, other) => {
        const sealed = await sealer.sealAlike(TENANT, text);
        expect(sealed).toMatch(/^lhr1_[\w-]+$/);
        expect(await createCompactionSealer(only(PEPPER), () => 0).sealAlike(TENANT, text)).toBe(sealed);
        expect(await sealer.open(TENANT, sealed)).toBe(text);
        expect((await sealer.sealAlike(TENANT, other)) === sealed).toBe(other === text);
        // The nonce is of the text and the tenant: none serves two.
        const nonce = (all: string) => all.slice("lhr1_".length, "lhr1_".length + 16);
        expect(nonce(await sealer.sealAlike(TENANT, `${text}.`))).not.toBe(nonce(sealed));
        expect(nonce(await sealer.sealAlike(OTHER, text))).not.toBe(nonce(sealed));
      }),
      run,
    );
  });

  it("does not open as one of the other form", async () => {
    for (const sealed of [await sealer.seal(TENANT, "a"), await sealer.sealAlike(TENANT, "a")]) {
      const [form, rest] = [sealed.slice(0, 5), sealed.slice(5)];
      expect(await sealer.open(TENANT, (form === "lhc1_" ? "lhr1_" : "lhc1_") + rest)).toBeNull();
    }
  });

  it.each(["seal", "sealAlike"] as const)(
    "from before a rotation opens until the end of the previous pepper, and new ones are made under the new one: %s",
    async (make) => {
      const clock = { now: 999 };
      const peppers = { current: "another-pepper-of-tests", previous: { pepper: PEPPER, until: 1_000 } };
      const rotating = createCompactionSealer(peppers, () => clock.now);
      const [old, young] = [await sealer[make](TENANT, "old"), await rotating[make](TENANT, "new")];

      expect([await rotating.open(TENANT, old), await rotating.open(TENANT, young)]).toEqual(["old", "new"]);
      expect(await sealer.open(TENANT, young)).toBeNull();
      clock.now = 1_000;
      expect([await rotating.open(TENANT, old), await rotating.open(TENANT, young)]).toEqual([null, "new"]);
    },
  );

  it("does not open once a character of it was changed, added, removed or moved", async () => {
    const sealed = await sealer.seal(TENANT, "The user's dog is called Rex.");
    const places = fc.nat(sealed.length - 1);
    const changed = fc.oneof(
      fc.tuple(places, fc.constantFrom(..."AZaz09-_=+/ é")).map(([at, to]) => sealed.slice(0, at) + to + sealed.slice(at + 1)),
      fc.tuple(places, fc.string({ minLength: 1, maxLength: 9 })).map(([at, more]) => sealed.slice(0, at) + more + sealed.slice(at)),
      fc.tuple(places, fc.integer({ min: 1, max: 40 })).map(([at, count]) => sealed.slice(0, at) + sealed.slice(at + count)),
      fc.tuple(places, places).map(([from, to]) => sealed.slice(from) + sealed.slice(0, to)),
    );
    await fc.assert(
      fc.asyncProperty(
        changed.filter((text) => text !== sealed),
        async (text) => {
          expect(await sealer.open(TENANT, text)).toBeNull();
        },
      ),
      { ...run, numRuns: drawn(500) },
    );
  });

  it("is no text that a client makes up", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.base64String().map((text) => `lhc1_${text}`),
        ),
        async (text) => {
          expect(await sealer.open(TENANT, text)).toBeNull();
        },
      ),
      run,
    );
  });

  it("holds what does not fit into one call of the platform's text functions", async () => {
    const long = "狗".repeat(700_000);
    expect(await sealer.open(TENANT, await sealer.seal(TENANT, long))).toBe(long);
  });
});
