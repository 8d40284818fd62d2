/** JSON text that is the same for equal values, whatever the order of an object's names. */

/** Takes steps of a budget; throws when it is spent. */
export type Spend = (steps: number) => void;

/** Costs a step for each name, and one for eight characters of the text. The value is at most as deep as its reader allows. */
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
