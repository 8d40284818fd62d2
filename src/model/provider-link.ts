/**
 * The `fetch` that a provider package is given. It reports the exact body, asks for the key at the last moment, hides a
 * failed answer from the package (whose errors would hold the prompt), and closes the socket when the call is aborted.
 */
import type { ModelFailure } from "../app/ports";
import { refuseLarge } from "./call-failure";
import { openReplyStream, type ReplyReader } from "./reply-body";
import type { ToEvents } from "./whole-answers";

export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Maximum bytes that may arrive without a complete event. Without this limit, a provider that never ends an event would fill
 * the memory.
 */
const MAX_EVENT_BYTES = 4_000_000;

interface LinkOptions {
  readonly fetch: FetchFunction;
  readonly signal: AbortSignal;
  /**
   * Sets the key where the provider wants it and removes any key that the package set. Returns why nothing may be sent; null
   * when the request may be sent.
   */
  readonly authorize: (headers: Headers) => Promise<ModelFailure | null>;
  readonly onRequest?: ((body: string) => void) | undefined;
  /** Converts an answer that is not a stream to events. */
  readonly toEvents: ToEvents;
  /** Called when the answer's headers arrive and after each read of its body. */
  readonly onAlive?: (() => void) | undefined;
}

/** Thrown to end the package's call when there is no stream. `refusal` holds the reason. */
class Refused extends Error {}

export class ProviderLink {
  readonly #options: LinkOptions;
  #reader: ReplyReader | null = null;
  #bytes = 0;
  #told = false;
  /** Why there is no stream. Null when there is one, or when the provider has not answered. */
  refusal: ModelFailure | null = null;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Does not follow redirects: the key and the conversation must go to no address other than the configured one. */
  readonly fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const { url, headers, body } = readBuiltRequest(input, init);
    const { signal } = this.#options;
    signal.throwIfAborted();
    this.refusal = refuseLarge(body) ?? (await this.#options.authorize(headers));
    if (this.refusal) throw new Refused();
    signal.throwIfAborted();
    if (!this.#told) this.#options.onRequest?.(body);
    this.#told = true;
    const response = await this.#options.fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
    this.#options.onAlive?.();
    if (signal.aborted) void response.body?.cancel().catch(() => undefined);
    signal.throwIfAborted();
    const { toEvents, onAlive } = this.#options;
    const stream = await openReplyStream(response, { toEvents, signal, onAlive });
    if ("kind" in stream) {
      this.refusal = stream;
      throw new Refused();
    }
    return new Response(this.#watch(stream), { headers: { "content-type": "text/event-stream" } });
  };

  /** Call this after each complete event: it resets the count of bytes. */
  eventRead(): void {
    this.#bytes = 0;
  }

  /** Call this when the reply has named its end. The package waits for the end of the bytes. */
  linger(): void {
    this.#reader?.linger();
  }

  close(): void {
    this.#reader?.cancel().catch(() => undefined);
  }

  #watch(reader: ReplyReader): ReadableStream<Uint8Array> {
    this.#reader = reader;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read();
          this.#options.onAlive?.();
          if (done) return controller.close();
          this.#bytes += value.byteLength;
          if (this.#bytes <= MAX_EVENT_BYTES) return controller.enqueue(value);
          this.close();
          controller.error(new TypeError("An event of the stream exceeds the size limit."));
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }
}

export interface BuiltRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

export function readBuiltRequest(input: RequestInfo | URL, init: RequestInit | undefined): BuiltRequest {
  if (typeof init?.body !== "string") throw new TypeError("The body of a model request must be a string.");
  return { url: input instanceof Request ? input.url : String(input), headers: new Headers(init.headers), body: init.body };
}
