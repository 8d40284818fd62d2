/** Bindings and configuration, parsed once. This is the only file that spells a variable's name. */
import { z } from "zod";
import "./lib/plain-issues";
import type { ChatApi } from "./app/channels/chat-api";
import type { WholeSessionApi } from "./app/control-api";
import type { DeploymentApi } from "./app/deployment-api";
import type { DeploymentKeys } from "./app/key-source";
import type { ModelOverride } from "./app/model-entry";
import type { WholeTenantApi } from "./app/whole-tenant-api";
import { addressFault, MODEL_NAME, MODEL_NAME_RULE, modelFigures, PROVIDERS, toAddress, toFigures } from "./context/model-input";
import { endpointSchema } from "./context/model-quirks";
import { parsePolicyConfig } from "./context/policy-check";
import { DEFAULT_POLICY } from "./context/presets";
import { parseMasterKeys } from "./lib/master-keys";
import type { Peppers } from "./lib/peppers";
import { protoPath } from "./lib/proto-name";

export interface Env {
  readonly SESSIONS: DurableObjectNamespace<WholeSessionApi & Rpc.DurableObjectBranded>;
  readonly TENANTS: DurableObjectNamespace<WholeTenantApi & Rpc.DurableObjectBranded>;
  /** One object, for what belongs to the deployment as a whole. */
  readonly DEPLOYMENT: DurableObjectNamespace<DeploymentApi & Rpc.DurableObjectBranded>;
  /** One object for each conversation of a channel. */
  readonly CHATS: DurableObjectNamespace<ChatApi & Rpc.DurableObjectBranded>;
  /** The WebSockets over which clients of OpenAI's API ask for responses. */
  readonly RESPONSE_SOCKETS: DurableObjectNamespace;
  readonly DB: D1Database;
  /** More databases, for tenants that are placed there (docs/databases.md). */
  readonly [name: `DB_${number}`]: D1Database | undefined;
  readonly COMPACTIONS: Queue;
  /** The bytes of tenants' files. Absent: the deployment stores no files. */
  readonly FILES?: R2Bucket;
  /** The files of the reference page. Absent: there is no page. */
  readonly ASSETS?: Fetcher;
  /** Counts the requests of each key, and of each address without a valid one. Absent: floods are not counted. */
  readonly FLOODS?: RateLimit;
  /** Workers AI. Absent: its models are unavailable. */
  readonly AI?: Ai;
  readonly KEY_PEPPER?: string;
  readonly KEY_PEPPER_PREVIOUS?: string;
  readonly KEY_PEPPER_PREVIOUS_UNTIL?: string;
  readonly ADMIN_KEY?: string;
  readonly ENVIRONMENT?: string;
  readonly DEAD_LETTER_QUEUE?: string;
  readonly MODELS?: string;
  readonly POLICY?: string;
  readonly OPENAI_API_KEY?: string;
  readonly ANTHROPIC_API_KEY?: string;
  readonly GOOGLE_GENERATIVE_AI_API_KEY?: string;
  readonly OPENAI_COMPATIBLE_API_KEY?: string;
  readonly CREDENTIALS_KEYS?: string;
  readonly ALLOW_PRIVATE_MODEL_URLS?: string;
  readonly ALLOW_PRIVATE_TOOL_URLS?: string;
  readonly PUBLIC_URL?: string;
}

const deploymentModel = z
  .strictObject({
    provider: z.enum(PROVIDERS).optional(),
    endpoint: endpointSchema.optional(),
    upstream_id: z.string().min(1),
    base_url: z.url().nullable().default(null),
    ...modelFigures,
  })
  .superRefine((input, context) => {
    const fault = addressFault(input);
    if (fault) context.addIssue({ code: "custom", path: fault.field.split("."), message: fault.detail });
  })
  .transform(({ upstream_id, endpoint, ...said }): ModelOverride => {
    return { ...toAddress({ ...said, endpoint }), upstream_id, ...toFigures(said), ...(endpoint && { endpoint }) };
  });

/** A variable that is set to an empty string counts as unset. */
const secret = z
  .string()
  .optional()
  .transform((value) => value || undefined);

const DEAD_LETTERS = "longhand-compactions-dead";

/** Reads the name without `parseConfig`, so that dead letters are handled even when another variable is invalid. */
export const readDeadLetterQueue = ({ DEAD_LETTER_QUEUE }: Env): string => DEAD_LETTER_QUEUE || DEAD_LETTERS;

