import { z } from "@hono/zod-openapi";
import type { TenantSettings } from "../../app/tenant-api";
import type { AssignedLimits } from "../../app/tenant-limits-api";
import { chainChoices, type PolicyChoice, parseLevel, policyChoiceSchema, resolvePolicy } from "../../context/policy-choice";
import { time } from "../../contract/ids";
import { plainLine } from "../../contract/label";
import { NO_LIMITS } from "../../contract/limits";
import type { TenantView } from "../../contract/tenant";
import type { TenantId } from "../../domain/ids";
import { SCOPES } from "../../domain/scopes";
import { ANY_ORIGIN } from "../browsers";
import { clientsInput } from "./client-settings";
import { restrictionInput } from "./key-restriction";
import { modelName } from "./model";

const name = plainLine(200);

export const MAX_ALLOWED_ORIGINS = 100;

/** Apps outside of the web have schemes of their own (`capacitor://localhost`), whose origins the URL parser does not know. */
const APP_ORIGIN = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+$/;

/** True for an origin as browsers send it: the comparison with a request's header is letter by letter. */
const isOrigin = (text: string): boolean => text === ANY_ORIGIN || APP_ORIGIN.test(text) || isWebOrigin(text);
const isWebOrigin = (text: string): boolean => /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

const allowedOrigins = z
  .array(z.string().max(300).refine(isOrigin, "must be an origin as browsers send it, such as https://app.example.com, or *"))
  .max(MAX_ALLOWED_ORIGINS)
  .transform((origins) => [...new Set(origins)])
  .openapi({
    type: "array",
    items: { type: "string" },
    maxItems: MAX_ALLOWED_ORIGINS,
    description:
      "Replaces the list. Scheme, host and port, without a path and without the scheme's own port. `*` allows pages of every origin",
  });

export const createTenantInput = z.strictObject({ name }).openapi("CreateTenant");
export const tenantPatchInput = z
  .strictObject({
    name: name.optional(),
    default_model: modelName.nullable().optional().openapi({ description: "Null returns to the deployment's default" }),
    default_policy: policyChoiceSchema.nullable().optional(),
    allowed_origins: allowedOrigins.optional(),
  })
  .openapi("PatchTenant");

/** What the operator assigned, as the tenant's object was told. */
export const toAssigned = (assigned: AssignedLimits | null) => ({ plan: assigned?.plan ?? null, limits: assigned?.limits ?? NO_LIMITS });

interface Shown {
  readonly settings: TenantSettings;
  readonly assigned: AssignedLimits | null;
}

export function toTenantView(id: TenantId, { settings, assigned }: Shown, deployment: PolicyChoice): TenantView {
  const { name, default_model, allowed_origins } = settings;
  const default_policy = parseLevel(settings.default_policy);
  const effective_policy = resolvePolicy(chainChoices(deployment, default_policy));
  return { id, name, default_model, default_policy, effective_policy, allowed_origins, ...toAssigned(assigned) };
}

/** Long enough for a deployment of the tenant's own, and for one that goes wrong. In seconds. */
const DEFAULT_OVERLAP_SECONDS = 86_400;
const MAX_OVERLAP_SECONDS = 604_800;

export const rotateInput = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(DEFAULT_OVERLAP_SECONDS)
      .openapi({ description: "How long the old key stays valid beside the new one. 0: it ends at once" }),
  })
  .openapi("RotateKey");

export const keyInput = z
  .strictObject({
    name,
    scopes: z.array(z.enum(SCOPES)).min(1).optional().openapi({
      description:
        "Default: the scopes of the calling key. The admin's default is all scopes. With a restriction, those of them that it allows",
    }),
    restriction: restrictionInput.nullable().default(null),
    clients: clientsInput.nullable().default(null),
    expires_at: time.nullable().optional(),
  })
  .openapi("CreateKey");
