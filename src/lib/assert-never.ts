/** Ends an exhaustive switch: a missing case is a type error here, and throws if one gets past the types. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled case: ${JSON.stringify(value)}`);
}
