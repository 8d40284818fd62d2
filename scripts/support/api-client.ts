/** A minimal client of the HTTP API: JSON requests, and JSON or server-sent events as responses. */
import { parseEventStream, type ServerSentEvent } from "./event-stream.ts";
import { Failure } from "./output.ts";

export interface Connection {
  readonly url: string;
  readonly key: string;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Any response outside 2xx, with its `status` and its problem document, as far as it was readable. */
export class ApiError extends Failure {
  readonly status: number;

  constructor(request: string, status: number, body: string) {
    super(`${request} was answered ${status}: ${body.slice(0, 1000)}`);
    this.status = status;
  }
}

/** The time that Node's fetch waits for the headers of a response, used here for the whole response. */
const PATIENCE_MS = 5 * 60_000;

export interface CallOptions {
  readonly idempotencyKey?: string;
  /** Aborting closes the connection, and the call then throws. */
  readonly signal?: AbortSignal;
}

export interface Call extends CallOptions {
  readonly method: Method;
  /** The path from the root, for example `/v1/sessions`. */
  readonly path: string;
  readonly body?: unknown;
}

/**
 * Throws an `ApiError`, the error of `fetch` when the server is unreachable, or a `Failure` when it has not answered
 * within `patienceMs`. A call with its own signal has no other timeout. The caller checks numbers and shapes.
 */
export async function callApi(connection: Connection, call: Call, patienceMs = PATIENCE_MS): Promise<unknown> {
  if (call.signal) return readAnswer(connection, call);
  const late = Promise.withResolvers<never>();
  const leaving = new AbortController();
  // A timer rejects as well, because an aborted signal alone does not always end a request.
  const timer = setTimeout(() => {
    late.reject(new Failure(`${call.method} ${call.path} was not answered within ${patienceMs / 1_000} s`));
    leaving.abort();
  }, patienceMs);
  try {
    return await Promise.race([readAnswer(connection, { ...call, signal: leaving.signal }), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function readAnswer(connection: Connection, call: Call): Promise<unknown> {
  const response = await send(connection, call, "application/json");
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}

/** Makes the call and reads the response as a stream of events. */
export async function* streamApi(connection: Connection, call: Call): AsyncGenerator<ServerSentEvent> {
  const response = await send(connection, call, "text/event-stream");
  if (response.body) yield* parseEventStream(response.body);
}

async function send({ url, key }: Connection, call: Call, accept: string): Promise<Response> {
  const response = await fetch(`${url}${call.path}`, {
    method: call.method,
    headers: {
      authorization: `Bearer ${key}`,
      accept,
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    ...(call.signal ? { signal: call.signal } : {}),
  });
  if (!response.ok) throw new ApiError(`${call.method} ${call.path}`, response.status, await response.text());
  return response;
}
