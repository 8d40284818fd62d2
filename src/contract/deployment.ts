/** What the deployment's admin reads of the deployment as a whole. */
import { z } from "@hono/zod-openapi";
import { id, time } from "./ids";

export const listedTenantView = z.object({ id: id("ten"), name: z.string(), created_at: time }).openapi("ListedTenant");

export const tenantListRebuild = z
  .object({
    tenants: z.int().openapi({ description: "Rows of tenants that this request read" }),
    added: z.int().openapi({ description: "Tenants that were not in the list before" }),
    unknown: z
      .array(id("ten"))
      .readonly()
      .openapi({ description: "Tenants with a row whose object does not know them. They stay unlisted" }),
    next_cursor: z.string().nullable().openapi({ description: "Null if all rows were read" }),
  })
  .openapi("TenantListRebuild");
