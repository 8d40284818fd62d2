/**
 * Decides whether arguments can be checked by a JSON Schema here. A stored schema that cannot be used lets everything through
 * (`judge-call`).
 */
import { boundsFault } from "./schema-bounds";
import { allSchemas, type Fields, isFields, References } from "./schema-parts";

/** What is wrong with the schema, in a few words. Null when nothing is. The schema is not changed. */
export function schemaFault(schema: Fields): string | null {
  const bounds = boundsFault(schema);
  if (bounds !== null) return bounds;
  const references = new References(schema);
  const all = [...allSchemas(schema, references)];
  const ids = all.map(({ $id }) => $id).filter((id) => typeof id === "string");
  if (new Set(ids).size < ids.length) return "contains a duplicate $id";
  return all.map((each) => findKeywordFault(each, references)).find((fault) => fault !== null) ?? null;
}

function findKeywordFault({ $ref, pattern, patternProperties }: Fields, references: References): string | null {
  if (typeof $ref === "string" && references.resolve($ref) === undefined) return "contains a $ref that cannot be resolved";
  const patterns = [...(pattern === undefined ? [] : [pattern]), ...(isFields(patternProperties) ? Object.keys(patternProperties) : [])];
  return patterns.every(isPattern) ? null : "a pattern in it is no regular expression";
}

/** Compiles the pattern without running it: it is the client's text, and matching could take any time (`schema-check`). */
function isPattern(pattern: unknown): boolean {
  try {
    return typeof pattern === "string" && Boolean(new RegExp(pattern, "u"));
  } catch {
    return false;
  }
}
