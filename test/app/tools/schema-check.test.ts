/** Validation by a JSON Schema, compared with a library that validates without a budget. */
import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeCall } from "../../../src/app/tools/judge-call";
import { boundsFault } from "../../../src/app/tools/schema-bounds";
import { checkSchema, OverBudget, StepBudget, UnusableSchema } from "../../../src/app/tools/schema-check";
import type { ToolDefinition } from "../../../src/domain/message";
import { HOSTILE, OUT_OF_BOUNDS, type Schema } from "./schemas";

const check = (schema: Schema, value: unknown): readonly string[] => checkSchema(schema, value, new StepBudget());

/** The number of validation steps, whatever the result. */
function countSteps(schema: Schema, value: unknown): number {
  let steps = 0;
  class Counted extends StepBudget {
    override spend(taken: number): void {
      steps += taken;
      super.spend(taken);
    }
  }
  try {
    checkSchema(schema, value, new Counted());
  } catch (error) {
    if (!(error instanceof OverBudget || error instanceof UnusableSchema || error instanceof RangeError)) throw error;
  }
  return steps;
}

describe("a schema that makes work", () => {
  test.each(OUT_OF_BOUNDS)("is out of bounds: %s", (_, schema, why) => {
    expect(boundsFault(schema)).toMatch(why);
  });

  test.each(HOSTILE)("is judged within the budget, and the call has an end: %s", (_, parameters, given) => {
    const client: ToolDefinition = { name: "t", parameters };
    const server: ToolDefinition = { name: "t", parameters, runs: { by: "http", tool: "t" } };

    expect(countSteps(parameters, JSON.parse(given))).toBeLessThan(600_000);
    expect(["client", "invalid"]).toContain(judgeCall({ name: "t", arguments: given }, [client]).kind);
    expect(["server", "invalid"]).toContain(judgeCall({ name: "t", arguments: given }, [server]).kind);
  });

  test("is the client's to judge by where the budget is spent, and keeps a tool that runs here from running", () => {
    const [, parameters, given] = HOSTILE.find(([name]) => name.startsWith("every item")) ?? HOSTILE[0] ?? ["", {}, ""];
    const call = { name: "t", arguments: given };

    expect(judgeCall(call, [{ name: "t", parameters }])).toEqual({ kind: "client" });
    expect(judgeCall(call, [{ name: "t", parameters, runs: { by: "http", tool: "t" } }])).toMatchObject({
      kind: "invalid",
      failure: "invalid_arguments",
      output: expect.stringContaining("too large to be checked"),
    });
  });

  test("shares its budget with the other calls of a reply", () => {
    const budget = new StepBudget(10_000);
    const tool: ToolDefinition = {
      name: "t",
      parameters: { type: "object", properties: { a: { items: { type: "number" } } } },
      runs: { by: "http", tool: "t" },
    };
    const call = { name: "t", arguments: JSON.stringify({ a: Array.from({ length: 400 }, () => 1) }) };
    const kinds = [1, 2, 3].map(() => judgeCall(call, [tool], budget).kind);

    expect(kinds).toEqual(["server", "server", "invalid"]);
  });

  test("takes steps in proportion to the arguments", () => {
    const parameters = { type: "object", properties: { a: { uniqueItems: true, items: { enum: [1, 2, 3] } } } };
    const stepsAt = (size: number): number => countSteps(parameters, { a: Array.from({ length: size }, () => 1) });

    expect(stepsAt(8_000) / stepsAt(500)).toBeLessThan(17);
  });
});

describe("what is left to the tool's runner is no fault", () => {
  test.each<[string, Schema, unknown]>([
    ["a pattern", { pattern: "^b" }, "a"],
    ["a pattern that must not match", { not: { pattern: "^b" } }, "a"],
    ["one of two patterns", { oneOf: [{ pattern: "^a" }, { pattern: "^b" }] }, "a"],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    ["a condition on a pattern", { if: { pattern: "^b" }, then: { maxLength: 0 }, else: { minLength: 1 } }, "a"],
    ["names that a pattern may match", { patternProperties: { "^x-": {} }, additionalProperties: false }, { "x-a": 1 }],
    ["names that another schema may know", { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }],
    ["a format", { format: "email" }, "nobody"],
  ])("%s", (_, schema, value) => {
    expect(check(schema, value)).toEqual([]);
  });

  test.each<[string, Schema, unknown]>([
    ["beside a pattern", { pattern: "^b", type: "string" }, 5],
    ["beside a name pattern", { patternProperties: { "^x-": {} }, properties: { a: { type: "string" } } }, { a: 1 }],
    [
      "where neither of two patterns can be right",
      {
        anyOf: [
          { type: "string", pattern: "^a" },
          { type: "null", pattern: "b" },
        ],
      },
      5,
    ],
  ])("and everything else is judged: %s", (_, schema, value) => {
    expect(check(schema, value)).not.toEqual([]);
  });
});

