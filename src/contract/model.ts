/** A model of the registry as a tenant sees it, with the source of each figure. */
import { z } from "@hono/zod-openapi";
import type { Prices } from "../context/economy";
import { capabilitiesSchema, LIMIT_FIGURES, PROVIDERS, SUGGESTION_SOURCES } from "../context/model-input";
import { endpointSchema, QUIRK_NAMES } from "../context/model-quirks";
import { domainShape } from "./domain-shape";
import { time } from "./ids";
import { listView } from "./page";

const figureSource = z.enum(["tenant", "deployment", "preset", "prices_package", "unknown"]);
export type FigureSource = z.infer<typeof figureSource>;

const figureSources = z
  .object({
    context_window: figureSource,
    max_output: figureSource,
    capabilities: figureSource,
    ratio: figureSource,
    prices: figureSource,
  })
  .openapi({
    description:
      "The source of each figure: the tenant, the deployment, the presets of known model names, the package of prices, or unknown",
  });
export type FigureSources = z.infer<typeof figureSources>;

const limitSuggestion = z.object({
  figure: z.enum(LIMIT_FIGURES),
  tokens: z.int(),
  source: z.enum(SUGGESTION_SOURCES).openapi({
    description:
      "provider_endpoint: the provider's list of models, after a client asked for it; provider_error: the number in the provider's refusal",
  }),
  at: time.openapi({ description: "When the limit was last reported" }),
});
export type LimitSuggestion = z.infer<typeof limitSuggestion>;

const quirkValue = z.union([z.string(), z.boolean(), z.int()]);

const knownQuirk = z.object({
  quirk: z.enum(QUIRK_NAMES),
  value: quirkValue,
  source: z.enum(["tenant", "deployment", "preset", "learned"]).openapi({
    description: "Who says so: the model's entry, what is known of its name and address, or a refusal of its provider",
  }),
  until: time.nullable().openapi({ description: "When a lesson expires. Null for every other source" }),
});
export type KnownQuirk = z.infer<typeof knownQuirk>;

const pricesView = domainShape<Prices>()(z.object({ input: z.number(), output: z.number(), cached: z.number(), cache_write: z.number() }));

/** As OpenAI's API says it. The native API's other deletions have no body. */
export const modelDeletion = z.object({ id: z.string(), object: z.literal("model"), deleted: z.literal(true) }).openapi("ModelDeletion");

export const modelView = z
  .object({
    id: z.string(),
    object: z.literal("model").openapi({ description: "As OpenAI's API says it" }),
    type: z.literal("model").openapi({ description: "As Anthropic's API says it" }),
    display_name: z.string().openapi({ description: "The id" }),
    created: z.int().openapi({ description: "Always 0: unknown. OpenAI's clients expect epoch seconds" }),
    owned_by: z.string().openapi({ description: "The provider, by the name that OpenAI's clients read" }),
    provider: z.enum(PROVIDERS),
    upstream_id: z.string().openapi({ description: "The provider's name for the model" }),
    base_url: z
      .string()
      .nullable()
      .openapi({ description: "Null for the provider's own address, and for every model of the deployment, whose address is not shown" }),
    context_window: z.int().nullable().openapi({ description: "Tokens. Null if unknown" }),
    max_output: z.int().openapi({ description: "The most tokens of one reply" }),
    capabilities: capabilitiesSchema.nullable().openapi({
      description: "What a request may contain. Null if unknown: requests may then contain all of it",
    }),
    ratio: z.number().nullable().openapi({
      description: "Reported tokens divided by estimated tokens, until a session has learned its own ratio. Null counts as 1",
    }),
    prices: pricesView.nullable().openapi({ description: "US dollars per million tokens. Null if unknown, which never counts as free" }),
    credential: z.string().nullable().openapi({ description: "The name of the tenant's credential. Null for the deployment's key" }),
    source: z.enum(["deployment", "tenant"]).openapi({ description: "Which side configured the model" }),
    sources: figureSources,
    warnings: z.array(z.string()).readonly().openapi({ description: "Reasons why calls fail or conversations are not compacted" }),
    endpoint: endpointSchema.nullable().openapi({ description: "The endpoint by name. Null: none was named" }),
    quirks: z.array(knownQuirk).readonly().openapi({
      description: "Where the model's endpoint is not asked as usual. To forget what was learned, put or probe the model",
    }),
    suggestions: z.array(limitSuggestion).readonly().openapi({
      description: "Limits that the provider reported and that are not adopted. To adopt one, put the model with this limit",
    }),
  })
  .openapi("Model");
/** What OpenAI's and Anthropic's clients read of the list, beside what every list has. */
export const modelList = listView(modelView).extend({
  object: z.literal("list"),
  first_id: z.string().nullable().openapi({ description: "The id of the first model of the page. Null if it is empty" }),
  last_id: z.string().nullable().openapi({ description: "The id of the last model of the page. Null if it is empty" }),
});

export type ModelView = z.infer<typeof modelView>;
