/**
 * Finds the schemas inside a JSON Schema (draft 2020-12, with the older `definitions`, `dependencies` and lists under `items`), and
 * resolves its references.
 */

export type Fields = Readonly<Record<string, unknown>>;
export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

interface Keywords {
  readonly one: readonly string[];
  readonly list: readonly string[];
  readonly named: readonly string[];
}

/** Keywords whose schemas apply to the value itself: a circle of them never ends. */
const SAME_VALUE: Keywords = {
  one: ["not", "if", "then", "else"],
  list: ["allOf", "anyOf", "oneOf"],
  named: ["dependentSchemas", "dependencies"],
};
/** Keywords whose schemas apply to a part of the value. */
const PART_OF_VALUE: Keywords = {
  one: ["additionalProperties", "unevaluatedProperties", "propertyNames", "items", "additionalItems", "contains", "unevaluatedItems"],
  list: ["prefixItems", "items"],
  named: ["properties", "patternProperties"],
};
const STORED: Keywords = { one: [], list: [], named: ["$defs", "definitions"] };

function schemasAt(schema: Fields, { one, list, named }: Keywords): Fields[] {
  const lists = list.map((key) => schema[key]).filter((value) => Array.isArray(value));
  const maps = named.map((key) => schema[key]).filter(isFields);
  return [...one.map((key) => schema[key]), ...lists.flat(), ...maps.flatMap((map) => Object.values(map))].filter(isFields);
}

/** Resolves references within one schema: JSON pointers and anchors. */
export class References {
  readonly #found = new Map<string, unknown>();
  readonly #inner: ReadonlyMap<string, Fields>;

  readonly root: Fields;

  constructor(root: Fields) {
    this.root = root;
    this.#inner = innerIds(root);
  }

  /** The schema that a `$ref` names. Undefined when it has no target. */
  resolve(reference: string): Fields | boolean | undefined {
    if (!this.#found.has(reference)) this.#found.set(reference, this.#find(reference));
    const found = this.#found.get(reference);
    return isFields(found) || typeof found === "boolean" ? found : undefined;
  }

  #find(reference: string): unknown {
    // An inner `$id` is the base of the references below it. This class does not track that base, so with inner ids only references to
    // those ids resolve.
    if (this.#inner.size > 0) return this.#inner.get(reference);
    const own = typeof this.root.$id === "string" ? this.root.$id.replace(/#$/, "") : "";
    const fragment = own !== "" && reference.startsWith(own) ? reference.slice(own.length) : reference;
    if (fragment === "" || fragment === "#") return this.root;
    if (!fragment.startsWith("#")) return undefined;
    if (!fragment.startsWith("#/")) return findAnchor(this.root, fragment.slice(1));
    let at: unknown = this.root;
    for (const step of fragment.slice(2).split("/")) {
      const key = toKey(step);
      if (typeof at !== "object" || at === null || key === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Fields)[key];
    }
    return at;
  }
}

/** Decodes a step of a JSON pointer in a URI (RFC 6901 §6). Null when it is malformed. */
function toKey(step: string): string | null {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return null;
  }
}

/** Every schema that is written in `root`, `root` first. */
function* writtenSchemas(root: Fields): Generator<Fields> {
  const open: Fields[] = [root];
  for (let schema = open.pop(); schema; schema = open.pop()) {
    yield schema;
    for (const keywords of [SAME_VALUE, PART_OF_VALUE, STORED]) open.push(...schemasAt(schema, keywords));
  }
}

function findAnchor(root: Fields, name: string): Fields | undefined {
  for (const schema of writtenSchemas(root)) if (schema.$anchor === name) return schema;
  return undefined;
}

function innerIds(root: Fields): ReadonlyMap<string, Fields> {
  const inner = new Map<string, Fields>();
  for (const schema of writtenSchemas(root)) if (schema !== root && typeof schema.$id === "string") inner.set(schema.$id, schema);
  return inner;
}

/** The schema that `$ref` names, if it names one that exists. */
function referred(schema: Fields, references: References): Fields[] {
  const target = typeof schema.$ref === "string" ? references.resolve(schema.$ref) : undefined;
  return isFields(target) ? [target] : [];
}

/** Schemas that apply to the same value as `schema`. */
export const sameValueSchemas = (schema: Fields, references: References): Fields[] => [
  ...referred(schema, references),
  ...schemasAt(schema, SAME_VALUE),
];
/** Every schema that `schema` applies, to the value itself or to a part of it. */
export const appliedSchemas = (schema: Fields, references: References): Fields[] => [
  ...sameValueSchemas(schema, references),
  ...schemasAt(schema, PART_OF_VALUE),
];

/** `root` and every schema that is written in it or referenced, each once. */
export function allSchemas(root: Fields, references: References): ReadonlySet<Fields> {
  const all = new Set<Fields>();
  const open: Fields[] = [root];
  for (let schema = open.pop(); schema; schema = open.pop()) {
    if (all.has(schema)) continue;
    all.add(schema);
    open.push(...appliedSchemas(schema, references), ...schemasAt(schema, STORED));
  }
  return all;
}
