/**
 * Builds the request for a chat completion exactly as it is sent. The AI SDK builds all of it (messages, tools, headers,
 * URL) and passes it to its `fetch`; ours captures it instead of sending it. `render` and `stream` both start here, so what
 * is shown and what is sent cannot differ.
 *
 * OpenAI's own chat completions are built here too, and not by OpenAI's package. The wire format differs in a few names only
 * (`openAiBody`), our decoder is faster, and what the models wrote is sent back byte for byte; the package changes arguments
 * that are not JSON.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ModelRequest, ModelSpec } from "../app/ports";
import { type AllQuirks, findQuirks } from "../context/model-quirks";
import { PROVIDER_NAME, toCompatibleCall } from "./compatible-prompt";
import { findParallel, findStrictness } from "./generation-options";
import { type BuiltRequest, readBuiltRequest } from "./provider-link";
import { OPENAI_URL } from "./providers";

type SdkModel = ReturnType<ReturnType<typeof createOpenAICompatible>>;

/** Thrown to end the SDK's call once the request is built. */
class RequestBuilt extends Error {
  readonly request: BuiltRequest;
  constructor(request: BuiltRequest) {
    super("The request is built; it is sent by the adapter.");
    this.request = request;
  }
}

function captureFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  throw new RequestBuilt(readBuiltRequest(input, init));
}

/**
 * The SDK compiles its schemas for each model object, which takes 0.5 ms: seven times as long as building a request. A model
 * object holds nothing of a call or a tenant, so objects are cached by provider, address and name. A full cache is cleared.
 */
const CACHED_MODELS = 64;
const models = new Map<string, SdkModel>();

function sdkModel(baseUrl: string, spec: ModelSpec): SdkModel {
  const { stream_options: includeUsage, output_limit, system } = findQuirks(spec);
  const key = [spec.provider, baseUrl, spec.upstream_id, includeUsage, output_limit, system].join("\n");
  const known = models.get(key);
  if (known) return known;
  if (models.size >= CACHED_MODELS) models.clear();
  const settings = { name: PROVIDER_NAME, baseURL: baseUrl, includeUsage, supportsStructuredOutputs: true, fetch: captureFetch };
  const transformRequestBody = (body: Json): Json => withRole(withLimit(body, output_limit), system);
  const model = createOpenAICompatible({ ...settings, transformRequestBody })(spec.upstream_id);
  models.set(key, model);
  return model;
}

type Json = Record<string, unknown>;

/** OpenAI's reasoning models refuse `max_tokens`. All of its models accept the newer name. */
function withLimit({ max_tokens, ...body }: Json, name: AllQuirks["output_limit"]): Json {
  return max_tokens === undefined ? body : { ...body, [name]: max_tokens };
}

function withRole(body: Json, system: AllQuirks["system"]): Json {
  if (system !== "developer" || !Array.isArray(body.messages)) return body;
  const messages = body.messages.map((message: Json) => (message.role === "system" ? { ...message, role: "developer" } : message));
  return { ...body, messages };
}

/** Throws a `TypeError` when the model has no base URL: such a model must not have been registered. */
export async function buildChatRequest(request: ModelRequest): Promise<BuiltRequest> {
  const { model } = request;
  const baseUrl = model.base_url ?? (model.provider === "openai-chat" ? OPENAI_URL : null);
  if (baseUrl === null) throw new TypeError(`Model ${model.id} has no base URL.`);
  return captureRequest(sdkModel(baseUrl, model), request);
}

async function captureRequest(model: SdkModel, request: ModelRequest): Promise<BuiltRequest> {
  try {
    const call = toCompatibleCall(request);
    await model.doStream({
      ...call,
      providerOptions: { [PROVIDER_NAME]: { ...buildOptions(request), ...buildGeneration(request, call) } },
    });
  } catch (error) {
    if (error instanceof RequestBuilt) return error.request;
    throw error;
  }
  throw new TypeError("The provider package ended a call without building a request.");
}

/** Settings that chat completions know, and the SDK does not. An endpoint that refuses one was asked for it. */
function buildGeneration(request: ModelRequest, { tools = [] }: ReturnType<typeof toCompatibleCall>): Record<string, boolean> {
  const parallel = findParallel(request, tools);
  const strictJsonSchema = findStrictness(request);
  return {
    ...(parallel !== null && { parallel_tool_calls: parallel }),
    ...(strictJsonSchema !== null && { strictJsonSchema }),
  };
}

/** Options that only OpenAI itself is known to accept. Other endpoints may refuse a name that they do not know. */
function buildOptions({ model, reasoning, cacheKey }: ModelRequest): Record<string, string> {
  if (model.provider !== "openai-chat") return {};
  const effort = reasoning === "off" && model.capabilities?.reasoning !== false ? leastEffort(model.upstream_id) : null;
  return {
    ...(effort === null ? {} : { reasoningEffort: effort }),
    ...(cacheKey === undefined ? {} : { prompt_cache_key: cacheKey }),
  };
}

/**
 * The lowest reasoning effort that one of OpenAI's models accepts, by the model's name. Chat completions need it because
 * their package does not know it, and the Responses package does not export its table.
 * https://platform.openai.com/docs/guides/reasoning
 */

/** Null when the model does not think, or when it is unknown whether its effort can be set. */
export function leastEffort(upstreamId: string): "none" | "minimal" | "low" | null {
  if (/^o\d/.test(upstreamId)) return "low";
  const version = /^gpt-(\d+)(?:\.(\d+))?(?:-(.*))?$/.exec(upstreamId);
  if (!version) return null;
  const major = Number(version[1]);
  const minor = Number(version[2] ?? 0);
  const variant = version[3] ?? "";
  if (major < 5 || /^(?:chat|pro|codex)/.test(variant)) return null;
  if (major > 5) return /^(?:luna|sol|terra)/.test(variant) && !(minor === 1 && variant.startsWith("sol")) ? "none" : "low";
  return minor === 0 ? "minimal" : "none";
}
