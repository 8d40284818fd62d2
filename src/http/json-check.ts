/**
 * Refuses what JSON allows and this API does not: nesting and values without limit, numbers beyond what a double holds, text that is not
 * well-formed Unicode, and the name `__proto__`. The first three are found in one pass over the text, before anything is parsed: a hostile
 * body costs what its bytes cost.
 */
import type { FieldError } from "../contract/problem";
import { protoPath } from "../lib/proto-name";

/** Deeper than any schema or tool result needs, and far less than what overflows a stack. */
export const MAX_DEPTH = 64;
/** Objects, lists and what they hold. A transcript of 8 MB has about 250,000 when its messages are short. */
export const MAX_VALUES = 500_000;

/** Only an escape can bring a lone surrogate into UTF-8. Most bodies have none and are not searched. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 44, 92, 91, 93, 123, 125];
const [MINUS, ZERO, NINE, PLUS, POINT] = [45, 48, 57, 43, 46];

interface Place {
  readonly value: unknown;
  readonly key: string;
  readonly parent: Place | null;
}

/** So many characters of a string are read one by one before its end is searched for: what is full of quotes has the next one nearby. */
const STRIDE = 32;

/** Whether an odd number of backslashes stands before the quote, from `start` on. */
function isEscaped(json: string, quote: number, start: number): boolean {
  let first = quote;
  while (first > start && json.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}

/**
 * The index of the string's closing quote, or of the end. A quote behind an odd number of backslashes belongs to the string; a backslash is
 * counted for one quote only, so that the time is linear.
 */
function skipString(json: string, start: number): number {
  let at = start + 1;
  for (;;) {
    for (const end = at + STRIDE; at < end; at += json.charCodeAt(at) === BACKSLASH ? 2 : 1) if (json.charCodeAt(at) === QUOTE) return at;
    const quote = json.indexOf('"', at);
    if (quote < 0) return json.length;
    if (!isEscaped(json, quote, at)) return quote;
    at = quote + 1;
  }
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isExponent = (code: number): boolean => (code | 32) === 101;

const isInExponent = (code: number): boolean => isDigit(code) || isExponent(code) || code === PLUS || code === MINUS;

/** The index of the number's last character. Negative: it is beyond what a double holds, which takes an exponent or 309 digits. */
function skipNumber(json: string, start: number): number {
  let at = start + 1;
  for (let code = json.charCodeAt(at); isDigit(code) || code === POINT; code = json.charCodeAt(at)) at += 1;
  const hasExponent = isExponent(json.charCodeAt(at));
  while (hasExponent && isInExponent(json.charCodeAt(at))) at += 1;
  const mayExceed = hasExponent || at - start > 308;
  return mayExceed && Math.abs(Number(json.slice(start, at))) === Number.POSITIVE_INFINITY ? -1 : at - 1;
}

const isNumberStart = (code: number): boolean => code === MINUS || isDigit(code);

/** By how much a character outside of strings and numbers changes a count. */
const stepBy = (steps: readonly (readonly [code: number, by: number])[]): Int8Array => {
  const table = new Int8Array(128);
  for (const [code, by] of steps) table[code] = by;
  return table;
};
const DEPTH_STEP = stepBy([
  [OPEN_LIST, 1],
  [OPEN_OBJECT, 1],
  [CLOSE_LIST, -1],
  [CLOSE_OBJECT, -1],
]);
const VALUES_STEP = stepBy([
  [OPEN_LIST, 1],
  [OPEN_OBJECT, 1],
  [COMMA, 1],
]);

function describeExcess(depth: number, values: number): string | null {
  if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
  return values > MAX_VALUES ? `has more than ${MAX_VALUES} values` : null;
}

/** What the text is before it is parsed. It may turn out to be no JSON at all. */
function findShapeFault(json: string): string | null {
  let [depth, values] = [0, 1];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = skipString(json, at);
    else if (isNumberStart(code)) {
      at = skipNumber(json, at);
      if (at < 0) return "has a number that is too large";
    } else {
      depth += DEPTH_STEP[code] ?? 0;
      values += VALUES_STEP[code] ?? 0;
      const excess = describeExcess(depth, values);
      if (excess !== null) return excess;
    }
  }
  return null;
}

function formatPath(place: Place): string {
  const keys: string[] = [];
  for (let at: Place = place; at.parent; at = at.parent) keys.unshift(at.key);
  return keys.join(".") || "body";
}

function surrogateAt(place: Place): FieldError | null {
  // The name itself cannot be quoted: the answer would not be well-formed Unicode either.
  if (!place.key.isWellFormed()) return { field: formatPath(place.parent ?? place), detail: "has a name with a lone surrogate" };
  const isText = typeof place.value === "string";
  return isText && !String(place.value).isWellFormed() ? { field: formatPath(place), detail: "contains a lone surrogate" } : null;
}

function findSurrogate(root: unknown): FieldError | null {
  const open: Place[] = [{ value: root, key: "", parent: null }];
  for (let place = open.pop(); place; place = open.pop()) {
    const found = surrogateAt(place);
    if (found) return found;
    if (typeof place.value !== "object" || place.value === null) continue;
    for (const [key, value] of Object.entries(place.value)) open.push({ value, key, parent: place });
  }
  return null;
}

/** A fault, or null. Throws a `SyntaxError` for text that is not JSON, but only if a check has to parse it. */
export function findJsonFault(json: string): FieldError | null {
  const fault = findShapeFault(json);
  if (fault !== null) return { field: "body", detail: fault };
  const path = protoPath(json);
  if (path) return { field: path.join("."), detail: "contains a property name that is not allowed" };
  return SURROGATE_ESCAPE.test(json) ? findSurrogate(JSON.parse(json)) : null;
}
