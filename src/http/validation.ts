/** Converts zod's issues to fields that the client can recognise. Never contains the values. */
import type { Context, MiddlewareHandler } from "hono";
import type { z } from "zod";
import type { FieldError } from "../contract/problem";
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

function toErrors(issue: Issue, base: Path): FieldError[] {
  const path = [...base, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ field: toField([...path, key]), detail: UNKNOWN_FIELD }));
  }
  if (issue.code === "invalid_union") {
    const kinds = listKinds(issue.errors);
    if (kinds) return [{ field: toField([...path, "type"]), detail: `must be ${kinds.join(", ")}` }];
    const branch = pickBranch(issue.errors);
    if (branch) return branch.flatMap((inner) => toErrors(inner, path));
  }
  return [{ field: toField(path), detail: issue.message }];
}

const UNKNOWN_FIELD = "unknown field";

export function toFieldErrors(issues: readonly Issue[]): FieldError[] {
  return issues.flatMap((issue) => toErrors(issue, [])).slice(0, MAX_ERRORS);
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
