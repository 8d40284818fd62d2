/** Values that a schema of the OpenAPI document allows, drawn at random. */
import fc from "fast-check";
import type { Draw } from "./draw";

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly readOnly?: boolean;
}

/** What exists, so that requests reach what lies behind the first check. */
export interface Surroundings {
  /** The schema that a reference names. */
  resolve(ref: string): JsonSchema;
  /** An id that begins with this prefix: mostly of a thing that exists. */
  pickId(draw: Draw, prefix: string): string;
  /** A value for a field or parameter of this name. Undefined: its schema says enough. */
  pickNamed(draw: Draw, name: string): unknown;
}

/** Deeper values only have what they must have. */
const FULL_DEPTH = 5;
const ID_PATTERN = /^\^([a-z]{3})_\[/;
const TEXTS = [
  "Hello",
  "What is the weather in Lisbon?",
  "我的储物柜密码是 7719-B。",
  "مرحبا",
  "👩‍👩‍👧‍👦",
  "a".repeat(300),
  " ",
  "\n",
  "1",
  "null",
] as const;

export class ValueMaker {
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  make(draw: Draw, schema: JsonSchema, name = "", depth = 0): unknown {
    if (schema.$ref !== undefined) return this.make(draw, this.#around.resolve(schema.$ref), name, depth);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return draw.pickAny(schema.enum);
    const named = draw.chance(90) ? this.#around.pickNamed(draw, name) : undefined;
    if (named !== undefined) return named;
    const branch = draw.pickAny(schema.anyOf ?? schema.oneOf ?? []);
    if (branch) return this.make(draw, branch, name, depth);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.make(draw, part, name, depth)));
    return this.#ofType(draw, schema, name, depth);
  }

  #ofType(draw: Draw, schema: JsonSchema, name: string, depth: number): unknown {
    const types = schema.type === undefined ? [] : [schema.type].flat();
    switch (draw.pickAny(types)) {
      case "object":
        return this.#object(draw, schema, depth);
      case "array":
        return this.#array(draw, schema, name, depth);
      case "integer":
        return makeInteger(draw, schema);
      case "number":
        return makeNumber(draw, schema);
      case "boolean":
        return draw.chance(50);
      case "null":
        return null;
      case "string":
        return this.#text(draw, schema);
      default:
        return draw.pick<unknown>(["free", 7, null, true, { a: [1] }]);
    }
  }

  #object(draw: Draw, schema: JsonSchema, depth: number): unknown {
    const { properties = {}, required = [], additionalProperties } = schema;
    const optional = depth < FULL_DEPTH ? draw.pick([0, 10, 40] as const) : 0;
    const wanted = Object.entries(properties).filter(
      ([name, property]) => required.includes(name) || (property.readOnly !== true && draw.chance(optional)),
    );
    const made = wanted.map(([name, property]) => [name, this.make(draw, property, name, depth + 1)] as const);
    if (typeof additionalProperties !== "object" || draw.chance(50)) return Object.fromEntries(made);
    const free = Array.from({ length: draw.between(1, 3) }, (_, at) => [`key_${at}`, this.make(draw, additionalProperties, "", depth + 1)]);
    return Object.fromEntries([...made, ...free]);
  }

  #array(draw: Draw, { items = {}, minItems = 0, maxItems = 3 }: JsonSchema, name: string, depth: number): unknown[] {
    const length = Math.max(minItems, draw.between(0, Math.min(maxItems, depth < FULL_DEPTH ? 3 : 1)));
    return Array.from({ length }, () => this.make(draw, items, name, depth + 1));
  }

  #text(draw: Draw, { pattern, format, minLength = 0, maxLength = 1_000 }: JsonSchema): string {
    const prefix = pattern === undefined ? undefined : ID_PATTERN.exec(pattern)?.[1];
    if (prefix !== undefined) return this.#around.pickId(draw, prefix);
    if (pattern !== undefined) return matchPattern(draw, pattern).slice(0, maxLength);
    if (format === "uri") return "https://files.example/one.png";
    const text = draw.pick(TEXTS).slice(0, maxLength);
    return text.length >= minLength ? text : "x".repeat(minLength);
  }
}

function makeInteger(draw: Draw, { minimum, maximum }: JsonSchema): number {
  const least = minimum ?? 0;
  const most = maximum ?? least + 1_000;
  // Small numbers mean something more often than those in the middle of a large range.
  return draw.pick([least, most, draw.between(least, most), draw.between(least, Math.min(most, least + 20))]);
}

function makeNumber(draw: Draw, { minimum = 0, maximum = minimum + 100 }: JsonSchema): number {
  return draw.pick([minimum, maximum, minimum + ((maximum - minimum) * draw.between(0, 1_000)) / 1_000]);
}

/** Is in each class of characters by which a pattern excludes some. The library that makes texts for a pattern knows no such class. */
const WORD = "notes.txt";

function matchPattern(draw: Draw, pattern: string): string {
  const form = new RegExp(pattern, "u");
  const hasClass = pattern.includes(String.raw`\p{`);
  if (hasClass && !form.test(WORD)) throw new Error(`No text is known for the pattern ${pattern}`);
  if (hasClass) return WORD;
  const [text = ""] = fc.sample(fc.stringMatching(form), { seed: draw.between(0, 2 ** 31 - 1), numRuns: 1 });
  return text;
}
