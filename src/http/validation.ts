/** Converts zod's issues to fields that the client can recognise. Never contains the values. */
import type { Context, MiddlewareHandler } from "hono";
import type { z } from "zod";
import type { FieldError } from "../contract/problem";
import { err, ok, type Result } from "../lib/result";
import "../lib/plain-issues";
import type { HttpEnv } from "./deps";
import { sendProblem } from "./problem";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** More errors do not help a client, and the document stays small. */
const MAX_ERRORS = 20;

const toField = (path: Path): string => path.map(String).join(".") || "body";

/**
 * The branch of a union that the client meant is the one whose faults are all inside the value: the answer names
 * `content.0.text`, not `content`.
 */
function pickBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const meant = branches.filter((issues) => !issues.some(isOtherKind));
  return meant.find((issues) => issues.length > 0 && issues.every(isInside)) ?? null;
}

/** Whether the value says by its `type` that it is not of this branch. */
const isOtherKind = (issue: Issue): boolean => issue.code === "invalid_value" && issue.path.length === 1 && issue.path[0] === "type";

/** If no branch has the `type` that the client wrote: the types that there are. */
function listKinds(branches: readonly (readonly Issue[])[]): readonly unknown[] | null {
  if (branches.length === 0 || !branches.every((issues) => issues.some(isOtherKind))) return null;
  return branches.flat().flatMap((issue) => (isOtherKind(issue) && issue.code === "invalid_value" ? issue.values : []));
}

const isInside = (issue: Issue): boolean => issue.path.length > 0 || issue.code === "unrecognized_keys";

interface Fault {
  readonly path: Path;
  readonly detail: string;
}

function toFaults(issue: Issue, base: Path): Fault[] {
  const path = [...base, ...issue.path];
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ path: [...path, key], detail: UNKNOWN_FIELD }));
  if (issue.code === "invalid_union") {
    const kinds = listKinds(issue.errors);
    if (kinds) return [{ path: [...path, "type"], detail: `must be ${kinds.join(", ")}` }];
    const branch = pickBranch(issue.errors);
    if (branch) return branch.flatMap((inner) => toFaults(inner, path));
  }
  return [{ path, detail: issue.message }];
}

const UNKNOWN_FIELD = "unknown field";

const toFieldError = ({ path, detail }: Fault): FieldError => ({ field: toField(path), detail });

export function toFieldErrors(issues: readonly Issue[]): FieldError[] {
  return issues
    .flatMap((issue) => toFaults(issue, []))
    .slice(0, MAX_ERRORS)
    .map(toFieldError);
}

/** The most unknown members of a request that are left out. */
const MOST_UNKNOWN = 200;

interface Known<T> {
  readonly value: T;
  /** The members that the schema does not have, by their paths. */
  readonly unknown: readonly string[];
}

/** Parses a value whose unknown members change nothing here: they are left out, and named. Any other fault is a fault. */
export function parseKnown<S extends z.ZodType>(schema: S, given: unknown): Result<Known<z.infer<S>>, readonly FieldError[]> {
  let known = given;
  const unknown: string[] = [];
  for (;;) {
    const parsed = schema.safeParse(known);
    if (parsed.success) return ok({ value: parsed.data, unknown });
    const faults = parsed.error.issues.flatMap((issue) => toFaults(issue, []));
    const others = faults.filter(({ detail }) => detail !== UNKNOWN_FIELD);
    if (others.length > 0 || unknown.length + faults.length > MOST_UNKNOWN)
      return err((others.length > 0 ? others : faults).slice(0, MAX_ERRORS).map(toFieldError));
    for (const { path } of faults) {
      known = leaveOut(known, path);
      unknown.push(toField(path));
    }
  }
}

/** A copy of the value without the member at the path. The rest is shared. */
function leaveOut(value: unknown, [key, ...rest]: Path): unknown {
  if (Array.isArray(value)) return value.map((each: unknown, index) => (index === key ? leaveOut(each, rest) : each));
  const members = Object.entries(Object(value)).filter(([name]) => rest.length > 0 || name !== key);
  return Object.fromEntries(members.map(([name, each]) => [name, name === key ? leaveOut(each, rest) : each]));
}

type Checked = { readonly target: string } & (
  | { readonly success: true }
  | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }
);

/** The validation hook of every route. A malformed id in the path is answered as an unknown id. */
export function refuseInvalid(result: Checked, c: Context<HttpEnv>): Response | undefined {
  if (result.success) return undefined;
  const errors = toFieldErrors(result.error.issues);
  return sendProblem(c, { code: result.target === "param" ? "not_found" : "invalid_request", errors });
}

/** For routes that take no query: refuses each field of one, as the strict schemas of the other routes do. */
export const refuseQuery: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const names = Object.keys(c.req.query());
  if (names.length === 0) return await next();
  const errors = names.slice(0, MAX_ERRORS).map((field) => ({ field, detail: UNKNOWN_FIELD }));
  return sendProblem(c, { code: "invalid_request", errors });
};

/** The faults of a name in the path that the client chooses. The answer says what is wrong with it. */
export function faultOfName(field: string, parsed: z.ZodSafeParseResult<unknown>): FieldError[] {
  return parsed.success ? [] : [{ field, detail: parsed.error.issues[0]?.message ?? "malformed" }];
}
