/**
 * `ChatModel` for any OpenAI-compatible chat-completions endpoint. One request a call: retries, deadlines, the tool
 * loop and persistence belong to the caller.
 */
import type { CallOptions, ChatModel, Credentials, ModelChunk, ModelFailure, ModelRequest } from "../app/ports";
import { buildChatRequest, type ChatRequest } from "./chat-request";
import { ReplyDecoder } from "./chat-stream";
import { toModelFailure } from "./classify-failure";
import { describeError, readErrorText } from "./error-body";

export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

export interface OpenAiCompatibleOptions {
  readonly credentials: Credentials;
  readonly fetch: FetchFunction;
}

export function createOpenAiCompatibleModel(options: OpenAiCompatibleOptions): ChatModel {
  return {
    stream: (request, call) => runCall({ request, call, options }),
    async render(request) {
      const { url, body } = await buildChatRequest(request, options.credentials);
      return { url, body };
    },
  };
}

type ByteReader = ReadableStreamDefaultReader<Uint8Array>;

const ABORTED: ModelChunk = { type: "failure", failure: { kind: "aborted", status: null } };

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
    yield { type: "failure", failure: toFailure(error, signal) };
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** Sends the request: the reply's bytes, or why there are none. */
async function open({ request, call, options }: Call): Promise<ByteReader | ModelFailure> {
  call.signal.throwIfAborted();
  const built = await buildChatRequest(request, options.credentials);
  call.signal.throwIfAborted();
  call.onRequest?.(built.body);
  const response = await send(built, { call, options });
  if (!response.ok || isJson(response)) return readFailure(response);
  return response.body?.getReader() ?? { kind: "unavailable", status: response.status };
}

/** Redirects are not followed: a key or a conversation must not end up at an address that nobody configured. */
function send(built: ChatRequest, { call, options }: Pick<Call, "call" | "options">): Promise<Response> {
  const { url, headers, body } = built;
  return options.fetch(url, { method: "POST", headers, body, signal: call.signal, redirect: "manual" });
}

async function readFailure(response: Response): Promise<ModelFailure> {
  const error = describeError(await readErrorText(response));
  return toModelFailure({ status: response.status, ...error });
}

/** A stream was asked for; a plain JSON document with status 200 is how some gateways report an error. */
const isJson = (response: Response): boolean => response.headers.get("content-type")?.startsWith("application/json") ?? false;

/** Nothing of the error leaves here but its class: its message may hold the prompt. */
function toFailure(error: unknown, signal: AbortSignal): ModelFailure {
  if (signal.aborted) return { kind: "aborted", status: null };
  const timedOut = error instanceof Error && error.name === "TimeoutError";
  return { kind: timedOut ? "timeout" : "unavailable", status: null };
}
