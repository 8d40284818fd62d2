/**
 * The typed client of Longhand. Paths, bodies and answers have the types of the OpenAPI document, and a refused request throws a
 * `LonghandError`.
 */
import { buildPath, buildQuery } from "./address.ts";
import type { Answer, AnyPage, CommonInit, Entry, InitArgument, ListArgument, ListPath, Page, PathOf } from "./api-types.ts";
import type { StreamSettings } from "./connection.ts";
import { describeAnswer, LonghandError } from "./errors.ts";
import { type FollowInit, followSession } from "./follow.ts";
import type { FileErasure, ModelDeletion, Respond, SubmitMessage, Turn } from "./generated.ts";
import { newKey } from "./new-key.ts";
import { ANSWERED_WITH_BYTES, DELETED_WITHOUT_BODY, LISTED_BY_POST, RUNS_TURN, TAKES_KEY } from "./operations.ts";
import { type RunToolsInit, ToolLoop } from "./run-tools.ts";
import { TurnStream } from "./stream.ts";
import type { StreamEvent } from "./stream-types.ts";
import type { Tools } from "./tools.ts";
import { createTransport, DEFAULT_RETRIES, type Method, type Transport, type TransportOptions } from "./transport.ts";

export type { Answer, Bytes, CommonInit, Entry, Init, ListPath, Page, PathOf } from "./api-types.ts";
export { LonghandError } from "./errors.ts";
export type { FollowInit } from "./follow.ts";
export type * from "./generated.ts";
export type { Approval, RunToolsInit } from "./run-tools.ts";
export type { TurnStream } from "./stream.ts";
export type { StreamEvent } from "./stream-types.ts";
export type { JsonObject, Tool, ToolCall, ToolContext, Tools } from "./tools.ts";
export type { Method } from "./transport.ts";

export interface LonghandOptions extends TransportOptions {
  /** A stream that brings no byte for so long is taken for lost, and resumed (60,000). The server is never silent for more than 30 seconds. */
  readonly silenceMs?: number | undefined;
}

/** A message and its turn: text, or the body of `POST /v1/sessions/{session_id}/messages`. */
export type NewMessage = string | (SubmitMessage & { readonly run?: true });

/** Everything that one request adds: the body of `POST /v1/sessions/{session_id}/respond`. */
export type NewTurn = Respond & { readonly run?: true };

export interface SendInit extends CommonInit {
  /** The same key with the same message is one message. Made by the client if it is left out. */
  readonly idempotencyKey?: string | undefined;
}

export interface StreamInit extends Omit<SendInit, "timeoutMs"> {
  /** With the key of an earlier request: the offset of the last event that the caller has of it. */
  readonly after?: number | undefined;
}

export interface FullAnswer<T> {
  readonly data: T;
  readonly status: number;
  /** For `ifMatch` of a later change. Null where the resource has none. */
  readonly etag: string | null;
  readonly headers: Headers;
}

/** A request as every operation may have it. The types of the public methods are narrower. */
interface AnyInit extends CommonInit {
  readonly path?: Readonly<Record<string, string>> | undefined;
  readonly query?: object | undefined;
  readonly body?: object | string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly ifMatch?: string | undefined;
}

/** POSTs that only read, so they may be sent again without a key. */
const READS_BY_POST: readonly PathOf<"POST">[] = [
  "/v1/sessions/search",
  "/v1/sessions/{session_id}/context",
  "/v1/sessions/{session_id}/recall",
  "/v1/sessions/{session_id}/compactions/compare",
  "/v1/policies/evaluate",
];

/** How long an attempt may wait for a turn. When it is over, the same key joins the turn that is under way. */
const TURN_TIMEOUT_MS = 300_000;
const DEFAULT_SILENCE_MS = 60_000;

export class Longhand {
  readonly #transport: Transport;
  readonly #streams: StreamSettings;

  constructor(options: LonghandOptions) {
    this.#transport = createTransport(options);
    const { retries = DEFAULT_RETRIES, silenceMs = DEFAULT_SILENCE_MS } = options;
    this.#streams = { transport: this.#transport, retries, silenceMs };
  }

  get<P extends PathOf<"GET">>(path: P, ...[init]: InitArgument<"GET", P>): Promise<Answer<"GET", P>> {
    return this.#ask("GET", path, init);
  }

  post<P extends PathOf<"POST">>(path: P, ...[init]: InitArgument<"POST", P>): Promise<Answer<"POST", P>> {
    return this.#ask("POST", path, init);
  }

  put<P extends PathOf<"PUT">>(path: P, ...[init]: InitArgument<"PUT", P>): Promise<Answer<"PUT", P>> {
    return this.#ask("PUT", path, init);
  }

  patch<P extends PathOf<"PATCH">>(path: P, ...[init]: InitArgument<"PATCH", P>): Promise<Answer<"PATCH", P>> {
    return this.#ask("PATCH", path, init);
  }

  delete<P extends PathOf<"DELETE">>(path: P, ...[init]: InitArgument<"DELETE", P>): Promise<Answer<"DELETE", P>> {
    return this.#ask("DELETE", path, init);
  }

  /** The answer with its status, its ETag and its headers. */
  request<M extends Method, P extends PathOf<M>>(method: M, path: P, ...init: InitArgument<M, P>): Promise<FullAnswer<Answer<M, P>>>;
  request(method: Method, path: string, init?: AnyInit): Promise<FullAnswer<unknown>> {
    return this.#request(method, path, init);
  }

