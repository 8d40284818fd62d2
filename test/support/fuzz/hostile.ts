/** Changes that make a valid request nearly valid, or hostile. */
import type { Draw } from "./draw";

const nest = (levels: number): unknown => {
  let nested: unknown = 1;
  for (let level = 0; level < levels; level++) nested = level % 2 === 0 ? [nested] : { a: nested };
  return nested;
};

/** `JSON.parse` makes them fields of the object, as a client's text does. */
const PROTO: unknown = JSON.parse('{"__proto__": {"admin": true}}');
const CONSTRUCTOR: unknown = JSON.parse('{"constructor": {"prototype": {"admin": true}}}');

const VALUES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  "",
  " ",
  "x".repeat(70_000),
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00 after",
  "\u202e\ufeff\u2028",
  "你好，世界".repeat(200),
  "😀".repeat(500),
  "'; DROP TABLE messages; --",
  "../../etc/passwd",
  "$'<%[%\"}}%\\",
  "__proto__",
  "constructor",
  "NaN",
  [],
  {},
  [null],
  [[]],
  ["x", "x"],
  { a: 1 },
  PROTO,
  CONSTRUCTOR,
  nest(70),
  nest(1_000),
  Array.from({ length: 3_000 }, (_, at) => at),
];

/** Names of fields that no schema has. */
const NAMES = [
  "unknown",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "a.b",
  "名前",
  "\ud800",
  "\u0000",
  "ID",
  "0",
] as const;

type Container = Record<string, unknown> | unknown[];

/** Every object and list in the value. */
function listContainers(value: unknown, found: Container[] = []): Container[] {
  if (typeof value !== "object" || value === null) return found;
  found.push(Array.isArray(value) ? value : (value as Record<string, unknown>));
  for (const inner of Object.values(value)) listContainers(inner, found);
  return found;
}

const define = (object: Container, name: string, value: unknown): void => {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
};

function addField(draw: Draw, at: Container): void {
  if (Array.isArray(at)) at.push(draw.pick(VALUES));
  else define(at, draw.pick(NAMES), draw.pick(VALUES));
}

/** A copy of the JSON value with one change. */
export function spoilValue(draw: Draw, value: unknown): unknown {
  const copy: unknown = structuredClone(value);
  const at = draw.pickAny(listContainers(copy));
  const name = at && draw.pickAny(Object.keys(at));
  if (!at || draw.chance(5)) return draw.pick(VALUES);
  const kind = draw.between(1, 10);
  if (name === undefined || kind <= 3) addField(draw, at);
  else if (kind <= 5) Reflect.deleteProperty(at, name);
  else define(at, name, draw.pick(VALUES));
  return copy;
}

/** The text of a JSON body with one change that no value has: a field twice, an end that is missing, bytes that are not UTF-8. */
export function spoilText(draw: Draw, json: string): Uint8Array {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  const field = /^\{("(?:[^"\\]|\\.)*":)/.exec(json)?.[1];
  switch (draw.between(1, 7)) {
    case 1:
      return encode(json.slice(0, draw.between(0, json.length)));
    case 2:
      return encode(field === undefined ? `${json}${json}` : `{${field}"first",${json.slice(1)}`);
    case 3:
      return Uint8Array.from([...encode(json.slice(0, -1)), 0xff, 0xfe, ...encode(json.slice(-1))]);
    case 4:
      return encode(`\ufeff${json}`);
    case 5:
      return encode(`${"[".repeat(1_000)}${json}${"]".repeat(1_000)}`);
    case 6:
      return encode(json.replace(/\d+/, "1e999"));
    default:
      return encode(draw.pick(["", " ", "null", "[]", "{", "NaN", '"text"', "{'a':1}", "{}garbage", '{"a":1,}', '{"__proto__":{}}']));
  }
}

const CODED = [
  "%00",
  "%",
  "%ED%A0%80",
  "..%2F..",
  "%2e%2e",
  "__proto__",
  "constructor",
  "0",
  "-1",
  "1e309",
  "%E4%BD%A0%E5%A5%BD",
  "a%20b",
] as const;

/** A part of a path or query, as it stands in an address. */
export const hostilePart = (draw: Draw): string => (draw.chance(10) ? "x".repeat(6_000) : draw.pick(CODED));

/** The value of a header. What a client cannot send is not here. */
export const hostileHeader = (draw: Draw): string =>
  draw.pick([
    "",
    " ",
    "x".repeat(5_000),
    '"',
    "*",
    '"a", "b"',
    "-1",
    "99999999999999999999",
    "\u00e9",
    "a b",
    "{}",
    "respond-async, wait=5",
  ]);

export const WRONG_TYPES = ["text/plain", "application/xml", "multipart/form-data", "application/json; charset=latin1", ""] as const;
