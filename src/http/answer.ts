/**
 * What a refusal says before it becomes a document: its status and its texts. The tables of reasons are in `problem` and the
 * files beside it.
 */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { FieldError } from "../contract/problem";

export interface RouteAnswer {
  readonly status: ContentfulStatusCode;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  /** Further members of the document. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal before it has a form: its reason, what it says, and the id of the request in the logs. */
export interface Refusal {
  readonly code: string;
  readonly answer: RouteAnswer;
  readonly requestId: string;
}

export const NOT_FOUND = { status: 404, title: "Not found" } as const;
/** Refuses a parameter of the path that names nothing, or nothing that the caller may know of. */
export const unknown = (what: string, field = `${what}_id`): RouteAnswer => {
  const detail = `no such ${what}`;
  return { ...NOT_FOUND, detail: `${field}: ${detail}.`, errors: [{ field, detail }] };
};
export const conflict = (title: string, detail: string, extra?: RouteAnswer["extra"]): RouteAnswer => ({
  status: 409,
  title,
  detail,
  ...(extra && { extra }),
});
export const toText = (errors: readonly FieldError[]): string => errors.map(({ field, detail }) => `${field}: ${detail}`).join("; ");
export const invalid = (errors: readonly FieldError[]): RouteAnswer => ({
  status: 400,
  title: "Invalid request",
  detail: toText(errors),
  errors,
});
export const retryLater = (detail: string): RouteAnswer => ({
  status: 503,
  title: "Temporarily unavailable",
  detail,
  headers: { "Retry-After": "1" },
});
