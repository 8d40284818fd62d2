/** What was found, as text that a model reads: a line for each message, best first, within a bound of tokens. */
import type { ItemMeta } from "../../domain/message";
import { assertNever } from "../../lib/assert-never";
import { toUtcMinute } from "../../lib/utc-time";
import { estimateTokens } from "../tokens";

type Labelled = Pick<ItemMeta, "position" | "kind" | "tool" | "at">;

/** Who said it, or what it is of. */
export function labelOf({ position, kind, tool }: Labelled): string {
  switch (kind) {
    case "system":
    case "user":
    case "assistant":
      return `#${position} ${kind}`;
    case "tool_call":
      return `#${position} call of ${tool?.name ?? "a tool"}${tool ? ` (${tool.execution})` : ""}`;
    case "tool_result":
      return `#${position} result of ${tool?.name ?? "a tool"}${tool?.is_error ? ", failed" : ""}${tool ? ` (${tool.execution})` : ""}`;
    default:
      return assertNever(kind);
  }
}

/** UTF-16 units that a snippet may have, by the place of its message among the hits: the first ones tell most. */
const SNIPPETS = [
  { before: 3, units: 600 },
  { before: 10, units: 320 },
] as const;
const LATER = 200;
export const NEIGHBOUR_UNITS = 140;
/** Hits whose neighbours are shown. */
export const WITH_NEIGHBOURS = 3;

/** Tokens of a unit of plain English, about; what is denser, as Chinese or JSON, gets fewer units for as many tokens. */
const USUAL_DENSITY = 0.3;
const SAMPLE_UNITS = 200;

export const snippetUnits = (rank: number): number => SNIPPETS.find(({ before }) => rank < before)?.units ?? LATER;

export function fitted(units: number, text: string): number {
  const sample = text.slice(0, SAMPLE_UNITS);
  const density = estimateTokens(sample) / Math.max(1, sample.length);
  return density > USUAL_DENSITY ? Math.ceil((units * USUAL_DENSITY) / density) : units;
}

/** A line for the time, where it is another than that of the line before: the day only when that changes. */
export function timeBetween(before: number | null, at: number): string[] {
  const minute = toUtcMinute(at);
  const known = before === null ? "" : toUtcMinute(before);
  if (minute === known) return [];
  return [`[${minute.slice(0, 10) === known.slice(0, 10) ? minute.slice(11) : minute}]`];
}

export const NOTHING_FOUND = "Nothing was found for these words. Try other words, a name or a number that was said, or from and to.";
