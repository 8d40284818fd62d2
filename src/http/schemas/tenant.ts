import { z } from "@hono/zod-openapi";
import { type KeyView, SCOPES, type TenantExport, type TenantSettings } from "../../app/tenant-api";
import type { Policy } from "../../context/policy";
import { chainChoices, type PolicyChoice, parseLevel, resolvePolicy } from "../../context/policy-choice";
import { id, idOrNull, time } from "../../contract/ids";
import { type ModelView, modelView } from "../../contract/model";
import type { KeyId, TenantId } from "../../domain/ids";
import { documents } from "./documents";
import { modelName } from "./model";
import { policyChoiceInput, policyChoiceView, policyView } from "./policy";

const name = z.string().min(1).max(200);
const scope = z.enum(SCOPES);

export const createTenantInput = z.strictObject({ name }).openapi("CreateTenant");
export const tenantPatchInput = z
  .strictObject({ name: name.optional(), default_model: modelName.optional(), default_policy: policyChoiceInput.nullable().optional() })
  .openapi("PatchTenant");

interface TenantView extends Omit<TenantSettings, "default_policy"> {
  readonly id: TenantId;
  readonly default_policy: PolicyChoice | null;
  readonly effective_policy: Policy;
}
export const tenantView = documents<TenantView>()(
  z
    .object({
      id: id("ten"),
      name: z.string(),
      default_model: z.string().openapi({ description: "What a session gets that names none" }),
      default_policy: policyChoiceView.nullable().describe("Null: what the deployment says"),
      effective_policy: policyView.describe("What a session gets that names none"),
    })
    .openapi("Tenant"),
);

export function toTenantView(id: TenantId, settings: TenantSettings, deployment: PolicyChoice): TenantView {
  const { name, default_model } = settings;
  const default_policy = parseLevel(settings.default_policy);
  return { id, name, default_model, default_policy, effective_policy: resolvePolicy(chainChoices(deployment, default_policy)) };
}

export const keyInput = z
  .strictObject({
    name,
    scopes: z.array(scope).min(1).optional().openapi({ description: "By default: all that the maker has" }),
    expires_at: time.nullable().optional(),
  })
  .openapi("CreateKey");
export const keyView = documents<KeyView>()(
  z
    .object({
      id: id("key"),
      name: z.string(),
      scopes: z.array(scope).readonly(),
      created_at: time,
      expires_at: time.nullable(),
      revoked_at: time.nullable(),
      created_by: idOrNull("key").openapi({ description: "The key that made it; null: the deployment's admin, or not recorded" }),
      revoked_by: idOrNull("key").openapi({ description: "The key that revoked it; null: the deployment's admin, or not recorded" }),
    })
    .openapi("Key"),
);

export const shownOnce = z.string().nullable().openapi({
  description:
    "Shown this once. Null when the request is repeated with its Idempotency-Key: the key was made and shown by the first one, and only its hash is kept. If that answer was lost, revoke this key and make another.",
});

interface NewKeyView {
  readonly id: KeyId;
  readonly key: string | null;
}
export const newKeyView = documents<NewKeyView>()(z.object({ id: id("key"), key: shownOnce }).openapi("NewKey"));

interface TenantExportView extends Omit<TenantView, "effective_policy">, Pick<TenantExport, "created_at" | "keys"> {
  readonly models: readonly ModelView[];
}

export const tenantExport = documents<TenantExportView>()(
  z
    .object({
      id: id("ten"),
      name: z.string(),
      default_model: z.string(),
      default_policy: policyChoiceView.nullable(),
      created_at: time,
      models: z.array(modelView).readonly(),
      keys: z.array(keyView).readonly(),
    })
    .openapi("TenantExport"),
);
