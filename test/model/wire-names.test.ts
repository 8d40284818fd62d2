import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toWireName, WireIds } from "../../src/model/wire-names";

const FITS = /^[a-zA-Z0-9_-]{1,64}$/;

describe("ids and names on the wire", () => {
  it("fit whatever they were, and those that fit stay as they are", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 100 }), (written) => {
        const id = new WireIds().call(written, "lookup");
        expect(id).toMatch(FITS);
        expect(toWireName(written)).toMatch(FITS);
        if (FITS.test(written)) expect([id, toWireName(written)]).toEqual([written, written]);
      }),
    );
  });

  it("are each the only one of their request, however many share what they were", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "a_2", "a_3", "a:2", "x".repeat(70), "x".repeat(80), ""), { maxLength: 40 }), (written) => {
        const ids = new WireIds(40);
        const calls = written.map((id) => ids.call(id, "lookup"));
        expect(new Set(calls).size).toBe(calls.length);
        expect(Math.max(0, ...calls.map((id) => id.length))).toBeLessThanOrEqual(40);
      }),
    );
  });

  it("of earlier items do not change when more follow", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "a_2", "a:2", "b"), { maxLength: 20 }), (written) => {
        const readIds = (some: readonly string[]) => {
          const ids = new WireIds();
          return some.map((id) => ids.call(id, "lookup"));
        };
        const all = readIds(written);
        expect(readIds(written.slice(0, -1))).toEqual(all.slice(0, Math.max(0, written.length - 1)));
      }),
    );
  });

  it("of a result are those of its call, in its own response, by order where several share an id", () => {
    const ids = new WireIds();
    ids.startResponse();
    expect([ids.call("c", "one"), ids.call("c", "two")]).toEqual(["c", "c_2"]);
    expect([ids.answered("c", "?"), ids.answered("c", "?")]).toEqual([
      { id: "c", name: "one" },
      { id: "c_2", name: "two" },
    ]);
    ids.startResponse();
    expect(ids.call("c", "three")).toBe("c_3");
    expect(ids.answered("c", "?")).toEqual({ id: "c_3", name: "three" });
  });
});
