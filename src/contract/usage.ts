/** A tenant's model calls in groups. */
import { z } from "@hono/zod-openapi";
import { id, time } from "./ids";
import { callPurpose, callSource, usageSums } from "./model-call";
import { listView } from "./page";

const usageRow = z
  .object({
    day: z
      .string()
      .nullable()
      .openapi({ example: "2026-11-22", description: "UTC. Like the other dimensions, null if the rows are not grouped by it" }),
    session_id: id("ses").nullable(),
    model: z.string().nullable(),
    purpose: callPurpose.nullable(),
    source: callSource.nullable(),
    key_id: id("key").nullable().openapi({ description: "The API key that asked. Also null for calls without a known key" }),
    end_user: z.string().nullable().openapi({ description: "The session's end user at the time. Also null for calls without one" }),
    ...usageSums.shape,
  })
  .openapi("Usage");
export type UsageRow = z.infer<typeof usageRow>;

/** In the order in which a table shows them. */
export const USAGE_COLUMNS = usageRow.keyof().options;

export const usageList = listView(usageRow).extend({
  from: time,
  to: time,
  complete_from: time.nullable().openapi({
    description: "The tenant's retention has removed older usage: the sums are of calls from this time on. Null: nothing was removed",
  }),
});
