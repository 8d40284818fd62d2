/** Holds a refusal to what it was asked: each field that it names is in the request or in the document. */
import type { KnownThings } from "./known-things";
import type { DrawnRequest, Operation } from "./requests";
import type { JsonSchema } from "./values";

/** Every name of a field in a schema. */
function listNames(schema: JsonSchema, known: KnownThings, found: Set<string>, seen = new Set<JsonSchema>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const { $ref, properties = {}, items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = schema;
  const inner = [...Object.values(properties), ...anyOf, ...oneOf, ...allOf];
  if (items) inner.push(items);
  if (typeof additionalProperties === "object") inner.push(additionalProperties);
  if ($ref !== undefined) inner.push(known.resolve($ref));
  for (const name of Object.keys(properties)) found.add(name);
  for (const next of inner) listNames(next, known, found, seen);
}

function addKeys(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    found.add(name);
    addKeys(inner, found);
  }
}

function listSent({ path, body }: DrawnRequest): Set<string> {
  const found = new Set([...new URL(path, "https://longhand.test").searchParams.keys()]);
  try {
    addKeys(JSON.parse(new TextDecoder().decode(body)), found);
  } catch {
    // A body that is not JSON has no fields.
  }
  return found;
}

/** The names of fields in a refusal that neither the request nor the document has. */
export function findInventedFields(
  fields: readonly string[],
  { operation, sent, known }: { operation: Operation; sent: DrawnRequest; known: KnownThings },
): readonly string[] {
  const names = listSent(sent);
  for (const { name } of operation.parameters ?? []) names.add(name).add(name.toLowerCase());
  for (const { schema } of Object.values(operation.requestBody?.content ?? {})) listNames(schema, known, names);
  for (const name of ["body", "Accept", "Content-Length", "Content-Type"]) names.add(name);
  const parts = new Set([...names].flatMap((name) => name.split(".")));
  const isKnown = (part: string): boolean => parts.has(part) || /^\d+$/.test(part);
  return fields.filter((field) => !names.has(field) && !field.split(".").every(isKnown));
}
