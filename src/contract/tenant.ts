/** Tenants and their API keys. */
import { z } from "@hono/zod-openapi";
import { policySchema } from "../context/policy";
import { policyChoiceSchema } from "../context/policy-choice";
import { SCOPES } from "../domain/scopes";
import { TENANT_STATUSES } from "../domain/tenant-status";
import { clientSettings } from "./client-settings";
import { id, idOrNull, time } from "./ids";
import { keyRestriction } from "./key-restriction";
import { limitSet } from "./limits";
import { modelView } from "./model";

const assignedFields = {
  plan: z.string().nullable().openapi({ description: "The tenant plan that the deployment's operator assigned. Null: none" }),
  limits: limitSet,
};

export const tenantView = z
  .object({
    id: id("ten"),
    name: z.string(),
    default_model: z.string().openapi({ description: "The model of sessions that name none" }),
    default_policy: policyChoiceSchema.nullable().describe("Null for the deployment's policy"),
    effective_policy: policySchema.describe("The policy of sessions that name none, with all its values"),
    allowed_origins: z
      .array(z.string())
      .readonly()
      .openapi({ description: "The web origins whose pages may send requests. A request of another page is refused" }),
    ...assignedFields,
  })
  .openapi("Tenant");
export type TenantView = z.infer<typeof tenantView>;

export const tenantStatus = z.enum(TENANT_STATUSES).openapi({
  description: "The keys of a suspended tenant open nothing, and nothing of it is removed",
});

const standing = {
  status: tenantStatus,
  suspended_at: time.nullable().openapi({ description: "Null unless the tenant is suspended" }),
  reason: z.string().nullable().openapi({ description: "What the admin wrote at the suspension" }),
};

export const tenantStanding = z.object({ id: id("ten"), ...standing }).openapi("TenantStanding");

export const keyView = z
  .object({
    id: id("key"),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)).readonly(),
    restriction: keyRestriction.nullable().openapi({ description: "Null: the key is held to nothing but its scopes" }),
    clients: clientSettings.nullable().openapi({ description: "Null: all defaults" }),
    created_at: time,
    expires_at: time.nullable().openapi({ description: "Null if the key does not expire" }),
    revoked_at: time.nullable(),
    created_by: idOrNull("key").openapi({
      description: "The key that created this one. Null for the deployment's admin",
    }),
    revoked_by: idOrNull("key").openapi({
      description: "The key that revoked this one. Null for the deployment's admin, and while the key is not revoked",
    }),
    rotated_from: idOrNull("key").openapi({ description: "The key in whose place this one came. Null if it was created anew" }),
    rotated_to: idOrNull("key").openapi({ description: "The key that came in place of this one. Null while it is not rotated" }),
    last_used_at: time.nullable().openapi({
      description: "The last use that is recorded: at most 90 seconds before the last one. Null if the key was never used",
    }),
  })
  .openapi("Key");
export type KeyView = z.infer<typeof keyView>;

export const shownOnce = z.string().nullable().openapi({
  description:
    "The key itself, which is shown only once. Null if the request repeats an Idempotency-Key: the first request created and showed the key, and only its hash is stored. If that response was lost, revoke this key and create another",
});

export const newKeyView = z.object({ id: id("key"), key: shownOnce }).openapi("NewKey");

export const tenantExportView = z
  .object({
    id: id("ten"),
    name: z.string(),
    default_model: z.string(),
    default_policy: policyChoiceSchema.nullable(),
    allowed_origins: z.array(z.string()).readonly(),
    created_at: time,
    ...standing,
    ...assignedFields,
    models: z.array(modelView).readonly(),
    keys: z.array(keyView).readonly(),
  })
  .openapi("TenantExport");
