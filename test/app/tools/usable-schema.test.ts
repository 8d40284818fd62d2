import { describe, expect, it } from "vitest";
import { schemaFault } from "../../../src/app/tools/usable-schema";

describe("a schema of arguments", () => {
  it.each<[string, Record<string, unknown>]>([
    ["empty", {}],
    ["with properties", { type: "object", properties: { city: { type: "string", pattern: "^[A-Z]" } }, required: ["city"] }],
    ["with definitions", { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } }],
    ["that refers to itself", { type: "object", properties: { child: { $ref: "#" } } }],
    ["with words of its own", { type: "object", "x-order": ["a"], properties: { a: { examples: [{}], title: "A" } } }],
  ])("can be used: %s", (_, schema) => {
    const before = structuredClone(schema);

    expect(schemaFault(schema)).toBeNull();
    expect(schema).toEqual(before);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ["with a reference that leads nowhere", { type: "object", properties: { a: { $ref: "#/$defs/gone" } } }, /cannot be resolved/],
    [
      "with a reference elsewhere",
      { type: "object", properties: { a: { $ref: "https://example.com/schema.json" } } },
      /cannot be resolved/,
    ],
    ["with a pattern that is none", { type: "object", properties: { a: { pattern: "(" } } }, /pattern/],
    ["with a name pattern that is none", { type: "object", patternProperties: { "[": {} } }, /pattern/],
    ["with the same id twice", { type: "object", properties: { a: { $id: "http://x/1" }, b: { $id: "http://x/1" } } }, /\$id/],
  ])("cannot be used: %s", (_, schema, fault) => {
    expect(schemaFault(schema)).toMatch(fault);
  });
});