const variables = z.object({
  /** Secret key for the hashes of API keys, and for everything else that the deployment signs or seals for its clients. */
  KEY_PEPPER: z.string().min(16),
  /** The other pepper of a rotation. What it signed or sealed is accepted until the time below. */
  KEY_PEPPER_PREVIOUS: z.union([z.literal(""), z.string().min(16)]).default(""),
  /** `2026-12-01T00:00:00Z`. Needed with the other pepper. */
  KEY_PEPPER_PREVIOUS_UNTIL: z
    .union([z.literal(""), z.iso.datetime({ offset: true })], "must be a time such as 2026-12-01T00:00:00Z")
    .default("")
    .transform((text) => (text === "" ? null : Date.parse(text))),
  /** Bearer token of the admin routes, which create tenants. Unset: those routes refuse every request. */
  ADMIN_KEY: z.string().min(16).optional(),
  /**
   * A part of every key that this deployment creates: `lh_<env>_…`. It is only a label: a key is verified by its checksum, so changing the
   * label invalidates no key. Access tokens name it as their issuer, so a change makes them void.
   */
  ENVIRONMENT: z
    .string()
    .regex(/^[a-z0-9]{2,12}$/)
    .default("production"),
  /** The dead letter queue of the compaction queue, as wrangler.toml names it. */
  DEAD_LETTER_QUEUE: z.string().min(1).default(DEAD_LETTERS),
  /** JSON object from model id to model. The embedded model is always available. */
  MODELS: z
    .string()
    .default("{}")
    .transform((text, context) => {
      try {
        const proto = protoPath(text);
        if (proto) context.addIssue({ code: "custom", message: `${proto.join(".")}: contains a property name that is not allowed` });
        return proto ? z.NEVER : (JSON.parse(text) as unknown);
      } catch {
        context.addIssue({ code: "custom", message: "MODELS is not JSON" });
        return z.NEVER;
      }
    })
    .pipe(z.record(z.string().regex(MODEL_NAME, MODEL_NAME_RULE), deploymentModel)),
  /** The policy of a session when neither tenant nor client names one: a preset's name, or JSON with the differences from a preset. */
  POLICY: z
    .string()
    .default(DEFAULT_POLICY)
    .transform((text, context) => {
      const parsed = parsePolicyConfig(text);
      if (parsed.ok) return parsed.value;
      context.addIssue({ code: "custom", message: `POLICY: ${parsed.error}` });
      return z.NEVER;
    }),
  /** Used for the deployment's own models, and for a tenant's models at the provider's own address. Never sent to a tenant's base URL. */
  OPENAI_API_KEY: secret,
  ANTHROPIC_API_KEY: secret,
  GOOGLE_GENERATIVE_AI_API_KEY: secret,
  OPENAI_COMPATIBLE_API_KEY: secret,
  /**
   * `kid:base64,…`, keys of 32 bytes; a secret. The first key seals tenants' credentials, and every key can open them. Unset: no credential
   * can be stored.
   */
  CREDENTIALS_KEYS: z
    .string()
    .default("")
    .transform((text, context) => {
      const parsed = parseMasterKeys(text);
      if (parsed.ok) return parsed.value;
      context.addIssue({ code: "custom", message: parsed.error });
      return z.NEVER;
    }),
  /** For development: a tenant's base URL may use http and a local address. */
  ALLOW_PRIVATE_MODEL_URLS: z.stringbool().default(false),
  /** For development: the URL of a tool or an MCP server may use http and a local address, and its name is not resolved first. */
  ALLOW_PRIVATE_TOOL_URLS: z.stringbool().default(false),
  /**
   * The deployment's own address, without a path: `https://chat.example.com`. Providers read large files there, by signed addresses. Unset:
   * they are given no such address.
   */
  PUBLIC_URL: z
    .union([z.literal(""), z.url({ protocol: /^https?$/ })])
    .default("")
    .transform((url) => (url === "" ? null : new URL(url).origin)),
});
/** A pepper without an end would be accepted for ever. */
const config = variables.superRefine(({ KEY_PEPPER_PREVIOUS, KEY_PEPPER_PREVIOUS_UNTIL }, context) => {
  if (KEY_PEPPER_PREVIOUS === "" || KEY_PEPPER_PREVIOUS_UNTIL !== null) return;
  context.addIssue({ code: "custom", path: ["KEY_PEPPER_PREVIOUS_UNTIL"], message: "must be set with KEY_PEPPER_PREVIOUS" });
});
export type Config = z.infer<typeof config>;

export const readPeppers = ({ KEY_PEPPER, KEY_PEPPER_PREVIOUS: pepper, KEY_PEPPER_PREVIOUS_UNTIL: until }: Config): Peppers => ({
  current: KEY_PEPPER,
  previous: pepper === "" || until === null ? null : { pepper, until },
});

/** The deployment's own keys, by provider. */
export const readDeploymentKeys = (config: Config): DeploymentKeys => ({
  openai: config.OPENAI_API_KEY,
  anthropic: config.ANTHROPIC_API_KEY,
  google: config.GOOGLE_GENERATIVE_AI_API_KEY,
  "openai-compatible": config.OPENAI_COMPATIBLE_API_KEY,
});

const parsed = new WeakMap<object, Config>();

/** Throws a `ZodError` that names the variable, so that a wrong deployment fails at once. */
export function parseConfig(env: Env): Config {
  const known = parsed.get(env);
  if (known) return known;
  const value = config.parse(env);
  parsed.set(env, value);
  return value;
}
