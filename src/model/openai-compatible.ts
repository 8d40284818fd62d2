/**
 * `ChatModel` for any OpenAI-compatible chat-completions endpoint. One request a call: retries, deadlines, the tool
 * loop and persistence belong to the caller.
 */
import type { CallOptions, ChatModel, ModelChunk, ModelFailure, ModelRequest } from "../app/ports";
import { buildChatRequest, type ChatRequest, type Credentials } from "./chat-request";
import { readChatStream } from "./chat-stream";
import { classifyFailure } from "./classify-failure";
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

interface Call {
  readonly request: ModelRequest;
  readonly call: CallOptions;
  readonly options: OpenAiCompatibleOptions;
}

async function* runCall({ request, call, options }: Call): AsyncGenerator<ModelChunk, void, undefined> {
  try {
    call.signal.throwIfAborted();
    const built = await buildChatRequest(request, options.credentials);
    call.signal.throwIfAborted();
    call.onRequest?.(built.body);
    const response = await send(built, { call, options });
    if (response.ok) yield* readReply(response, call.signal);
    else yield { type: "failure", failure: await readFailure(response) };
  } catch (error) {
    yield { type: "failure", failure: toFailure(error, call.signal) };
  }
}

/** Redirects are not followed: a key or a conversation must not end up at an address that nobody configured. */
function send(built: ChatRequest, { call, options }: Pick<Call, "call" | "options">): Promise<Response> {
  const { url, headers, body } = built;
  return options.fetch(url, { method: "POST", headers, body, signal: call.signal, redirect: "manual" });
}

async function readFailure(response: Response): Promise<ModelFailure> {
  const error = describeError(await readErrorText(response));
  return { kind: classifyFailure({ status: response.status, ...error }), status: response.status };
}

async function* readReply(response: Response, signal: AbortSignal): AsyncGenerator<ModelChunk, void, undefined> {
  if (!response.body) return yield { type: "failure", failure: { kind: "unavailable", status: response.status } };
  if (isJson(response)) return yield { type: "failure", failure: await readFailure(response) };
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const close = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", close, { once: true });
  try {
    for await (const chunks of readChatStream(reader)) {
      for (const chunk of chunks) {
        if (signal.aborted) return yield { type: "failure", failure: { kind: "aborted", status: null } };
        yield chunk;
      }
    }
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** A stream was asked for; a plain JSON document with status 200 is how some gateways report an error. */
const isJson = (response: Response): boolean => response.headers.get("content-type")?.startsWith("application/json") ?? false;

/** Nothing of the error leaves here but its class: its message may hold the prompt. */
function toFailure(error: unknown, signal: AbortSignal): ModelFailure {
  if (signal.aborted) return { kind: "aborted", status: null };
  const timedOut = error instanceof Error && error.name === "TimeoutError";
  return { kind: timedOut ? "timeout" : "unavailable", status: null };
}
