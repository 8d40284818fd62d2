/** Bindings and configuration: parsed once, and the only place that spells a variable's name. */
import { z } from "zod";
import type { WholeSessionApi } from "./app/control-api";
import type { TenantApi, TenantMaintenance } from "./app/tenant-api";
import { parsePolicyConfig } from "./context/policy-check";
import { DEFAULT_POLICY } from "./context/presets";

export interface Env {
  readonly SESSIONS: DurableObjectNamespace<WholeSessionApi & Rpc.DurableObjectBranded>;
  readonly TENANTS: DurableObjectNamespace<TenantApi & TenantMaintenance & Rpc.DurableObjectBranded>;
  readonly DB: D1Database;
  readonly COMPACTIONS: Queue;
  /** Workers AI; absent: its models are out of reach. */
  readonly AI?: Ai;
  readonly KEY_PEPPER?: string;
  readonly ADMIN_KEY?: string;
  readonly ENVIRONMENT?: string;
  readonly MODELS?: string;
  readonly POLICY?: string;
  readonly OPENAI_COMPATIBLE_API_KEY?: string;
  readonly ALLOW_PRIVATE_MODEL_URLS?: string;
}

const deploymentModel = z.strictObject({
  provider: z.enum(["embedded", "openai-compatible"]),
  upstream_id: z.string().min(1),
  base_url: z.url().nullable().default(null),
  context_window: z.int().min(1024).nullable(),
  max_output: z.int().min(1),
});
export type DeploymentModel = z.infer<typeof deploymentModel>;

const config = z.object({
  /** Keys the hashes of API keys; a secret. */
  KEY_PEPPER: z.string().min(16),
  /** Bearer of the admin routes, which create tenants; unset: those routes refuse. */
  ADMIN_KEY: z.string().min(16).optional(),
  /** Part of every key that this deployment makes: `lh_<env>_…`. */
  ENVIRONMENT: z
    .string()
    .regex(/^[a-z0-9]{2,12}$/)
    .default("dev"),
  /** JSON object, model id → model. The embedded model is always there. */
  MODELS: z
    .string()
    .default("{}")
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: "custom", message: "MODELS is not JSON" });
        return z.NEVER;
      }
    })
    .pipe(z.record(z.string(), deploymentModel)),
  /** What a session gets whose tenant and client name none: a preset's name, or JSON that names what differs from one. */
  POLICY: z
    .string()
    .default(DEFAULT_POLICY)
    .transform((text, context) => {
      const parsed = parsePolicyConfig(text);
      if (parsed.ok) return parsed.value;
      context.addIssue({ code: "custom", message: `POLICY: ${parsed.error}` });
      return z.NEVER;
    }),
  /** Sent to the deployment's own models only, never to a tenant's base URL. */
  OPENAI_COMPATIBLE_API_KEY: z.string().optional(),
  /** For development: a tenant's base URL may be http and local. */
  ALLOW_PRIVATE_MODEL_URLS: z.stringbool().default(false),
});
export type Config = z.infer<typeof config>;

const parsed = new WeakMap<object, Config>();

/** Throws a `ZodError` naming the variable: a deployment that is wrong must say so at once. */
export function parseConfig(env: Env): Config {
  const known = parsed.get(env);
  if (known) return known;
  const value = config.parse(env);
  parsed.set(env, value);
  return value;
}
