/** Lists: `{data, has_more, next_cursor}`, requested with `limit` and `after`. */
import { z } from "@hono/zod-openapi";
import type { List, Page } from "../../contract/page";

export const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;

const buildLimit = (usual: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `an integer from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .pipe(z.int().min(1).max(MAX_LIMIT))
    .default(usual)
    .openapi({
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      default: usual,
      description: "At most so many; fewer where they are large, and then has_more is true",
    });
const limit = buildLimit(DEFAULT_LIMIT);

/** A position, a seq or an offset. Numbers of 15 digits are exact in a double. */
export const counter = z
  .string()
  .regex(/^\d{1,15}$/, "a whole number")
  .transform(Number)
  .openapi({ type: "string", pattern: "^\\d{1,15}$" });

export const limitQuery = { limit };

type Order = "asc" | "desc";
const order = (usual: Order) => z.enum(["asc", "desc"]).default(usual).openapi({ description: "asc: the smallest or oldest first" });

/** A page of one session's rows, by the session's own numbers. */
export const pageQuery = z.strictObject({
  limit,
  after: counter.optional().openapi({ description: "next_cursor of the page before" }),
  order: order("asc"),
});

const MAX_CURSOR = 512;

/** A page of rows that the client has named, in order of their names or ids. `usual`: how many there are if the client does not say. */
export const namedPageQuery = ({ first = "asc", usual = DEFAULT_LIMIT }: { readonly first?: Order; readonly usual?: number } = {}) =>
  z.strictObject({
    limit: buildLimit(usual),
    after: z.string().min(1).max(MAX_CURSOR).optional().openapi({ description: "next_cursor of the page before" }),
    order: order(first),
  });

interface AskedPage<K> {
  readonly limit: number;
  readonly after?: K | undefined;
  readonly order: Order;
}

/**
 * A page of a list that its owner returns whole, because it is bounded. A cursor is the key of a row, so it stays valid when that row is
 * removed.
 */
export function takeListPage<T, K extends string | number>(
  rows: readonly T[],
  { limit, after, order }: AskedPage<K>,
  toKey: (row: T) => K,
): List<T> {
  const direction = order === "asc" ? 1 : -1;
  const compare = (one: K, other: K): number => (one === other ? 0 : one < other ? -direction : direction);
  const rest = rows
    .toSorted((one, other) => compare(toKey(one), toKey(other)))
    .filter((row) => after === undefined || compare(toKey(row), after) > 0);
  const data = rest.slice(0, limit);
  return toList({ data, has_more: rest.length > data.length }, toKey);
}

/** Adds the cursor of the next page; `toCursor` returns the cursor of a row. */
export function toList<T>(page: Page<T>, toCursor: (row: T) => number | string): List<T> {
  const last = page.data.at(-1);
  return { data: page.data, has_more: page.has_more, next_cursor: page.has_more && last ? String(toCursor(last)) : null };
}
