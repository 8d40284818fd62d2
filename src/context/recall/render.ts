/** Renders the hits as text for a model: one line for each message, best first, within a bound of tokens. */
import type { ItemMeta } from "../../domain/message";
import { assertNever } from "../../lib/assert-never";
import { toUtcMinute } from "../../lib/utc-time";
import { estimateTokens } from "../tokens";

type Labelled = Pick<ItemMeta, "position" | "kind" | "tool" | "at">;

/** The item's position, and its role or the tool that it belongs to. */
export function toLabel({ position, kind, tool }: Labelled): string {
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

/** Maximum UTF-16 units of a snippet, by its message's rank among the hits. The first hits are the most useful. */
const SNIPPETS = [
  { before: 3, units: 600 },
  { before: 10, units: 320 },
] as const;
const LATER = 200;
export const NEIGHBOUR_UNITS = 140;
/** Number of hits whose neighbours are shown. */
export const WITH_NEIGHBOURS = 3;

/** Approximate tokens per UTF-16 unit of plain English. Denser text, such as Chinese or JSON, gets fewer units for the same tokens. */
const USUAL_DENSITY = 0.3;
const SAMPLE_UNITS = 200;

export const snippetUnits = (rank: number): number => SNIPPETS.find(({ before }) => rank < before)?.units ?? LATER;

export function fitted(units: number, text: string): number {
  const sample = text.slice(0, SAMPLE_UNITS);
  const density = estimateTokens(sample) / Math.max(1, sample.length);
  return density > USUAL_DENSITY ? Math.ceil((units * USUAL_DENSITY) / density) : units;
}

/** A line with the time, if it differs from the previous line's. It states the day only when that changes. */
export function timeBetween(before: number | null, at: number): string[] {
  const minute = toUtcMinute(at);
  const known = before === null ? "" : toUtcMinute(before);
  if (minute === known) return [];
  return [`[${minute.slice(0, 10) === known.slice(0, 10) ? minute.slice(11) : minute}]`];
}

export const NOTHING_FOUND = "Nothing was found for these words. Try other words, a name or a number that was said, or from and to.";
