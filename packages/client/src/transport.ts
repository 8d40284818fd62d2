/** One request: who sends it, how long each attempt may take, when it is sent again, and which error it ends in. */
import { LonghandError, readRefusal } from "./errors.ts";
import { chooseWait, isPassing, isWithoutEffect, sleep } from "./retry.ts";

export interface TransportOptions {
  /** Where the backend is: `https://chat.example.com`. A path in it stays in front of every route. */
  readonly url: string;
  /** An API key, an access token, or a function that returns one. The function is called before each attempt, since tokens expire. */
  readonly key: string | (() => string | Promise<string>);
  /** In place of the platform's `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** How often a request is sent again after it failed (4). */
  readonly retries?: number | undefined;
  /** The most time for one attempt (60,000). A stream has this long to begin. */
  readonly timeoutMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Outgoing {
  /** Bytes and strings are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** The type that the answer should have (`application/json`). */
  readonly accept?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** A POST without a key that may be sent twice, because it changes nothing. */
  readonly repeatable?: boolean | undefined;
  /** The answer of a DELETE that is sent again and finds nothing any more: the first one has done it. Undefined: it is refused. */
  readonly whenGone?: (() => Response) | undefined;
  readonly timeoutMs?: number | undefined;
  /** Resolves at the answer's headers and leaves its body to the caller. `signal` ends that too. */
  readonly stream?: boolean | undefined;
}

export interface Transport {
  /** `path`: from the root, encoded, with its query. Rejects with a `LonghandError`, or with the signal's reason. */
  send(method: Method, path: string, outgoing?: Outgoing): Promise<Response>;
}

export const DEFAULT_RETRIES = 4;
const DEFAULT_TIMEOUT_MS = 60_000;

export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.url).href.replace(/[?#].*$/, "").replace(/\/+$/, "");
  const retries = options.retries ?? DEFAULT_RETRIES;
  return {
    async send(method, path, outgoing = {}) {
      const body = encodeBody(outgoing.body);
      let mayBeDone = false;
      for (let failures = 0; ; failures++) {
        outgoing.signal?.throwIfAborted();
        const headers = await buildHeaders(options, outgoing, body.type);
        const timeoutMs = outgoing.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
        const send = options.fetch ?? ((url, init) => fetch(url, init));
        const outcome = await attempt({
          method,
          path,
          url: base + path,
          send,
          init: { method, headers, ...body.init },
          outgoing,
          timeoutMs,
        });
        if (!(outcome instanceof LonghandError)) return outcome;
        if (mayBeDone && outgoing.whenGone && outcome.status === 404 && outcome.problem) return outgoing.whenGone();
        mayBeDone ||= !isWithoutEffect(outcome);
        if (failures >= retries || !mayRepeat(method, headers, outgoing, outcome)) throw outcome;
        await sleep(chooseWait(failures, outcome.retryAfterMs), outgoing.signal);
      }
    },
  };
}

/**
 * A PATCH of this API sets the fields that it names, so it may be repeated as a PUT may. After an answer that was lost, a condition would
 * fail by the request's own success, so a conditional request is repeated only where it certainly had no effect.
 */
function mayRepeat(method: Method, headers: Headers, outgoing: Outgoing, error: LonghandError): boolean {
  if (!isPassing(error)) return false;
  if (isWithoutEffect(error) || method === "GET") return true;
  if (headers.has("if-match") || headers.has("if-none-match")) return false;
  return method !== "POST" || headers.has("idempotency-key") || outgoing.repeatable === true;
}

async function buildHeaders(options: TransportOptions, outgoing: Outgoing, contentType: string | null): Promise<Headers> {
  const { key } = options;
  const headers = new Headers(options.headers);
  headers.set("authorization", `Bearer ${typeof key === "function" ? await key() : key}`);
  headers.set("accept", outgoing.accept ?? "application/json");
  if (contentType !== null) headers.set("content-type", contentType);
  if (outgoing.idempotencyKey !== undefined) headers.set("idempotency-key", outgoing.idempotencyKey);
  for (const [name, value] of Object.entries(outgoing.headers ?? {})) if (value !== undefined) headers.set(name, value);
  return headers;
}

function encodeBody(body: unknown): { readonly init: RequestInit; readonly type: string | null } {
  if (body === undefined) return { init: {}, type: null };
  if (body instanceof Blob) return { init: { body }, type: body.type || "application/octet-stream" };
  const isRaw = typeof body === "string" || body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  // `fetch` takes every view of memory. Its type leaves out the views of shared memory, which it refuses by itself.
  if (isRaw) return { init: { body: body as string | ArrayBuffer }, type: "application/octet-stream" };
  return { init: { body: JSON.stringify(body) }, type: "application/json" };
}

interface Attempt {
  readonly method: Method;
  readonly path: string;
  readonly url: string;
  readonly send: (url: string, init: RequestInit) => Promise<Response>;
  readonly init: RequestInit;
  readonly outgoing: Outgoing;
  readonly timeoutMs: number;
}

/** Returns what another attempt may mend, and throws the signal's reason. */
async function attempt({ method, path, url, send, init, outgoing, timeoutMs }: Attempt): Promise<Response | LonghandError> {
  const { signal } = outgoing;
  // Queries hold what people search for, and errors are logged.
  const request = `${method} ${path.replace(/\?.*/, "")}`;
  const leaving = new AbortController();
  const stop = () => leaving.abort(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    leaving.abort();
  }, timeoutMs);
  let isHandedOver = false;
  try {
    // An aborted signal alone does not end a request on every platform.
    const ended = new Promise<never>((_, reject) => leaving.signal.addEventListener("abort", () => reject(leaving.signal.reason)));
    return await Promise.race([ended, readAnswer()]);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (late) return new LonghandError(request, { status: null, code: "timed_out", detail: `No answer within ${timeoutMs} ms.`, cause });
    return new LonghandError(request, { status: null, code: "connection_failed", detail: "The connection failed.", cause });
  } finally {
    clearTimeout(timer);
    if (!isHandedOver) signal?.removeEventListener("abort", stop);
  }

  async function readAnswer(): Promise<Response | LonghandError> {
    const response = await send(url, { ...init, signal: leaving.signal });
    if (!response.ok) return readRefusal(request, response);
    if (outgoing.stream) {
      isHandedOver = true;
      return response;
    }
    // Read within the attempt: an answer that is cut in the middle is a failure too.
    const bytes = await response.arrayBuffer();
    return new Response(bytes.byteLength === 0 ? null : bytes, response);
  }
}
