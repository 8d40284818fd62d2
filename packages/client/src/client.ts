/**
 * The typed client of Longhand. Paths, bodies and answers have the types of the OpenAPI document, and a refused request throws a
 * `LonghandError`.
 */
import { buildPath, buildQuery } from "./address.ts";
import type { Answer, AnyPage, CommonInit, Entry, InitArgument, ListArgument, ListPath, Page, PathOf } from "./api-types.ts";
import { describeAnswer, LonghandError } from "./errors.ts";
import type { SubmitMessage, Turn } from "./generated.ts";
import { newKey } from "./new-key.ts";
import { ANSWERED_WITH_BYTES, DELETED_WITHOUT_BODY, LISTED_BY_POST, RUNS_TURN, TAKES_KEY } from "./operations.ts";
import { createTransport, type Method, type Transport, type TransportOptions } from "./transport.ts";

export type { Answer, Bytes, CommonInit, Entry, Init, ListPath, Page, PathOf } from "./api-types.ts";
export { LonghandError } from "./errors.ts";
export type * from "./generated.ts";
export type { Method } from "./transport.ts";

export type LonghandOptions = TransportOptions;

/** A message and its turn: text, or the body of `POST /v1/sessions/{session_id}/messages`. */
export type NewMessage = string | (SubmitMessage & { readonly run?: true });

export interface SendInit extends CommonInit {
  /** The same key with the same message is one message. Made by the client if it is left out. */
  readonly idempotencyKey?: string | undefined;
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

export class Longhand {
  readonly #transport: Transport;

  constructor(options: LonghandOptions) {
    this.#transport = createTransport(options);
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
    const body = typeof message === "string" ? { content: message } : message;
    const { data } = await this.#request<Turn>("POST", "/v1/sessions/{session_id}/messages", {
      ...init,
      path: { session_id: session },
      body,
    });
    return data;
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
      isDoneWhenGone: method === "DELETE" && DELETED_WITHOUT_BODY.includes(template),
      timeoutMs: init.timeoutMs ?? (isPost && RUNS_TURN.includes(template) ? TURN_TIMEOUT_MS : undefined),
      accept: ANSWERED_WITH_BYTES.includes(template) ? "*/*" : "application/json",
    });
    const data = (await readBody(`${method} ${template}`, template, response)) as T;
    return { data, status: response.status, etag: response.headers.get("etag"), headers: response.headers };
  }
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
