/** A limit that applies to a caller, and what is used of it. */
import { z } from "@hono/zod-openapi";
import { time } from "./ids";

export const limitUse = z
  .object({
    of: z.enum(["tenant", "key", "end_user"]).openapi({ description: "Whom the limit counts for" }),
    limit: z.string().openapi({ description: "As a set of limits names it", example: "requests_per_minute" }),
    max: z.int().openapi({ description: "0 allows nothing" }),
    used: z.int().nullable().openapi({
      description:
        "Of the present minute: what was granted, in blocks. Of turns and streams: the slots that are leased. Null: each session counts it",
    }),
    resets_at: time.nullable().openapi({ description: "When the minute ends. Null: what is used is used until it is removed" }),
  })
  .openapi("LimitUse");
export type LimitUse = z.infer<typeof limitUse>;

export const limitUseList = z.object({ data: z.array(limitUse) }).openapi("LimitUseList");
