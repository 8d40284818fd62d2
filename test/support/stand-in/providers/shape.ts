/** Checks requests against the fields that a provider's own SDK declares. */
import { z } from "zod";

/**
 * An object with exactly these fields. A field that the SDK's type lacks, or one of another type, does not compile.
 * Omitted fields are refused like unknown ones: the adapters send none of them, and an adapter that begins to must
 * first be checked here.
 */
export const toShape =
  <T extends object>() =>
  <F extends z.core.$ZodLooseShape>(fields: F & { readonly [K in keyof F]: K extends keyof T ? z.ZodType<T[K]> : never }) =>
    z.strictObject<F>(fields);

export type Problem = "missing" | "unknown" | "type" | "value";

export interface Fault {
  readonly path: readonly (string | number)[];
  readonly problem: Problem;
  /** The expected value, in zod's words. */
  readonly expected: string;
}

type Issue = z.core.$ZodIssue;

/** The first fault. */
export function findFault(error: z.ZodError, body: unknown): Fault {
  return toFault(error.issues[0] ?? { code: "custom", path: [], message: "nothing", input: body }, { body, at: [] });
}

function toFault(issue: Issue, { body, at }: { readonly body: unknown; readonly at: readonly (string | number)[] }): Fault {
  const path = [...at, ...issue.path.map((key) => (typeof key === "symbol" ? String(key) : key))];
  if (issue.code === "unrecognized_keys") return { path: [...path, issue.keys[0] ?? ""], problem: "unknown", expected: "no such field" };
  if (issue.code === "invalid_union") {
    const inner = likeliest(issue.errors);
    if (inner) return toFault(inner, { body, at: path });
  }
  const value = valueAt(body, path);
  if (value === undefined) return { path, problem: "missing", expected: issue.message };
  return { path, problem: issue.code === "invalid_type" ? "type" : "value", expected: issue.message };
}

/** The branch of a union whose fault is the deepest. */
const likeliest = (branches: readonly (readonly Issue[])[]): Issue | undefined =>
  branches.flatMap((issues) => issues.slice(0, 1)).toSorted((one, other) => other.path.length - one.path.length)[0];

function valueAt(body: unknown, path: readonly (string | number)[]): unknown {
  let value: unknown = body;
  for (const key of path) value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}

/** `messages[0].content`, as OpenAI and Google write it. */
export const bracketPath = (path: Fault["path"]): string =>
  path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`), "");

/** `messages.0.content`, as Anthropic writes it. */
export const dottedPath = (path: Fault["path"]): string => path.join(".");
