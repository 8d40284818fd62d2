/** What a request needs and what its answer is, worked out from the types that the OpenAPI document has. */
import type { paths } from "./generated.ts";
import type { Method } from "./transport.ts";

/** The operations of each method by their path, without those whose answer is only a stream. */
type Operations = {
  [M in Method]: {
    [P in keyof paths as paths[P] extends Record<Lowercase<M>, { responses: infer R }>
      ? IsStream<R> extends true
        ? never
        : P
      : never]: paths[P][Lowercase<M> & keyof paths[P]];
  };
};

export type PathOf<M extends Method> = keyof Operations[M];

type Operation<M extends Method, P extends PathOf<M>> = Operations[M][P];

type IsStream<R> = R extends { 200: { content: infer C } } ? (keyof C extends "text/event-stream" ? true : false) : false;

/** `?: never` in the generated types, where an operation has nothing of a kind. */
type IsNothing<T> = [Exclude<T, undefined>] extends [never] ? true : false;

type PathPart<O> = O extends { parameters: { path: infer T } } ? { readonly path: Readonly<T> } : { readonly path?: never };

type QueryPart<O> = O extends { parameters: { query: infer T } }
  ? { readonly query: Readonly<T> }
  : O extends { parameters: { query?: infer T } }
    ? IsNothing<T> extends true
      ? { readonly query?: never }
      : { readonly query?: Readonly<Exclude<T, undefined>> | undefined }
    : { readonly query?: never };

/** What is sent as it is. */
export type Bytes = Blob | ArrayBuffer | ArrayBufferView | string;

type BodyContent<C> = C extends { "application/json": infer T } ? T : Bytes;

type BodyPart<O> = O extends { requestBody: { content: infer C } }
  ? { readonly body: BodyContent<C> }
  : O extends { requestBody?: infer T }
    ? IsNothing<T> extends true
      ? { readonly body?: never }
      : { readonly body?: (Exclude<T, undefined> extends { content: infer C } ? BodyContent<C> : never) | undefined }
    : { readonly body?: never };

type HeaderNames<O> = O extends { parameters: { header?: infer T } }
  ? IsNothing<T> extends true
    ? never
    : keyof Exclude<T, undefined>
  : never;

type HeaderPart<O> = ("Idempotency-Key" extends HeaderNames<O>
  ? { readonly idempotencyKey?: string | undefined }
  : { readonly idempotencyKey?: never }) &
  ("If-Match" extends HeaderNames<O> ? { readonly ifMatch?: string | undefined } : { readonly ifMatch?: never });

export interface CommonInit {
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** The most time for one attempt of this request, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

type InitOfOperation<O> = PathPart<O> & QueryPart<O> & BodyPart<O> & HeaderPart<O> & CommonInit;

export type Init<M extends Method, P extends PathOf<M>> = InitOfOperation<Operation<M, P>>;

/** The last argument, which may be left out where nothing in it is needed. */
export type InitArgument<M extends Method, P extends PathOf<M>> =
  Record<never, never> extends Init<M, P> ? [init?: Init<M, P>] : [init: Init<M, P>];

type Successes<O> = O extends { responses: infer R } ? R[keyof R] : never;

type Content<C> = [keyof C] extends ["application/json" | "text/event-stream" | "text/csv" | "application/x-ndjson"]
  ? C["application/json" & keyof C]
  : Blob;

type AnswerContent<S> = S extends { content: infer C } ? Content<C> : undefined;

/** The body of the 2xx answers. Undefined for 204. */
export type Answer<M extends Method, P extends PathOf<M>> = AnswerContent<Successes<Operation<M, P>>>;

export interface AnyPage {
  readonly data: readonly unknown[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

type PagePathOf<M extends Method> = { [P in PathOf<M>]: Answer<M, P> extends AnyPage ? P : never }[PathOf<M>];

type GetList = PagePathOf<"GET">;
/** Searches are POSTs, whose cursor is in the body. */
type SearchPath = Exclude<PagePathOf<"POST">, GetList>;
export type ListPath = GetList | SearchPath;

export type ListArgument<P extends ListPath> = P extends GetList
  ? InitArgument<"GET", P>
  : P extends SearchPath
    ? InitArgument<"POST", P>
    : never;

export type Page<P extends ListPath> = P extends GetList ? Answer<"GET", P> : P extends SearchPath ? Answer<"POST", P> : never;

export type Entry<P extends ListPath> = Page<P> extends { data: readonly (infer T)[] } ? T : never;
