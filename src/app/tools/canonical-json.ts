/** Writes JSON text that is the same for equal values, whatever the order of an object's properties. */

/** Takes steps from a budget; throws when the budget is spent. */
export type Spend = (steps: number) => void;

/**
 * Costs a step for each property name, and one for eight characters of the text. It recurses, so the caller must bound the value's depth.
 */
export function canonical(value: unknown, spend: Spend): string {
  const text = JSON.stringify(value, (_, each: unknown) => sorted(each, spend)) ?? "undefined";
  spend(1 + text.length / 8);
  return text;
}

function sorted(value: unknown, spend: Spend): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  spend(entries.length);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
