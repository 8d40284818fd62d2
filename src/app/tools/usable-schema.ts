/** Whether arguments can be judged by a JSON Schema here: one that cannot be used lets everything through (`judge-call`). */
import { dereference, type Schema } from "@cfworker/json-schema";

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** What is wrong with it, in a few words; null: nothing. It is not changed. */
export function schemaFault(schema: Fields): string | null {
  try {
    // The library marks what it reads.
    const known = dereference(structuredClone(schema) as Schema);
    return (
      Object.values(known)
        .map((each) => faultOf(each, known))
        .find((fault) => fault !== null) ?? null
    );
  } catch {
    return "a $id or $ref in it cannot be resolved";
  }
}

/** `schema`: one of those inside, as the library has marked it. */
function faultOf(schema: unknown, known: Fields): string | null {
  if (!isFields(schema)) return null;
  const { __absolute_ref__: reference, pattern, patternProperties } = schema;
  if (typeof reference === "string" && known[reference] === undefined) return "a $ref in it leads nowhere";
  const patterns = [...(pattern === undefined ? [] : [pattern]), ...(isFields(patternProperties) ? Object.keys(patternProperties) : [])];
  return patterns.every(isPattern) ? null : "a pattern in it is no regular expression";
}

function isPattern(pattern: unknown): boolean {
  try {
    return typeof pattern === "string" && Boolean(new RegExp(pattern, "u"));
  } catch {
    return false;
  }
}
