/** What the deployment's admin reads of the deployment as a whole. */
import { z } from "@hono/zod-openapi";
import { ADMIN_ROLES } from "../domain/admin-roles";
import { id, idOrNull, time } from "./ids";
import { tenantStatus } from "./tenant";

export const listedTenantView = z
  .object({
    id: id("ten"),
    name: z.string().openapi({ description: "Empty if the tenant was deleted" }),
    created_at: time,
    status: tenantStatus,
    database: z.string().openapi({ description: "The database of the read model that it is in", example: "DB" }),
    deleted_at: time.optional().openapi({ description: "When the tenant was deleted. Absent: it was not" }),
  })
  .openapi("ListedTenant");
/** A tenant as the deployment's list has it. */
export type ListedTenant = z.infer<typeof listedTenantView>;

export const adminKeyView = z
  .object({
    id: id("adm"),
    name: z.string(),
    role: z.enum(ADMIN_ROLES).openapi({ description: "Each role includes those before it" }),
    created_at: time,
    expires_at: time.nullable().openapi({ description: "Null if the key does not expire" }),
    revoked_at: time.nullable(),
    created_by: idOrNull("adm").openapi({ description: "The key that created this one. Null for ADMIN_KEY" }),
    revoked_by: idOrNull("adm").openapi({
      description: "The key that revoked this one. Null for ADMIN_KEY, and while the key is not revoked",
    }),
    rotated_from: idOrNull("adm").openapi({ description: "The key that this one replaces" }),
    rotated_to: idOrNull("adm").openapi({ description: "The key that replaces this one" }),
    last_used_at: time.nullable().openapi({ description: "To within two minutes. Null if the key was never used" }),
  })
  .openapi("AdminKey");
export type AdminKeyView = z.infer<typeof adminKeyView>;

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