  /** Every entry of a list. The next page is asked for when it is needed. */
  list<P extends ListPath>(path: P, ...init: ListArgument<P>): AsyncGenerator<Entry<P>, void, undefined>;
  async *list(path: string, init?: AnyInit): AsyncGenerator<unknown, void, undefined> {
    for await (const page of this.#pages(path, init)) yield* page.data;
  }

  /** Every page of a list, with what stands beside its entries. */
  pages<P extends ListPath>(path: P, ...init: ListArgument<P>): AsyncGenerator<Page<P>, void, undefined>;
  pages(path: string, init?: AnyInit): AsyncGenerator<unknown, void, undefined> {
    return this.#pages(path, init);
  }

  /** Sends a message and resolves with its turn, once that has ended, failed or waits for tools. */
  async send(session: string, message: NewMessage, init: SendInit = {}): Promise<Turn> {
    const { idempotencyKey = newKey() } = init;
    const asked = { ...init, idempotencyKey, path: { session_id: session }, body: toBody(message) };
    const { status, data } = await this.#request<Turn>("POST", "/v1/sessions/{session_id}/messages", asked);
    // 202: the server was lost while the turn ran, and goes on with it. The stream of the same request says when it has ended.
    return status === 202 ? this.stream(session, message, { ...init, idempotencyKey }).turn() : data;
  }

  /**
   * Sends a message and reads its turn as it is produced. Nothing is sent before the stream is read. A break is not seen: the stream is
   * resumed where it was. A reader that leaves does not stop the turn.
   */
  stream(session: string, message: NewMessage, init: StreamInit = {}): TurnStream {
    const { after = null, idempotencyKey = newKey(), signal, headers } = init;
    const request = { session, route: "messages", body: toBody(message), idempotencyKey, after, turn: null, signal, headers };
    return new TurnStream(this.#streams, request);
  }

  /**
   * Adds results, messages and their place in one request, all or none, and reads the turn that follows as `stream` does:
   * `await longhand.respond(session, {…}).turn()` waits for its end.
   */
  respond(session: string, request: NewTurn, init: StreamInit = {}): TurnStream {
    const { after = null, idempotencyKey = newKey(), signal, headers } = init;
    return new TurnStream(this.#streams, { session, route: "respond", body: request, idempotencyKey, after, turn: null, signal, headers });
  }

  /** The stream of the whole session, resumed for ever. It ends when the session is erased. */
  follow(session: string, init: FollowInit = {}): AsyncGenerator<StreamEvent, void, undefined> {
    return followSession(this.#streams, session, init);
  }

  /**
   * Sends a message, runs the tools that the model calls and sends their results, until the turn has ended or waits for something that
   * `tools` and `approve` cannot give. With null in place of a message it goes on with the turn that is open.
   */
  runTools<T>(session: string, message: NewMessage | null, tools: Tools<T>, init: RunToolsInit = {}): Promise<Turn> {
    return new ToolLoop(this.#streams, { session, tools, init }).run(message === null ? null : toBody(message));
  }

  async *#pages(path: string, init: AnyInit = {}): AsyncGenerator<AnyPage, void, undefined> {
    const isSearch = LISTED_BY_POST.includes(path);
    for (let asked = init; ; ) {
      const { data } = await this.#request<AnyPage>(isSearch ? "POST" : "GET", path, asked);
      yield data;
      const after = data.next_cursor;
      if (!data.has_more || after === null) return;
      asked = isSearch ? { ...init, body: Object.assign({}, init.body, { after }) } : { ...init, query: { ...init.query, after } };
    }
  }

  async #ask<T>(method: Method, path: string, init: AnyInit | undefined): Promise<T> {
    return (await this.#request<T>(method, path, init)).data;
  }

  async #request<T>(method: Method, template: string, init: AnyInit = {}): Promise<FullAnswer<T>> {
    const isPost = method === "POST";
    const response = await this.#transport.send(method, buildPath(template, init.path) + buildQuery(init.query), {
      body: init.body,
      headers: { ...init.headers, ...(init.ifMatch !== undefined && { "if-match": init.ifMatch }) },
      signal: init.signal,
      idempotencyKey: init.idempotencyKey ?? (isPost && TAKES_KEY.includes(template) ? newKey() : undefined),
      repeatable: isPost && (READS_BY_POST as readonly string[]).includes(template),
      whenGone: method === "DELETE" ? findGoneAnswer(template, init.path) : undefined,
      timeoutMs: init.timeoutMs ?? (isPost && RUNS_TURN.includes(template) ? TURN_TIMEOUT_MS : undefined),
      accept: ANSWERED_WITH_BYTES.includes(template) ? "*/*" : "application/json",
    });
    const data = (await readBody(`${method} ${template}`, template, response)) as T;
    return { data, status: response.status, etag: response.headers.get("etag"), headers: response.headers };
  }
}

const toBody = (message: NewMessage): SubmitMessage => (typeof message === "string" ? { content: message } : message);

/** What is answered for a deletion that was done although its answer was lost. */
function findGoneAnswer(template: string, path: AnyInit["path"]): (() => Response) | undefined {
  if (DELETED_WITHOUT_BODY.includes(template)) return () => new Response(null, { status: 204 });
  const body = findGoneBody(template, path);
  return body && (() => new Response(JSON.stringify(body), { status: 200 }));
}

/** A file whose removal is still pending is not gone. */
function findGoneBody(template: string, path: AnyInit["path"]): FileErasure | ModelDeletion | undefined {
  if (template === ("/v1/files/{file_id}" satisfies PathOf<"DELETE">)) return { id: path?.file_id ?? "", status: "erased" };
  if (template === ("/v1/models/{model_id}" satisfies PathOf<"DELETE">))
    return { id: path?.model_id ?? "", object: "model", deleted: true };
  return undefined;
}

async function readBody(request: string, template: string, response: Response): Promise<unknown> {
  if (ANSWERED_WITH_BYTES.includes(template)) return response.blob();
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new LonghandError(request, { status: response.status, code: "unexpected_answer", detail: describeAnswer(response), cause });
  }
}
