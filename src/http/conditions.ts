/** The headers of conditional requests, and the ETag of an answer (RFC 9110 §8.8.3 and §13.1). */
import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { Condition } from "../app/conditions";
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

const splitTags = (header: string): readonly string[] => header.match(TAG) ?? [];

/** If-Match compares strongly: a weak tag matches nothing. If-None-Match compares weakly. */
export function toCondition({ "If-Match": match, "If-None-Match": noneMatch }: z.infer<typeof conditionHeaders>): Condition | undefined {
  if (match === undefined && noneMatch === undefined) return undefined;
  const strong = (header: string) => (header === "*" ? header : splitTags(header).filter((tag) => !tag.startsWith("W/")));
  const weak = (header: string) => (header === "*" ? header : splitTags(header).map((tag) => tag.replace(/^W\//, "")));
  return {
    match: match === undefined ? null : strong(match),
    none_match: noneMatch === undefined ? null : weak(noneMatch),
  };
}

export const etagHeader = z.object({
  ETag: z.string().openapi({ description: "The etag to send as If-Match", example: '"9f86d081884c7d65"' }),
});

const NAMES = ["If-Match", "If-None-Match"] as const;

/** For changing routes that take no condition: a client that names one must not believe that it was kept. */
export const refuseConditions: MiddlewareHandler<HttpEnv> = async (c: Context<HttpEnv>, next) => {
  const errors: FieldError[] = NAMES.filter((name) => c.req.header(name) !== undefined).map((field) => ({
    field,
    detail: "this route takes no condition",
  }));
  return errors.length > 0 ? sendProblem(c, { code: "invalid_request", errors }) : await next();
};
