/** Ties a response's schema to the type that is sent, so that the OpenAPI document cannot drift from the answers. */
import type { z } from "zod";

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

/** Returns the schema if it and `T` fit each other both ways; otherwise the code does not compile. */
export function documents<T>(): <S extends z.ZodType<Loose<T>>>(schema: T extends z.infer<S> ? S : never) => S {
  return (schema) => schema;
}

/** The type without undefined: with `exactOptionalPropertyTypes` absent and undefined differ. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes undefined fields. JSON has no undefined: what a parsed body does not hold is absent. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;
}
