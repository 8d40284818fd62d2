/**
 * The request to an OpenAI-compatible endpoint, exactly as it goes out. The AI SDK builds all of it (messages, tools,
 * headers, URL) and hands it to its `fetch`; ours keeps it instead of sending it. `render` and `stream` both start
 * here, so that what is shown and what is sent cannot differ.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Credentials, ModelRequest } from "../app/ports";
import { PROVIDER_NAME, type SdkModel, toSdkCall } from "./sdk-prompt";

export interface ChatRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** Ends the SDK's call once the request is known. */
class RequestBuilt extends Error {
  readonly request: ChatRequest;
  constructor(request: ChatRequest) {
    super("The request is built; it is sent by the adapter.");
    this.request = request;
  }
}

function captureFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  if (typeof init?.body !== "string") throw new TypeError("The request of a chat completion is text.");
  const url = input instanceof Request ? input.url : String(input);
  throw new RequestBuilt({ url, headers: new Headers(init.headers), body: init.body });
}

/**
 * The SDK compiles its schemas anew for each model object: 0.5 ms, seven times what building a request costs. Nothing
 * of a call or a tenant is in one, so they are kept by address and name; a full cache starts over.
 */
const CACHED_MODELS = 64;
const models = new Map<string, SdkModel>();

function sdkModel(baseUrl: string, upstreamId: string): SdkModel {
  const key = `${baseUrl}\n${upstreamId}`;
  const known = models.get(key);
  if (known) return known;
  if (models.size >= CACHED_MODELS) models.clear();
  const provider = createOpenAICompatible({ name: PROVIDER_NAME, baseURL: baseUrl, includeUsage: true, fetch: captureFetch });
  const model = provider(upstreamId);
  models.set(key, model);
  return model;
}

/** Throws a `TypeError` when the model has no valid base URL: such a model must not have been registered. */
export async function buildChatRequest(request: ModelRequest, credentials: Credentials): Promise<ChatRequest> {
  const { model } = request;
  if (model.base_url === null) throw new TypeError(`Model ${model.id} has no base URL.`);
  const built = await captureRequest(sdkModel(model.base_url, model.upstream_id), request);
  const apiKey = await credentials(model);
  if (apiKey !== null) built.headers.set("authorization", `Bearer ${apiKey}`);
  return built;
}

async function captureRequest(model: SdkModel, request: ModelRequest): Promise<ChatRequest> {
  try {
    await model.doStream(toSdkCall(request));
  } catch (error) {
    if (error instanceof RequestBuilt) return error.request;
    throw error;
  }
  throw new TypeError("The provider package ended a call without building a request.");
}
