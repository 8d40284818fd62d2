/**
 * Refuses what JSON allows and this API does not: text that is not well-formed Unicode, nesting without limit, and the name
 * `__proto__`.
 */
import type { FieldError } from "../contract/problem";
import { protoPath } from "../lib/proto-name";

/** Deeper than any schema or tool result needs, and far less than what overflows a stack. */
const MAX_DEPTH = 64;

/** Only an escape can bring a lone surrogate into UTF-8. Most bodies have none and are not searched. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125];

interface Place {
  readonly value: unknown;
  readonly key: string;
  readonly parent: Place | null;
}

/**
 * The index of the string's closing quote, or of the end. A loop, because a regular expression takes quadratic time on a
 * string that does not end.
 */
function skipString(json: string, start: number): number {
  let at = start + 1;
  for (let code = json.charCodeAt(at); at < json.length && code !== QUOTE; code = json.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
  return at;
}

function isTooDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = skipString(json, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
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
  if (isTooDeep(json)) return { field: "body", detail: `nested deeper than ${MAX_DEPTH} levels` };
  const path = protoPath(json);
  if (path) return { field: path.join("."), detail: "contains a property name that is not allowed" };
  return SURROGATE_ESCAPE.test(json) ? findSurrogate(JSON.parse(json)) : null;
}
