import { describe, expect, it } from "vitest";
import { z } from "zod";
import "../../src/lib/plain-issues";

const say = (schema: z.ZodType, value: unknown): string | undefined => schema.safeParse(value).error?.issues[0]?.message;

describe("what is wrong with a value is said in plain words", () => {
  it.each([
    ["a missing value", z.object({ a: z.number() }), {}, "required"],
    ["a missing choice", z.object({ a: z.union([z.string(), z.number()]) }), {}, "required"],
    ["another type", z.string(), 5, "must be a string"],
    ["a number that is none", z.number(), Number.NaN, "must be a number"],
    ["a fraction", z.int(), 1.5, "must be a whole number"],
    ["no object", z.object({}), [], "must be an object"],
    ["no list", z.array(z.string()), "x", "must be a list"],
    ["a number too large", z.number().max(2), 9, "must be at most 2"],
    ["a number too small", z.number().gt(0), 0, "must be more than 0"],
    ["a text too long", z.string().max(3), "long", "must have at most 3 characters"],
    ["a text too short", z.string().min(2), "x", "must have at least 2 characters"],
    ["an empty text", z.string().min(1), "", "must not be empty"],
    ["a list too long", z.array(z.int()).max(1), [1, 2], "must have at most 1 entry"],
    ["a list of another length", z.array(z.int()).length(2), [1], "must have exactly 2 entries"],
    ["another constant", z.literal("user"), "root", "must be user"],
    ["another choice", z.enum(["asc", "desc"]), "up", "must be one of asc, desc"],
    ["no URL", z.url(), "x", "must be a URL"],
    ["an unknown field", z.strictObject({}), { a: 1 }, "unknown field a"],
    ["a name that is not allowed", z.record(z.string().max(1), z.string()), { ab: "" }, "has a name that is not allowed"],
    ["no form of several", z.union([z.string(), z.number()]), true, "has none of the forms that are allowed here"],
    ["a schema's own words", z.string().regex(/^a/, "must begin with a"), "b", "must begin with a"],
  ] as const)("%s", (_, schema, value, words) => {
    expect(say(schema, value)).toBe(words);
  });

  it("never repeats the value", () => {
    const secret = "hunter2";
    for (const schema of [z.number(), z.enum(["a"]), z.literal(1), z.string().max(1), z.url(), z.array(z.int())]) {
      expect(say(schema, secret)).not.toContain(secret);
    }
  });
});
