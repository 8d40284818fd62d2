/** Lists: `{data, has_more, next_cursor}`, requested with `limit` and `after`. */
import { z } from "@hono/zod-openapi";
import type { List, Page } from "../../contract/page";

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;

const limit = z
  .string()
  .regex(/^\d{1,9}$/, `an integer from 1 to ${MAX_LIMIT}`)
  .transform(Number)
  .pipe(z.int().min(1).max(MAX_LIMIT))
  .default(DEFAULT_LIMIT)
  .openapi({
    type: "integer",
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: "At most so many; fewer where they are large, and then has_more is true",
  });

/** A position, a seq or an offset. Numbers of 15 digits are exact in a double. */
export const counter = z
  .string()
  .regex(/^\d{1,15}$/, "a whole number")
  .transform(Number)
  .openapi({ type: "string", pattern: "^\\d{1,15}$" });

export const limitQuery = { limit };

/** A page of one session's rows, by the session's own numbers. */
export const pageQuery = z.strictObject({
  limit,
  after: counter.optional().openapi({ description: "next_cursor of the page before" }),
  order: z.enum(["asc", "desc"]).default("asc"),
});

/** Adds the cursor of the next page; `toCursor` returns the cursor of a row. */
export function toList<T>(page: Page<T>, toCursor: (row: T) => number | string): List<T> {
  const last = page.data.at(-1);
  return { data: page.data, has_more: page.has_more, next_cursor: page.has_more && last ? String(toCursor(last)) : null };
}

/** A list that is short enough for one page. */
export function toWholeList<T>(data: readonly T[]): List<T> {
  return { data, has_more: false, next_cursor: null };
}
