import { z } from "@hono/zod-openapi";
import {
  FIGURE_SOURCES,
  type FigureSources,
  type LimitSuggestion,
  type ModelEntry,
  type ModelOverride,
  SUGGESTION_SOURCES,
} from "../../app/model-entry";
import { type ModelCapabilities, type ModelSpec, PROVIDERS } from "../../app/ports";
import { shownAddress } from "../../app/shown-address";
import type { Prices } from "../../context/economy";
import {
  baseUrlFault,
  capabilitiesSchema,
  MODEL_NAME,
  MODEL_NAME_RULE,
  modelFigures,
  takesKey,
  toFigures,
} from "../../context/model-input";
import { toPerMillion } from "../../context/price-units";
import { time } from "../../contract/ids";
import { credentialName } from "./credential";
import { documents } from "./documents";

export const modelName = z.string().regex(MODEL_NAME, MODEL_NAME_RULE).openapi({ example: "embedded" });

export const modelInput = z
  .strictObject({
    provider: z.enum(PROVIDERS).openapi({
      description: "openai: Responses; openai-chat: its chat completions; openai-compatible: chat completions at any other address",
    }),
    upstream_id: z.string().min(1).max(256).optional().openapi({ description: "The provider's name for it; by default the id" }),
    base_url: z.string().max(2048).nullable().optional().openapi({
      description:
        "With its version, as in https://gateway.example/v1 (google: /v1beta); the wire's paths are added to it. Needed for openai-compatible; by default the provider's own address. None for embedded and workers-ai",
    }),
    ...modelFigures,
    credential: credentialName
      .optional()
      .openapi({ description: "Name of the tenant's credential; by default the deployment's key, at the provider's own address only" }),
  })
  .superRefine(({ provider, base_url, credential }, context) => {
    const message = baseUrlFault(provider, base_url || null);
    if (message) context.addIssue({ code: "custom", path: ["base_url"], message });
    if (credential !== undefined && !takesKey(provider)) {
      context.addIssue({ code: "custom", path: ["credential"], message: "not used by this provider" });
    }
  })
  .openapi("PutModel");

/** Stores only what the client said. What is known of the model's name is looked up whenever it is needed. */
export function toOverride(input: z.infer<typeof modelInput>, id: string): ModelOverride {
  const { provider, upstream_id = id, base_url, credential, ...said } = input;
  return { provider, upstream_id, base_url: base_url || null, ...toFigures(said), ...(credential !== undefined && { credential }) };
}

export interface ModelView
  extends Pick<ModelSpec, "id" | "provider" | "upstream_id" | "base_url" | "context_window" | "max_output" | "source"> {
  readonly capabilities: ModelCapabilities | null;
  readonly ratio: number | null;
  readonly prices: Prices | null;
  readonly credential: string | null;
  readonly sources: FigureSources;
  readonly warnings: readonly string[];
  readonly suggestions: readonly LimitSuggestion[];
}

const UNKNOWN_WINDOW =
  "context_window is unknown: a conversation with this model is compacted only under a policy that assumes one (unknown_window)";
const UNKNOWN_OUTPUT = "max_output is unknown and taken to be the figure shown";
const MISSING_CREDENTIAL = "credential names none that is there: calls of this model fail";
const MISSING_KEY = "no credential is named, and the deployment has no key for this provider: calls of this model fail";

const from = z.enum(FIGURE_SOURCES);

const pricesView = documents<Prices>()(z.object({ input: z.number(), output: z.number(), cached: z.number(), cache_write: z.number() }));

const suggestionView = documents<LimitSuggestion>()(
  z.object({ figure: z.enum(["context_window", "max_output"]), tokens: z.int(), source: z.enum(SUGGESTION_SOURCES), at: time }),
);

export const modelView = documents<ModelView>()(
  z
    .object({
      id: z.string(),
      provider: z.enum(PROVIDERS),
      upstream_id: z.string(),
      base_url: z
        .string()
        .nullable()
        .openapi({ description: "Null: the provider's own address; null too for the deployment's own models" }),
      context_window: z.int().nullable(),
      max_output: z.int(),
      capabilities: capabilitiesSchema.nullable().openapi({ description: "Null: unknown, and all of it is tried" }),
      ratio: z.number().nullable().openapi({ description: "Null: 1, until a session has learned its own" }),
      prices: pricesView.nullable().openapi({ description: "US dollars per million tokens; null: unknown, which is never free" }),
      credential: z.string().nullable(),
      source: z.enum(["deployment", "tenant"]),
      sources: z
        .object({ context_window: from, max_output: from, capabilities: from, ratio: from, prices: from })
        .openapi({ description: "Who says each figure" }),
      warnings: z.array(z.string()).readonly().openapi({ description: "What this model will not do as it is" }),
      suggestions: z
        .array(suggestionView)
        .readonly()
        .openapi({ description: "Limits that the provider named and that were not adopted. PUT the model with a limit to adopt it" }),
    })
    .openapi("Model"),
);

function listWarnings({ context_window, figures, credential_missing, key_missing }: ModelEntry): string[] {
  const warnings = [
    context_window === null && UNKNOWN_WINDOW,
    figures.max_output === "unknown" && UNKNOWN_OUTPUT,
    credential_missing && MISSING_CREDENTIAL,
    key_missing && MISSING_KEY,
  ];
  return warnings.filter((warning) => warning !== false);
}

/** Does not show the addresses of the deployment's own models. */
export function toModelView(model: ModelEntry): ModelView {
  const { id, provider, upstream_id, context_window, max_output, source, figures, suggestions } = model;
  return {
    id,
    provider,
    upstream_id,
    base_url: model.base_url && shownAddress(model.base_url, model),
    context_window,
    max_output,
    capabilities: model.capabilities ?? null,
    ratio: model.ratio ?? null,
    prices: model.prices ? toPerMillion(model.prices) : null,
    credential: model.credential ?? null,
    source,
    sources: figures,
    warnings: listWarnings(model),
    suggestions,
  };
}