test.each<[string, Schema, unknown, string]>([
  ["a field that is missing", { required: ["city"] }, {}, "city: is required"],
  ["a field of the wrong type", { properties: { a: { type: ["string", "null"] } } }, { a: 5 }, "a: must be string or null, not number"],
  ["a value that is not listed", { properties: { a: { enum: ["x", 1] } } }, { a: 2 }, 'a: must be one of "x", 1'],
  ["an item", { properties: { a: { items: { minimum: 3 } } } }, { a: [5, 2] }, "a.1: must be 3 or more"],
  [
    "an anchor's schema",
    { $defs: { x: { $anchor: "n", type: "number" } }, properties: { a: { $ref: "#n" } } },
    { a: "" },
    "a: must be number, not string",
  ],
  [
    "an inner id's schema",
    { properties: { a: { $id: "T", type: "number" }, b: { $ref: "T" } } },
    { b: "" },
    "b: must be number, not string",
  ],
  ["the whole", { minProperties: 1 }, {}, "arguments: must have at least 1 properties"],
])("the model reads which field is wrong, and how: %s", (_, schema, value, said) => {
  expect(check(schema, value)).toEqual([said]);
});

test("a schema with thousands of values is not repeated to the model", () => {
  const said = check({ enum: Array.from({ length: 3_000 }, (_, n) => `value ${n}`) }, "x");

  expect(said.join("").length).toBeLessThan(1_200);
});

/** Schemas with the keywords that both validators know, over values of few shapes, so that values often match. */
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<unknown>(null, true, 0, 1, 2, 2.5, "", "a", "bb", "😀"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
  ),
})).value;
const schemas: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2, depthSize: "small", withCrossShrink: true },
    fc.record(
      {
        type: fc.constantFrom("string", "number", "integer", "object", "array", "null", "boolean", ["string", "object"]),
        enum: fc.array(values, { minLength: 1, maxLength: 3 }),
        const: values,
        minimum: fc.integer({ min: 0, max: 3 }),
        exclusiveMaximum: fc.integer({ min: 0, max: 3 }),
        multipleOf: fc.constantFrom(1, 2, 0.5),
        minLength: fc.integer({ min: 0, max: 2 }),
        maxLength: fc.integer({ min: 0, max: 2 }),
        required: fc.array(fc.constantFrom("a", "b"), { maxLength: 2 }),
        maxProperties: fc.integer({ min: 0, max: 2 }),
        minItems: fc.integer({ min: 0, max: 2 }),
        uniqueItems: fc.boolean(),
        $ref: fc.constant("#/$defs/x"),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { maxKeys: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
        propertyNames: fc.record({ maxLength: fc.constant(0) }),
        dependentRequired: fc.constant({ a: ["b"] }),
        dependentSchemas: fc.record({ a: tie("schema") }),
        items: tie("schema"),
        prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        contains: tie("schema"),
        minContains: fc.integer({ min: 0, max: 2 }),
        maxContains: fc.integer({ min: 0, max: 2 }),
        allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        not: tie("schema"),
        if: tie("schema"),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: tie("schema"),
        else: tie("schema"),
      },
      { requiredKeys: [] },
    ),
  ),
})).schema;

test("where the library judges as well, both agree", () => {
  fc.assert(
    fc.property(schemas, values, fc.constantFrom({ type: "string" }, { required: ["a"] }, { minimum: 1 }, {}), (inner, value, x) => {
      const schema = { $defs: { x }, allOf: [inner] } as Schema;
      const { valid } = new Validator(structuredClone(schema), "2020-12", false).validate(value as object);
      expect(check(schema, value).length === 0).toBe(valid);
    }),
    { numRuns: 300, seed: 14 },
  );
});
