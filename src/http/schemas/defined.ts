/** The type without undefined: with `exactOptionalPropertyTypes` absent and undefined differ. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes undefined fields. JSON has no undefined: what a parsed body does not hold is absent. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;
}
