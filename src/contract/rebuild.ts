/** What a rebuild of the read model reports. */
import { z } from "@hono/zod-openapi";
import { id } from "./ids";

const cell = z.union([z.string(), z.number(), z.null()]);

const rowDifference = z.object({
  table: z.string(),
  key: z.string(),
  column: z
    .string()
    .nullable()
    .openapi({ description: "Null if the whole row is missing (`before` is null) or should not exist (`after` is null)" }),
  before: cell,
  after: cell,
});
export type RowDifference = z.infer<typeof rowDifference>;

export const rebuildReport = z
  .object({
    session_id: z.string(),
    differences: z.array(rowDifference).readonly().openapi({ description: "The differences that this request found" }),
    repaired: z
      .boolean()
      .nullable()
      .openapi({ description: "True if no difference is left. Null if the rebuild continues with `next_cursor`" }),
    rows: z.int().openapi({ description: "Rows that this pass has compared so far. At the end, all rows of the session" }),
    next_cursor: z.string().nullable().openapi({ description: "Null if the rebuild is over" }),
  })
  .openapi("RebuildReport");
export type RebuildReport = z.infer<typeof rebuildReport>;

export const tenantRebuildReport = z
  .object({
    tenant_id: id("ten"),
    differences: z.array(rowDifference).readonly().openapi({
      description: "The rows that were wrong or missing. Rows follow a change within seconds, so a recent change may be among them",
    }),
    repaired: z.boolean().openapi({ description: "True if no difference is left" }),
    rows: z.int(),
  })
  .openapi("TenantRebuildReport");
export type TenantRebuildReport = z.infer<typeof tenantRebuildReport>;
