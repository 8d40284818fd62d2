import { describe, expect, it } from "vitest";
import { type Condition, refuseUnmet, toEtag } from "../../src/app/conditions";

const NOW = '"a"';
const condition = (changes: Partial<Condition>): Condition => ({ match: null, none_match: null, ...changes });

describe("a condition", () => {
  it.each([
    ["none", undefined, NOW, true],
    ["none, and nothing is there", undefined, null, true],
    ["the resource's etag", condition({ match: [NOW] }), NOW, true],
    ["the resource's etag among others", condition({ match: ['"b"', NOW] }), NOW, true],
    ["another etag", condition({ match: ['"b"'] }), NOW, false],
    ["no strong etag at all", condition({ match: [] }), NOW, false],
    ["an etag, and nothing is there", condition({ match: [NOW] }), null, false],
    ["any state", condition({ match: "*" }), NOW, true],
    ["any state, and nothing is there", condition({ match: "*" }), null, false],
    ["create only", condition({ none_match: "*" }), null, true],
    ["create only, and something is there", condition({ none_match: "*" }), NOW, false],
    ["not this etag", condition({ none_match: [NOW] }), NOW, false],
    ["not that etag", condition({ none_match: ['"b"'] }), NOW, true],
    ["both, which contradict each other", condition({ match: "*", none_match: "*" }), NOW, false],
  ] as const)("%s", (_, asked, etag, isMet) => {
    expect(refuseUnmet(asked, etag)).toEqual(isMet ? null : { ok: false, error: { code: "precondition_failed", etag } });
  });
});

describe("an etag", () => {
  it("is the same for equal values, whatever the order of their properties", () => {
    expect(toEtag({ a: 1, b: { c: [1, 2], d: "猫" } })).toBe(toEtag({ b: { d: "猫", c: [1, 2] }, a: 1 }));
    expect(toEtag({ a: 1, b: undefined })).toBe(toEtag({ a: 1 }));
  });

  it("has the form of RFC 9110", () => {
    expect(toEtag({ a: "é" })).toMatch(/^"[0-9a-f]{16}"$/);
  });

  it("differs for values that differ in one place", () => {
    const values = [{}, { a: 1 }, { a: 2 }, { a: "1" }, { b: 1 }, { a: null }, { a: [1] }, { a: [1, 2] }, { a: [2, 1] }, { a: { a: 1 } }];
    const numbers = Array.from({ length: 20_000 }, (_, n) => ({ n }));
    const all = [...values, ...numbers].map(toEtag);

    expect(new Set(all).size).toBe(all.length);
    expect(new Set(all.map((etag) => etag.slice(1, 9))).size).toBeGreaterThan(all.length - 10);
    expect(new Set(all.map((etag) => etag.slice(9, 17))).size).toBeGreaterThan(all.length - 10);
  });
});
