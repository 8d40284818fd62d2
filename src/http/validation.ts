/** What zod found wrong, as fields that the client can recognise. Never the values. */
import type { Context } from "hono";
import type { z } from "zod";
import type { FieldError } from "./answer";
import type { HttpEnv } from "./deps";
import { sendProblem } from "./problem";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** More help nobody, and the document stays small. */
const MAX_ERRORS = 20;

const toField = (path: Path): string => path.map(String).join(".") || "body";

/** Of a union's branches the one that got furthest is the one that was meant: `content.0.text`, not `content`. */
function pickBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | null {
  return branches.find((issues) => issues.length > 0 && issues.every(isInside)) ?? null;
}

const isInside = (issue: Issue): boolean => issue.path.length > 0 || issue.code === "unrecognized_keys";

/** Only zod's own wording tells: an issue does not hold the value. */
const isMissing = (issue: Issue): boolean => issue.code === "invalid_type" && issue.message.endsWith("received undefined");

function toErrors(issue: Issue, base: Path): FieldError[] {
  const path = [...base, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ field: toField([...path, key]), detail: "unknown field" }));
  }
  if (issue.code === "invalid_union") {
    const branch = pickBranch(issue.errors);
    if (branch) return branch.flatMap((inner) => toErrors(inner, path));
  }
  return [{ field: toField(path), detail: isMissing(issue) ? "required" : issue.message }];
}

export function toFieldErrors(issues: readonly Issue[]): FieldError[] {
  return issues.flatMap((issue) => toErrors(issue, [])).slice(0, MAX_ERRORS);
}

type Checked = { readonly target: string } & (
  | { readonly success: true }
  | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }
);

/** The hook of every route. A malformed id in the path is an unknown id, and is named as one. */
export function refuseInvalid(result: Checked, c: Context<HttpEnv>): Response | undefined {
  if (result.success) return undefined;
  const errors = toFieldErrors(result.error.issues);
  return sendProblem(c, { code: result.target === "param" ? "not_found" : "invalid_request", errors });
}

/** A name in a path that is the client's to choose: what is wrong with it is said. */
export function faultOfName(field: string, parsed: z.ZodSafeParseResult<unknown>): FieldError[] {
  return parsed.success ? [] : [{ field, detail: parsed.error.issues[0]?.message ?? "malformed" }];
}
