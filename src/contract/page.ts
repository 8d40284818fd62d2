/** Lists: `{data, has_more, next_cursor}`. */
import { z } from "@hono/zod-openapi";

export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** A page with the opaque cursor of the next one. Null on the last page. */
export interface List<T> extends Page<T> {
  readonly next_cursor: string | null;
}

export function listView<S extends z.ZodType>(schema: S) {
  return z.object({
    data: z.array(schema).readonly(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  });
}
