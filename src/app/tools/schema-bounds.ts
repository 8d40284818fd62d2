/**
 * Bounds of a tool's JSON Schema when it is accepted. They keep a schema small for providers that expand references, and for the code that
 * checks by it. Checking has a budget of its own (`schema-check`), because even a schema within these bounds can make large arguments
 * expensive.
 */
import { MAX_TOOL_SCHEMA } from "../tool-entry";
import { allSchemas, appliedSchemas, type Fields, References, sameValueSchemas } from "./schema-parts";

/** JSON levels; a property of an object takes two. */
const MAX_LEVELS = 48;
/** Objects and lists in the schema's JSON. */
const MAX_NODES = 4_000;
const MAX_REFERENCES = 500;
/** Schemas after every reference is expanded. A recursive reference is expanded once. */
const MAX_EXPANDED = 10_000;

/** The first bound that `schema` exceeds, in a few words. Null when it exceeds none. */
export function boundsFault(schema: Fields): string | null {
  return sizeFault(schema) ?? expansionFault(schema);
}

/**
 * The first bound on depth, length or counts that the schema's JSON exceeds, else null. A schema within these bounds can be walked by
 * recursion, more than once.
 */
export function sizeFault(schema: Fields): string | null {
  if (countLevels(schema) > MAX_LEVELS) return `nested deeper than ${MAX_LEVELS} levels`;
  if (JSON.stringify(schema).length > MAX_TOOL_SCHEMA) return `at most ${MAX_TOOL_SCHEMA} characters of JSON`;
  const nodes = listNodes(schema);
  if (nodes.length > MAX_NODES) return `at most ${MAX_NODES} objects and lists`;
  const references = nodes.filter((node) => !Array.isArray(node) && typeof (node as Fields).$ref === "string");
  return references.length > MAX_REFERENCES ? `at most ${MAX_REFERENCES} references` : null;
}

const isNode = (value: unknown): value is object => typeof value === "object" && value !== null;
const listChildren = (nodes: readonly object[]): object[] => nodes.flatMap((node) => Object.values(node).filter(isNode));

/** Counts level by level, so that no nesting overflows the stack. Stops above the maximum. */
function countLevels(schema: Fields): number {
  let levels = 0;
  for (let level: object[] = [schema]; level.length > 0 && levels <= MAX_LEVELS; level = listChildren(level)) levels += 1;
  return levels;
}

function listNodes(schema: Fields): object[] {
  const nodes: object[] = [];
  for (let level: object[] = [schema]; level.length > 0; level = listChildren(level)) for (const node of level) nodes.push(node);
  return nodes;
}

function expansionFault(schema: Fields): string | null {
  const references = new References(schema);
  if (isCircular(schema, references)) return "contains a circular $ref";
  return expandedSize(schema, references, new Map()) > MAX_EXPANDED
    ? `at most ${MAX_EXPANDED} schemas once references are written out`
    : null;
}

/** Whether checking a value by a schema in `root` leads back to checking the same value by the same schema. */
function isCircular(root: Fields, references: References): boolean {
  const left = new Map<Fields, number>();
  const users = new Map<Fields, Fields[]>();
  const all = allSchemas(root, references);
  for (const schema of all) {
    const applied = sameValueSchemas(schema, references);
    left.set(schema, applied.length);
    for (const each of applied) {
      const known = users.get(each);
      if (known) known.push(schema);
      else users.set(each, [schema]);
    }
  }
  // Remove the schemas that apply no other, then those that applied only removed ones. What stays is part of a circle, or leads into one.
  const ready = [...all].filter((schema) => left.get(schema) === 0);
  let taken = 0;
  for (let schema = ready.pop(); schema; schema = ready.pop()) {
    taken += 1;
    for (const user of users.get(schema) ?? []) {
      const rest = (left.get(user) ?? 0) - 1;
      left.set(user, rest);
      if (rest === 0) ready.push(user);
    }
  }
  return taken < all.size;
}

/** `known`: sizes that were computed already. A schema that is being measured counts as 1, which ends recursion. */
function expandedSize(schema: Fields, references: References, known: Map<Fields, number>): number {
  const size = known.get(schema);
  if (size !== undefined) return size;
  known.set(schema, 1);
  let sum = 1;
  for (const each of appliedSchemas(schema, references)) {
    if (sum > MAX_EXPANDED) break;
    sum += expandedSize(each, references, known);
  }
  known.set(schema, sum);
  return sum;
}
