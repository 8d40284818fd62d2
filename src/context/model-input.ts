/** The input shape of a model's figures, over HTTP and in the deployment's variable alike. Prices are US dollars per million tokens. */
import { z } from "zod";
import { RATIO_BOUNDS } from "../domain/learned-ratio";
import type { Prices } from "./economy";
import { type EndpointId, findEndpoint, hasQuirk, QUIRK_NAMES, type QuirkName, quirksSchema, toQuirks } from "./model-quirks";
import { toPerToken } from "./price-units";

/** Minimum context window: smaller requests hold no conversation. */
const MIN_WINDOW = 1_024;
const MAX_TOKENS = 100_000_000;
/** Maximum price in US dollars per million tokens. A larger value is a mistake of the unit. */
const MAX_PRICE = 100_000;

/**
 * Which provider serves a model, over which API. `openai`: the Responses API; `openai-chat`: OpenAI's chat completions;
 * `openai-compatible`: chat completions at any other address.
 */
export const PROVIDERS = ["embedded", "openai", "openai-chat", "openai-compatible", "anthropic", "google", "workers-ai"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The figures that a provider may report. */
export const LIMIT_FIGURES = ["context_window", "max_output"] as const;
/** `provider_endpoint`: the provider's list of models, when a client asked for it; `provider_error`: the number in a refusal. */
export const SUGGESTION_SOURCES = ["provider_endpoint", "provider_error"] as const;

const price = z.number().min(0).max(MAX_PRICE);

/** Allowed names of a model, over HTTP and in the deployment's variable alike. */
export const MODEL_NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/;
export const MODEL_NAME_RULE = "1 to 128 letters, digits and . _ : / @ -, a letter or digit first";

export const capabilitiesSchema = z.strictObject({
  tools: z.boolean(),
  images: z.boolean(),
  files: z.boolean(),
  reasoning: z.boolean().describe("A request can ask the model to think, or not to think"),
});

/** What a request to the model may contain. Content that the model cannot read is described in words instead. */
export type ModelCapabilities = z.infer<typeof capabilitiesSchema>;

/** US dollars per million tokens. */
const pricesSchema = z.strictObject({
  input: price,
  output: price,
  cached: price.optional().describe("Price of input that is read from the provider's cache. Default: the price of input"),
  cache_write: price.optional().describe("Price of input that is written to the provider's cache. Default: the price of input"),
});

/** A model's figures. An absent one defaults to what is known of the model's name. */
export const modelFigures = {
  context_window: z
    .int()
    .min(MIN_WINDOW)
    .max(MAX_TOKENS)
    .nullable()
    .optional()
    .describe("Tokens. Null if unknown: conversations are then compacted only under a policy that assumes a window"),
  max_output: z
    .int()
    .min(1)
    .max(MAX_TOKENS)
    .optional()
    .describe("The most tokens of one reply. Required if the model's name is unknown to this service"),
  capabilities: capabilitiesSchema
    .optional()
    .describe("What a request may contain. Content that the model cannot read is described in words instead"),
  ratio: z
    .number()
    .min(RATIO_BOUNDS.min)
    .max(RATIO_BOUNDS.max)
    .optional()
    .describe("Reported tokens divided by estimated tokens, until a session has learned its own ratio. Default: 1"),
  prices: pricesSchema.optional().describe("US dollars per million tokens"),
  quirks: quirksSchema
    .optional()
    .describe("Where the endpoint differs from what is known of it. Default: what is known of the model's name and address"),
};

/** The first quirk that a model of this provider cannot have. Null: none. */
const quirkFault = (provider: string, quirks: object | undefined): QuirkName | null =>
  QUIRK_NAMES.find((quirk) => quirks !== undefined && quirk in quirks && !hasQuirk(provider, quirk)) ?? null;

const figures = z.object(modelFigures);
type FiguresInput = z.infer<typeof figures>;

/** Converts the input. Absent figures stay absent. */
export function toFigures({ context_window, max_output, capabilities, ratio, prices, quirks }: FiguresInput) {
  return {
    ...(context_window !== undefined && { context_window }),
    ...(max_output !== undefined && { max_output }),
    ...(capabilities && { capabilities }),
    ...(ratio !== undefined && { ratio }),
    ...(prices && { prices: toPrices(prices) }),
    ...(quirks && { quirks: toQuirks(quirks) }),
  };
}

const toPrices = ({ input, output, cached = input, cache_write = input }: z.infer<typeof pricesSchema>): Prices =>
  toPerToken({ input, output, cached, cache_write });

interface FilledAddress {
  readonly provider: Provider;
  readonly base_url: string | null;
}

/** The provider and address of a model that `addressFault` has found nothing wrong with. */
export function toAddress(named: NamedAddress): FilledAddress {
  const filled = fillEndpoint(named);
  if (!filled) throw new TypeError("The model has no provider.");
  return filled;
}

/** The provider and address of a model: what was named, or else its endpoint's. Null: neither names the provider. */
export function fillEndpoint({ provider, base_url, endpoint }: NamedAddress): FilledAddress | null {
  const known = findEndpoint(endpoint);
  const named = provider ?? known?.provider;
  const address = base_url || (known && provider === undefined && !known.base_url?.includes("{") ? known.base_url : null);
  return named === undefined ? null : { provider: named, base_url: address };
}

interface NamedAddress {
  readonly provider?: Provider | undefined;
  readonly base_url?: string | null | undefined;
  readonly endpoint?: EndpointId | undefined;
}

/** What is wrong with the address or the quirks of a model, and with which field. Null: nothing. */
export function addressFault(
  input: NamedAddress & { readonly quirks?: object | undefined },
): { readonly field: string; readonly detail: string } | null {
  const filled = fillEndpoint(input);
  if (!filled) return { field: "provider", detail: "needed where no endpoint is named" };
  const detail = baseUrlFault(filled.provider, filled.base_url);
  if (detail) return { field: "base_url", detail };
  const quirk = quirkFault(filled.provider, input.quirks);
  return quirk && { field: `quirks.${quirk}`, detail: "not used by this provider" };
}

/** Providers that are always at the operator's own URL, and those that are called without one. */
const NEEDS_URL: readonly string[] = ["openai-compatible"];
const NO_URL: readonly string[] = ["embedded", "workers-ai"];

/** What is wrong with the presence or absence of a base URL. Null when nothing is. */
function baseUrlFault(provider: string, baseUrl: string | null): string | null {
  if (baseUrl === null) return NEEDS_URL.includes(provider) ? "needed for this provider" : null;
  return NO_URL.includes(provider) ? "not used by this provider" : null;
}

/** Whether the provider is called with a key. */
export const takesKey = (provider: string): boolean => !NO_URL.includes(provider);
