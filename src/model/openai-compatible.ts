/**
 * `ChatModel` for chat completions: any OpenAI-compatible endpoint, and OpenAI's own. One request a call: retries,
 * deadlines, the tool loop and persistence belong to the caller.
 */
import type { CallOptions, ChatModel, Credentials, ModelChunk, ModelFailure, ModelRequest } from "../app/ports";
import { ABORTED, isFailure, readFailure, toThrownFailure } from "./call-failure";
import { buildChatRequest } from "./chat-request";
import { ReplyDecoder } from "./chat-stream";
import type { BuiltRequest, FetchFunction } from "./provider-link";
import { setBearer } from "./providers";

export interface OpenAiCompatibleOptions {
  readonly credentials: Credentials;
  readonly fetch: FetchFunction;
}

export function createOpenAiCompatibleModel(options: OpenAiCompatibleOptions): ChatModel {
  return {
    stream: (request, call) => runCall({ request, call, options }),
    async render(request) {
      const { url, body } = await buildChatRequest(request);
      return { url, body };
    },
  };
}

type ByteReader = ReadableStreamDefaultReader<Uint8Array>;

interface Call {
  readonly request: ModelRequest;
  readonly call: CallOptions;
  readonly options: OpenAiCompatibleOptions;
}

/** One generator all the way: in workerd every nested one costs as much a chunk as decoding it. */
async function* runCall({ request, call, options }: Call): AsyncGenerator<ModelChunk, void, undefined> {
  const { signal } = call;
  let reader: ByteReader | null = null;
  const close = (): void => void reader?.cancel().catch(() => undefined);
  try {
    const reply = await open({ request, call, options });
    if ("kind" in reply) return yield { type: "failure", failure: reply };
    reader = reply;
    signal.addEventListener("abort", close, { once: true });
    signal.throwIfAborted();
    const decoder = new ReplyDecoder();
    while (!decoder.over) {
      const { done, value } = await reader.read();
      const { deltas } = decoder;
      const chunks = done ? decoder.end() : decoder.read(value);
      if (decoder.deltas > deltas) call.onProgress?.();
      for (const chunk of chunks) {
        if (signal.aborted) return yield ABORTED;
        yield chunk;
      }
    }
  } catch (error) {
    yield { type: "failure", failure: toThrownFailure(error, signal) };
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** Sends the request: the reply's bytes, or why there are none. */
async function open({ request, call, options }: Call): Promise<ByteReader | ModelFailure> {
  call.signal.throwIfAborted();
  const built = await buildChatRequest(request);
  setBearer(built.headers, await options.credentials(request.model));
  call.signal.throwIfAborted();
  call.onRequest?.(built.body);
  const response = await send(built, { call, options });
  if (isFailure(response)) return readFailure(response);
  return response.body?.getReader() ?? { kind: "unavailable", status: response.status };
}

/** Redirects are not followed: a key or a conversation must not end up at an address that nobody configured. */
function send(built: BuiltRequest, { call, options }: Pick<Call, "call" | "options">): Promise<Response> {
  const { url, headers, body } = built;
  return options.fetch(url, { method: "POST", headers, body, signal: call.signal, redirect: "manual" });
}
