import { z } from "@hono/zod-openapi";
import { type KeyView, SCOPES, type TenantExport, type TenantSettings } from "../../app/tenant-api";
import type { KeyId, TenantId } from "../../domain/ids";
import { documents } from "./documents";
import { id, time } from "./ids";
import { modelName, modelView } from "./model";
import { policyName } from "./session";

const name = z.string().min(1).max(200);
const scope = z.enum(SCOPES);

export const createTenantInput = z.strictObject({ name }).openapi("CreateTenant");
export const tenantPatchInput = z
  .strictObject({ name: name.optional(), default_model: modelName.optional(), default_policy: policyName.optional() })
  .openapi("PatchTenant");

export interface TenantView extends TenantSettings {
  readonly id: TenantId;
}
export const tenantView = documents<TenantView>()(
  z
    .object({
      id: id("ten"),
      name: z.string(),
      default_model: z.string().openapi({ description: "What a session gets that names none" }),
      default_policy: z.string(),
    })
    .openapi("Tenant"),
);

export const keyInput = z
  .strictObject({
    name,
    scopes: z.array(scope).min(1).optional().openapi({ description: "By default: all that the maker has" }),
    expires_at: time.nullable().optional(),
  })
  .openapi("CreateKey");
export type KeyInput = z.infer<typeof keyInput>;

export const keyView = documents<KeyView>()(
  z
    .object({
      id: id("key"),
      name: z.string(),
      scopes: z.array(scope).readonly(),
      created_at: time,
      expires_at: time.nullable(),
      revoked_at: time.nullable(),
    })
    .openapi("Key"),
);

export const shownOnce = z.string().nullable().openapi({
  description:
    "Shown this once. Null when the request is repeated with its Idempotency-Key: the key was made and shown by the first one, and only its hash is kept. If that answer was lost, revoke this key and make another.",
});

export interface NewKeyView {
  readonly id: KeyId;
  readonly key: string | null;
}
export const newKeyView = documents<NewKeyView>()(z.object({ id: id("key"), key: shownOnce }).openapi("NewKey"));

export interface TenantExportView extends TenantView, Pick<TenantExport, "created_at" | "models" | "keys"> {}

export const tenantExport = documents<TenantExportView>()(
  z
    .object({
      id: id("ten"),
      name: z.string(),
      default_model: z.string(),
      default_policy: z.string(),
      created_at: time,
      models: z.array(modelView).readonly(),
      keys: z.array(keyView).readonly(),
    })
    .openapi("TenantExport"),
);
