import { z } from "@hono/zod-openapi";
import type { ModelEntry, ModelOverride } from "../../app/model-entry";
import { shownAddress } from "../../app/shown-address";
import {
  addressFault,
  fillEndpoint,
  MODEL_NAME,
  MODEL_NAME_RULE,
  modelFigures,
  PROVIDERS,
  takesKey,
  toAddress,
  toFigures,
} from "../../context/model-input";
import { endpointSchema } from "../../context/model-quirks";
import { toPerMillion } from "../../context/price-units";
import type { ModelView } from "../../contract/model";
import { urlFault } from "../../lib/public-address";
import { credentialName } from "./credential";

export const modelName = z.string().regex(MODEL_NAME, MODEL_NAME_RULE).openapi({ example: "embedded" });

export const modelInput = z
  .strictObject({
    provider: z.enum(PROVIDERS).optional().openapi({
      description:
        "openai: the Responses API; openai-chat: OpenAI's chat completions; openai-compatible: chat completions at any other address. Default: the endpoint's. Required if no endpoint is named",
    }),
    endpoint: endpointSchema.optional().openapi({
      description: "A known endpoint by name. It names the provider, the base URL where the endpoint has a fixed one, and its quirks",
    }),
    upstream_id: z.string().min(1).max(256).optional().openapi({ description: "The provider's name for the model. Default: the id" }),
    base_url: z.string().max(2048).nullable().optional().openapi({
      description:
        "The URL with its version, such as https://gateway.example/v1 (google: /v1beta). The paths of the API are added to it. Required for openai-compatible, not allowed for embedded and workers-ai. Default: the endpoint's, or the provider's own address",
    }),
    ...modelFigures,
    credential: credentialName.optional().openapi({
      description: "Name of the tenant's credential. Default: the deployment's key, which is sent to the provider's own address only",
    }),
  })
  .superRefine(({ credential, ...input }, context) => {
    const fault = addressFault(input);
    if (fault) context.addIssue({ code: "custom", path: fault.field.split("."), message: fault.detail });
    const provider = fillEndpoint(input)?.provider;
    if (credential !== undefined && provider !== undefined && !takesKey(provider)) {
      context.addIssue({ code: "custom", path: ["credential"], message: "not used by this provider" });
    }
  })
  .openapi("PutModel");

/** What is wrong with the URL, or null. `allowPrivate` accepts http and local addresses too, but never credentials. */
export function refuseModelUrl(text: string, allowPrivate: boolean): string | null {
  const fault = urlFault(text, allowPrivate);
  if (fault) return fault;
  // Paths are appended to the base URL, so a query would be lost.
  return URL.parse(text)?.search ? "must not have a query or a fragment" : null;
}

/** Stores only what the client said. What is known of the model's name is looked up whenever it is needed. */
export function toOverride(input: z.infer<typeof modelInput>, id: string): ModelOverride {
  const { upstream_id = id, credential, endpoint, ...said } = input;
  const named = { ...(endpoint && { endpoint }), ...(credential !== undefined && { credential }) };
  return { ...toAddress({ ...said, endpoint }), upstream_id, ...toFigures(said), ...named };
}

const UNKNOWN_WINDOW =
  "context_window is unknown: a conversation with this model is compacted only under a policy that assumes one (unknown_window)";
const UNKNOWN_OUTPUT = "max_output is unknown, so the figure shown is assumed";
const MISSING_CREDENTIAL = "the credential named here does not exist: calls of this model fail";
const MISSING_KEY = "no credential is named, and the deployment has no key for this provider: calls of this model fail";

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
    object: "model",
    type: "model",
    display_name: id,
    created: 0,
    owned_by: provider,
    provider,
    upstream_id,
    base_url: model.base_url && shownAddress(model.base_url, model),
    context_window,
    max_output,
    capabilities: model.capabilities ?? null,
    ratio: model.ratio ?? null,
    prices: model.prices ? toPerMillion(model.prices) : null,
    credential: model.credential ?? null,
    endpoint: model.endpoint ?? null,
    quirks: model.known_quirks,
    source,
    sources: figures,
    warnings: listWarnings(model),
    suggestions,
  };
}
