/** The one error that the client throws for an answer, or for the lack of one. */
import type { Problem } from "./generated.ts";

/** What a problem without a type, and an answer that is no problem document, have as their type (RFC 9457). */
const NO_TYPE = "about:blank";

/** Reasons that the client itself reports. The server's own are the last part of a problem's `type`. */
export type ClientCode = "connection_failed" | "timed_out" | "unexpected_answer";

export interface ErrorFacts {
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly code: string;
  readonly detail: string;
  readonly type?: string;
  readonly errors?: LonghandError["errors"];
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly problem?: Problem | null;
  readonly cause?: unknown;
}

/** A request that was refused, was answered by something else than Longhand, or was not answered. */
export class LonghandError extends Error {
  override readonly name = "LonghandError";
  /** The status of the answer. Null: there was none. */
  readonly status: number | null;
  /** The problem's type, a stable URI. `about:blank` where the answer was no problem document. */
  readonly type: string;
  /** The last part of the type: `invalid_request`. Without a problem: `connection_failed`, `timed_out` or `unexpected_answer`. */
  readonly code: string;
  readonly detail: string;
  /** The fields at fault, as the request named them. */
  readonly errors: readonly { readonly field: string; readonly detail: string }[];
  /** Names the request in the server's log. */
  readonly requestId: string | null;
  /** How long the server asks to wait before the request is sent again. */
  readonly retryAfterMs: number | null;
  /** The whole document, with the members that only some problems have (`turn_id`, `limit`). */
  readonly problem: Problem | null;

  constructor(request: string, facts: ErrorFacts) {
    const fields = (facts.errors ?? []).map(({ field, detail }) => `${field}: ${detail}`).join("; ");
    const said = fields === "" || facts.detail.includes(fields) ? facts.detail : `${facts.detail} (${fields})`;
    super(`${request}: ${facts.status === null ? "" : `${facts.status} `}${facts.code}: ${said}`, { cause: facts.cause });
    this.status = facts.status;
    this.type = facts.type ?? NO_TYPE;
    this.code = facts.code;
    this.detail = facts.detail;
    this.errors = facts.errors ?? [];
    this.requestId = facts.requestId ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.problem = facts.problem ?? null;
  }
}

/** Reads an answer outside of 2xx. A proxy's page has a status and no problem. */
export async function readRefusal(request: string, response: Response): Promise<LonghandError> {
  const text = await response.text();
  const facts = {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    retryAfterMs: readRetryAfter(response.headers.get("retry-after")),
  };
  const problem = parseProblem(text);
  if (!problem) return new LonghandError(request, { ...facts, code: "unexpected_answer", detail: describeAnswer(response) });
  return new LonghandError(request, {
    ...facts,
    type: problem.type,
    code: /[^:/#]*$/.exec(problem.type)?.[0] || "unexpected_answer",
    detail: problem.detail,
    errors: problem.errors ?? [],
    requestId: facts.requestId ?? problem.request_id ?? null,
    problem,
  });
}

export const describeAnswer = (response: Response): string =>
  `The answer is not Longhand's: status ${response.status}, ${response.headers.get("content-type") ?? "no content type"}.`;

/** Null for what is no problem document of this API: other services answer JSON of their own. */
function parseProblem(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text);
    return isProblem(value) ? value : null;
  } catch {
    return null;
  }
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== "object" || value === null || !("type" in value && "detail" in value)) return false;
  const errors = "errors" in value ? value.errors : [];
  return typeof value.type === "string" && typeof value.detail === "string" && Array.isArray(errors);
}

/** Seconds or a date (RFC 9110), in milliseconds from now. */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
