/**
 * The ring `contract`: each resource that the API answers is one zod schema with its descriptions, and its type is inferred from it. The
 * schemas document the answers and never parse them, so the other rings import the types alone.
 *
 * Lists are `.readonly()`; fields are not, because `z.infer` of a read-only object would hide its shape. An optional field of an inferred
 * type may also be undefined, because the document's generator does not know `exactOptional`. A shape that `domain` or `context` owns keeps
 * its type there, and `domainShape` holds its schema to it.
 */
import type { z } from "@hono/zod-openapi";

/** The type as zod infers it: an optional field may also be undefined. */
type Loose<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer E)[]
    ? readonly Loose<E>[]
    : T extends object
      ? string extends keyof T
        ? T
        : { [K in keyof T]: Loose<T[K]> | (undefined extends T[K] ? undefined : never) | OptionalAt<T, K> }
      : T;
type OptionalAt<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? undefined : never;

/**
 * Returns the schema as one of `T`. If the schema and `T` do not fit each other both ways, the code does not compile. The cast drops only
 * the `undefined` of optional fields.
 */
export function domainShape<T>(): <S extends z.ZodType<Loose<T>>>(schema: T extends z.infer<S> ? S : never) => z.ZodType<T> {
  return (schema) => schema as z.ZodType<T>;
}
