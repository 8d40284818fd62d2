/** Ends an exhaustive switch: a forgotten case is a type error here, and a defect if one slips past the types. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled case: ${JSON.stringify(value)}`);
}
