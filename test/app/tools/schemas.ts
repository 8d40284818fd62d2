/** Small schemas whose validation would take unbounded work. */

export type Schema = Readonly<Record<string, unknown>>;

const LEVELS = 40;
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const chain = (levels: number, link: (next: string) => Schema): Schema => ({
  type: "object",
  $defs: Object.fromEntries([
    ...range(levels).map((level) => [`d${level}`, link(`#/$defs/d${level + 1}`)]),
    [`d${levels}`, { type: "object" }],
  ]),
  $ref: "#/$defs/d0",
});
const nest = (levels: number, around: (inner: Schema, level: number) => Schema): Schema =>
  range(levels).reduce<Schema>((inner, level) => around(inner, level), { type: "object" });

/** Schemas that are refused when they are set, each with a part of the reason. */
export const OUT_OF_BOUNDS: readonly (readonly [name: string, schema: Schema, why: RegExp])[] = [
  ["references that double at each level", chain(LEVELS, (next) => ({ allOf: [{ $ref: next }, { $ref: next }] })), /written out/],
  [
    "references that double at each property",
    chain(LEVELS, (next) => ({ properties: { a: { $ref: next }, b: { $ref: next } } })),
    /written out/,
  ],
  ["a reference to itself", { type: "object", $ref: "#" }, /circular/],
  ["a circle of references", chain(2, (next) => ({ $ref: next.replace("d2", "d0") })), /circular/],
  ["a circle under anyOf, found after one through a property", circleBehindProperty(), /circular/],
  ["too deep nesting", nest(60, (inner) => ({ not: inner })), /levels/],
  ["too many characters", { type: "object", description: "x".repeat(40_000) }, /32768 characters/],
  ["too many schemas", { type: "object", anyOf: range(4_100).map(() => ({})) }, /4000 objects/],
  [
    "too many references",
    { type: "object", $defs: { a: {} }, properties: Object.fromEntries(range(501).map((n) => [`p${n}`, { $ref: "#/$defs/a" }])) },
    /500 references/,
  ],
];

function circleBehindProperty(): Schema {
  const $defs = {
    one: { properties: { a: { $ref: "#/$defs/two" } }, anyOf: [{ $ref: "#/$defs/two" }] },
    two: { anyOf: [{ $ref: "#/$defs/one" }] },
  };
  return { type: "object", $defs, $ref: "#/$defs/one" };
}

const name = { type: "object", properties: { name: { type: "string" } } };

/** Schemas within or beyond the bounds, each with arguments that would take long to validate. */
export const HOSTILE: readonly (readonly [name: string, schema: Schema, given: string])[] = (
  [
    ...OUT_OF_BOUNDS.map(([title, schema]) => [title, schema, { a: { a: { a: {} } } }] as const),
    ["a pattern that backtracks", { type: "object", properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(64)}!` }],
    ["a name pattern that backtracks", { type: "object", patternProperties: { "^(a+)+$": {} } }, { [`${"a".repeat(64)}!`]: 1 }],
    ["a format that backtracks", { type: "object", properties: { a: { format: "url" } } }, { a: `http://${"a".repeat(64)}!` }],
    ["ids at each level", nest(20, (inner, level) => ({ $id: `http://x/${level}`, not: inner })), {}],
    [
      "a recursion that doubles at each level of the arguments",
      {
        type: "object",
        anyOf: [
          { properties: { a: { $ref: "#" } }, required: ["z"] },
          { properties: { a: { $ref: "#" } }, required: ["z"] },
        ],
      },
      range(60).reduce<unknown>((inner) => ({ a: inner }), {}),
    ],
    [
      "every item against many schemas",
      { type: "object", properties: { a: { items: { anyOf: range(1_000).map((n) => ({ const: n })) } } } },
      { a: range(50_000).map(() => 999) },
    ],
    [
      "unique items that are objects",
      { type: "object", properties: { a: { uniqueItems: true } } },
      { a: range(20_000).map((n) => ({ n, same: [1, 2, 3] })) },
    ],
    [
      "many values to compare with wide arguments",
      { type: "object", properties: { a: { enum: range(3_000).map((n) => ({ n })) } } },
      { a: Object.fromEntries(range(50_000).map((n) => [`k${n}`, n])) },
    ],
    [
      "contains",
      { type: "object", properties: { a: { contains: { contains: { const: 1 } } } } },
      { a: range(1_000).map(() => range(400)) },
    ],
    [
      "long text, measured often",
      { type: "object", properties: { a: { allOf: range(1_500).map(() => ({ maxLength: 9e9 })) } } },
      { a: "x".repeat(400_000) },
    ],
    ["many faults", { type: "object", properties: { a: { items: name } } }, { a: range(100_000).map(() => ({ name: 1 })) }],
  ] as const satisfies readonly (readonly [string, Schema, unknown])[]
)
  .map(([title, schema, given]) => [title, schema, JSON.stringify(given)] as const)
  .concat([["deep arguments", { type: "object", properties: { a: { const: [[]] } } }, `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`]]);
