import { z } from "@hono/zod-openapi";
import type { TenantSettings } from "../../app/tenant-api";
import { chainChoices, type PolicyChoice, parseLevel, policyChoiceSchema, resolvePolicy } from "../../context/policy-choice";
import { time } from "../../contract/ids";
import type { TenantView } from "../../contract/tenant";
import type { TenantId } from "../../domain/ids";
import { SCOPES } from "../../domain/scopes";
import { modelName } from "./model";

const name = z.string().min(1).max(200);

export const createTenantInput = z.strictObject({ name }).openapi("CreateTenant");
export const tenantPatchInput = z
  .strictObject({
    name: name.optional(),
    default_model: modelName.nullable().optional().openapi({ description: "Null returns to the deployment's default" }),
    default_policy: policyChoiceSchema.nullable().optional(),
  })
  .openapi("PatchTenant");

export function toTenantView(id: TenantId, settings: TenantSettings, deployment: PolicyChoice): TenantView {
  const { name, default_model } = settings;
  const default_policy = parseLevel(settings.default_policy);
  return { id, name, default_model, default_policy, effective_policy: resolvePolicy(chainChoices(deployment, default_policy)) };
}

export const keyInput = z
  .strictObject({
    name,
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .optional()
      .openapi({ description: "Default: the scopes of the calling key. The admin's default is all scopes" }),
    expires_at: time.nullable().optional(),
  })
  .openapi("CreateKey");
