/** A line of the demo's transcript, before it is printed or drawn. */
import { colour, type Tone } from "../support/colour.ts";

/** Cells of a meter, and columns of a line at most. */
export const METER_CELLS = 24;
export const COLUMNS = 100;
const LABEL_COLUMNS = 12;

export type Span =
  | { readonly type: "text"; readonly text: string; readonly tone: Tone }
  | { readonly type: "meter"; readonly share: number };
export type Line = readonly Span[];

export const span = (text: string, tone: Tone = "plain"): Span => ({ type: "text", text, tone });
export const meter = (share: number): Span => ({ type: "meter", share: Math.min(Math.max(share, 0), 1) });

/** A label, followed by its text, cut to the width of a line. */
export function labelled(label: string, tone: Tone, ...rest: readonly Span[]): Line {
  const spans = [span(` ${label.padEnd(LABEL_COLUMNS)}`, tone), ...rest];
  const cut: Span[] = [];
  let left = COLUMNS;
  for (const each of spans) {
    if (left <= 0) break;
    cut.push(each.type === "meter" || each.text.length <= left ? each : { ...each, text: `${each.text.slice(0, left - 1)}…` });
    left -= each.type === "meter" ? METER_CELLS : each.text.length;
  }
  return cut;
}

/** Above this share of the window the meter shows a warning. A compaction begins at 0.85 at the latest. */
const NEARLY_FULL = 0.8;
export const toMeterTone = (share: number): Tone => (share >= NEARLY_FULL ? "warning" : "model");

export const toPlainText = (line: Line): string => line.map((each) => (each.type === "text" ? each.text : toCells(each.share))).join("");

export const toColouredText = (line: Line): string =>
  line.map((each) => (each.type === "text" ? colour(each.text, each.tone) : colour(toCells(each.share), toMeterTone(each.share)))).join("");

function toCells(share: number): string {
  const filled = Math.round(share * METER_CELLS);
  return `${"█".repeat(filled)}${"░".repeat(METER_CELLS - filled)}`;
}
