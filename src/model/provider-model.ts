/**
 * `ChatModel` through a provider package of the AI SDK. The package builds the request and reads the reply's events
 * (`doStream`); everything else is done here (docs/decisions/0002). One call sends one request. `render` takes the same path
 * and stops before sending, so what is shown and what is sent cannot differ.
 */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type {
  CallOptions,
  ChatModel,
  Credentials,
  ModelFailure,
  ModelRequest,
  ModelSpec,
  ModelStreamPart,
  RenderedRequest,
} from "../app/ports";
import { ABORTED, hideCallKey, toEventFailure, toThrownFailure, withKey } from "./call-failure";
import { type FetchFunction, ProviderLink, readBuiltRequest } from "./provider-link";
import { ReplyParts, type ReplyRules } from "./reply-parts";
import type { SdkCall } from "./sdk-prompt";
import { untilAborted } from "./until-aborted";
import type { ToEvents } from "./whole-answers";

/** A provider's package, and what its wire format demands. */
export interface ProviderAdapter {
  readonly reply: ReplyRules;
  /**
   * Returns the package's model, which can send only through `fetch`. The package is loaded on first use, so that a wake
   * without a model call does not pay for it.
   */
  load(spec: ModelSpec, fetch: typeof globalThis.fetch): Promise<LanguageModelV4>;
  toCall(request: ModelRequest, model: LanguageModelV4): Promise<SdkCall>;
  /** Converts an answer that is not a stream to events. */
  readonly toEvents: ToEvents;
  authorize(headers: Headers, key: string | null): void;
}

interface ProviderModelOptions {
  readonly adapter: ProviderAdapter;
  readonly credentials: Credentials;
  readonly fetch: FetchFunction;
}

type Parts = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;

export function createProviderModel(options: ProviderModelOptions): ChatModel {
  return {
    stream: (request, call) => runCall({ request, call, options }),
    render: (request) => renderCall(request, options.adapter),
  };
}

/** Thrown to end the package's call once the request is built. */
class RequestBuilt extends Error {
  readonly request: RenderedRequest;
  constructor(request: RenderedRequest) {
    super("The request is built.");
    this.request = request;
  }
}

async function renderCall(request: ModelRequest, adapter: ProviderAdapter): Promise<RenderedRequest> {
  try {
    await open(request, adapter, (input, init) => {
      const { url, body } = readBuiltRequest(input, init);
      throw new RequestBuilt({ url, body });
    });
  } catch (error) {
    if (error instanceof RequestBuilt) return error.request;
    throw error;
  }
  throw new TypeError("The provider package ended a call without building a request.");
}

async function open(request: ModelRequest, adapter: ProviderAdapter, fetch: typeof globalThis.fetch): Promise<Parts> {
  const model = await adapter.load(request.model, fetch);
  const call = await adapter.toCall(request, model);
  const { stream } = await model.doStream({ ...call, includeRawChunks: true });
  return stream.getReader();
}

interface Call {
  readonly request: ModelRequest;
  readonly call: CallOptions;
  readonly options: ProviderModelOptions;
}

async function* runCall({ request, call, options }: Call): AsyncGenerator<ModelStreamPart, void, undefined> {
  const { signal } = call;
  const { adapter, credentials } = options;
  let sentKey: string | null = null;
  const authorize = async (headers: Headers) =>
    withKey(await credentials(request.model), (key) => {
      sentKey = key;
      adapter.authorize(headers, key);
    });
  const link = new ProviderLink({
    fetch: options.fetch,
    signal,
    authorize,
    toEvents: adapter.toEvents,
    onRequest: call.onRequest,
    onAlive: call.onAlive,
  });
  let parts: Parts | null = null;
  const close = (): void => {
    link.close();
    void parts?.cancel().catch(() => undefined);
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    signal.throwIfAborted();
    parts = await untilAborted(signal, open(request, adapter, link.fetch));
    const reply = new ReplyParts(adapter.reply);
    while (!reply.over) {
      signal.throwIfAborted();
      const { done, value } = await parts.read();
      signal.throwIfAborted();
      link.eventRead();
      const { heard } = reply;
      const chunks = done ? reply.end() : reply.take(value);
      if (reply.isSaid) link.linger();
      if (reply.heard > heard) call.onProgress?.();
      for (const chunk of chunks) {
        if (signal.aborted) return yield ABORTED;
        yield hideCallKey(chunk, sentKey);
      }
    }
  } catch (error) {
    yield hideCallKey({ type: "failure", failure: toFailure(error, { signal, link }) }, sentKey);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/**
 * A package throws when the first event of a stream is an error. The event's text is in `responseBody`; the error's status
 * is invented.
 */
function toFailure(error: unknown, { signal, link }: { readonly signal: AbortSignal; readonly link: ProviderLink }): ModelFailure {
  if (signal.aborted) return toThrownFailure(error, signal);
  if (link.refusal) return link.refusal;
  const isEvent = error instanceof Error && "responseBody" in error && typeof error.responseBody === "string";
  return isEvent ? toEventFailure(String(error.responseBody)) : toThrownFailure(error, signal);
}
