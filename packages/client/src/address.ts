/** Paths and queries as the server reads them. */

/** A dot segment is folded by every URL parser, also when it is encoded. */
const DOTS = /^\.{1,2}$/;

/** Throws a TypeError for a value that cannot be part of a path. */
export function buildPath(template: string, values: Readonly<Record<string, string>> = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (typeof value !== "string" || value === "" || DOTS.test(value)) {
      throw new TypeError(`${template}: path.${name} must be text that can stand in a path, not ${JSON.stringify(value)}`);
    }
    return encode(value, `${template}: path.${name}`);
  });
}

/** `{ limit: 5, metadata: { colour: "red" } }` as `?limit=5&metadata[colour]=red`. A list repeats its name, and undefined is left out. */
export function buildQuery(query: object = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => listPairs(name, value));
  return pairs.length === 0 ? "" : `?${pairs.map(([name, value]) => `${encode(name, name)}=${encode(value, name)}`).join("&")}`;
}

function listPairs(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => listPairs(name, each));
  if (typeof value === "object") return Object.entries(value).flatMap(([key, each]) => listPairs(`${name}[${key}]`, each));
  return [[name, String(value)]];
}

function encode(text: string, name: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw new TypeError(`${name} has half of a surrogate pair`, { cause });
  }
}
