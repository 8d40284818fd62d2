/** The headers of conditional requests, and the ETag of an answer (RFC 9110 §8.8.3 and §13.1). */
import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { type Condition, toEtag } from "../app/conditions";
import type { FieldError } from "../contract/problem";
import type { HttpEnv } from "./deps";
import { sendProblem } from "./problem";

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
const TAGS = /^(?:\*|(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,[ \t]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*)$/;
const MAX_TAGS = 2_048;

const tags = (description: string) =>
  z
    .string()
    .max(MAX_TAGS)
    .regex(TAGS, '* or etags in quotes, such as "9f86d081884c7d65"')
    .optional()
    .openapi({ description, example: '"9f86d081884c7d65"' });

/** For routes that change or remove a resource of which a client knows the etag. */
export const conditionHeaders = z.object({
  "If-Match": tags("Change only a resource with this etag: 412 precondition_failed if it has changed since it was read"),
  "If-None-Match": tags("`*`: create only; 412 precondition_failed if the resource exists"),
});

export const takesConditions = ({ headers }: NonNullable<RouteConfig["request"]>): boolean =>
  headers instanceof z.ZodObject && Object.keys(conditionHeaders.shape).every((name) => name in headers.shape);

/** For reads: the etag of a copy that the client has. Any text is taken, because a client that is not understood only loses time. */
export const knownHeaders = z.object({
  "If-None-Match": z
    .string()
    .optional()
    .openapi({ description: "The ETag of a copy: 304 if it is still the same", example: '"9f86d081884c7d65"' }),
});

const isWeak = (tag: string): boolean => tag.startsWith("W/");
const toOpaque = (tag: string): string => tag.replace(/^W\//, "");

/** The entity tags of a header, as they are written. `*` names every state. */
const readTags = (header: string): "*" | readonly string[] => (header.trim() === "*" ? "*" : (header.match(TAG) ?? []));

/** True when `If-None-Match` names this etag, by the weak comparison. */
export function isKnownTo(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = readTags(ifNoneMatch ?? "");
  return tags === "*" || tags.map(toOpaque).includes(toOpaque(etag));
}

/** If-Match compares strongly: a weak tag matches nothing. If-None-Match compares weakly. */
export function toCondition({ "If-Match": match, "If-None-Match": noneMatch }: z.infer<typeof conditionHeaders>): Condition | undefined {
  if (match === undefined && noneMatch === undefined) return undefined;
  const choose = (header: string, work: (tags: readonly string[]) => readonly string[]) => {
    const tags = readTags(header);
    return tags === "*" ? tags : work(tags);
  };
  return {
    match: match === undefined ? null : choose(match, (tags) => tags.filter((tag) => !isWeak(tag))),
    none_match: noneMatch === undefined ? null : choose(noneMatch, (tags) => tags.map(toOpaque)),
  };
}

export const etagHeader = {
  ETag: { description: "The etag to send as If-Match", required: true, schema: { type: "string" as const }, example: '"9f86d081884c7d65"' },
};

/** For reads whose answer a client may keep a copy of. */
export const copyHeader = { ETag: { ...etagHeader.ETag, description: "The etag to send as If-None-Match" } };

/** Sends JSON under its strong etag, or 304 to a client that has it. A cache may keep it for its user, and must ask each time. */
export function sendCopy(c: Context<HttpEnv>, shown: object): Response {
  const headers = { ETag: toEtag(shown), "Cache-Control": "private, no-cache" };
  return isKnownTo(c.req.header("if-none-match"), headers.ETag) ? c.body(null, 304, headers) : c.json(shown, 200, headers);
}

const NAMES = ["If-Match", "If-None-Match"] as const;

/** For changing routes that take no condition: a client that names one must not believe that it was kept. */
export const refuseConditions: MiddlewareHandler<HttpEnv> = async (c: Context<HttpEnv>, next) => {
  const errors: FieldError[] = NAMES.filter((name) => c.req.header(name) !== undefined).map((field) => ({
    field,
    detail: "this route takes no condition",
  }));
  return errors.length > 0 ? sendProblem(c, { code: "invalid_request", errors }) : await next();
};
