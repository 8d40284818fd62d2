/** What is found in a JSON text before it is parsed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJsonFault, MAX_DEPTH, MAX_VALUES } from "../../src/http/json-check";
import { world } from "./support";

const detail = (json: string): string | null => findJsonFault(json)?.detail ?? null;
const nest = (levels: number, open = "[", close = "]"): string => open.repeat(levels) + close.repeat(levels);

describe("before it is parsed, a text", () => {
  it.each([
    ["lists", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("of nested %s may have so many levels and no more", (_, open, close) => {
    expect(detail(`${open.repeat(MAX_DEPTH)}1${close.repeat(MAX_DEPTH)}`)).toBeNull();
    expect(detail(`${open.repeat(MAX_DEPTH + 1)}1${close.repeat(MAX_DEPTH + 1)}`)).toBe("nested deeper than 64 levels");
  });

  it("that is nested too deep is refused although it is no JSON and never ends", () => {
    expect(detail("[".repeat(8 * 1_048_576))).toBe("nested deeper than 64 levels");
  });

  it.each([
    ["values of a list", (n: number) => `[${"0,".repeat(n - 1)}0]`, 1],
    ["members of an object", (n: number) => `{${'"a":0,'.repeat(n - 1)}"a":0}`, 1],
    ["empty lists", (n: number) => `[${"[],".repeat(n / 2 - 1)}[]]`, 1],
  ])("has at most so many %s", (_, make, more) => {
    expect(detail(make(MAX_VALUES - more))).toBeNull();
    expect(detail(make(MAX_VALUES + 2))).toBe("has more than 500000 values");
  });

  it.each(["1e309", "-1e309", "1E+400", "9".repeat(310), `[${"9".repeat(400)}]`, '{"a":{"b":[1,2e999]}}', "1.5e1000"])(
    "with the number %s is refused: it would be read as infinite, and stored as null",
    (json) => {
      expect(detail(json)).toBe("has a number that is too large");
    },
  );

  it.each([
    "1e308",
    "-1.7976931348623157e308",
    "1e-999",
    "0e999",
    "9".repeat(308),
    "9007199254740993",
    "[1,-2,3.5,4e5]",
    '"1e999"',
    '{"1e999":1}',
  ])("with %s is not", (json) => {
    expect(detail(json)).toBeNull();
  });

  it.each([
    ['"[[["', null],
    [`"${"\\\\".repeat(3)}"`, null],
    [`["\\"${"[".repeat(100)}"]`, null],
    [`["\\\\",${nest(70)}]`, "nested deeper than 64 levels"],
    [`["\\\\\\"",${nest(70)}]`, "nested deeper than 64 levels"],
    ['"unfinished', null],
    ['"\\', null],
  ])("has its brackets counted outside of strings: %j", (json, expected) => {
    // The last texts are no JSON: parsing says so.
    expect(detail(json)).toBe(expected);
  });

  it("is taken whatever JSON it is, within the limits", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, stringUnit: "binary" }), (json) => {
        fc.pre(!json.includes("__proto__") && !/\\u[dD]/.test(json));
        expect(detail(json)).toBeNull();
      }),
    );
  });

  it("has any text in its strings, and what stands behind them is counted", () => {
    const signs = fc.string({ unit: fc.constantFrom("[", "{", "]", ",", '"', "\\", "\n", "9e999", "é", "x") });
    fc.assert(
      fc.property(signs, signs, (key, text) => {
        expect(detail(JSON.stringify({ [key]: text }))).toBeNull();
        expect(detail(`[${JSON.stringify({ [key]: text })},${nest(MAX_DEPTH)}]`)).toBe("nested deeper than 64 levels");
        expect(detail(`[${JSON.stringify({ [key]: text })},1e999]`)).toBe("has a number that is too large");
      }),
    );
  });
});

describe("a name that an object has twice", () => {
  it("has the last of its values, as JSON.parse has it", async () => {
    const { call, asked } = world();
    const refused = await call("POST", "/v1/sessions", { body: '{"title":"ok","title":7}' });
    await call("POST", "/v1/sessions", { body: '{"title":7,"title":"ok"}' });

    expect([refused.status, asked.sessions.length]).toEqual([400, 1]);
  });
});
