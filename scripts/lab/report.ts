/** What the lab prints: one table a column. */

import type { Figures } from "../../src/evaluate/ledger";
import type { Setup } from "../../src/evaluate/setup";
import type { Column } from "../../src/evaluate/steps";

export interface Row {
  readonly setup: Setup;
  readonly figures: Figures;
}

export interface ColumnReport {
  readonly column: Column;
  readonly unlimited: Figures;
  readonly rows: readonly Row[];
}

const HEADINGS = [
  "policy",
  "cost",
  "summaries",
  "failed turns",
  "overflows",
  "malformed",
  "compactions",
  "changes",
  "breaks",
  "cached",
  "last 8k",
  "last W/4",
  "lost ids",
  "peak",
];

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Relative to an unlimited window: exactly what the table shows, as numbers. */
export function toRow({ setup, figures }: Row, unlimited: Figures) {
  const { identifiers, malformed, tokens: _, triggers, ...rest } = figures;
  const failed = figures.overflows + figures.refused;
  return {
    policy: setup.name,
    guard: setup.guard,
    ...rest,
    malformed: malformed.length,
    triggers,
    cost: figures.cost / unlimited.cost,
    summary_cost: figures.summary_cost / unlimited.cost,
    failed_turns: failed / Math.max(1, figures.turns),
    identifiers_needed: identifiers.needed,
    identifiers_lost: identifiers.lost,
  };
}

function toCells(row: Row, unlimited: Figures): string[] {
  const shown = toRow(row, unlimited);
  return [
    shown.guard ? shown.policy : `${shown.policy}, no guard`,
    shown.cost.toFixed(3),
    shown.summary_cost.toFixed(3),
    percent(shown.failed_turns),
    String(shown.overflows),
    String(shown.malformed),
    String(shown.compactions),
    String(shown.epochs),
    String(shown.breaks),
    percent(shown.cached_share),
    shown.verbatim_8k.toFixed(3),
    shown.verbatim_quarter.toFixed(3),
    percent(shown.identifiers_lost / Math.max(1, shown.identifiers_needed)),
    String(shown.peak),
  ];
}

export function formatColumn({ column, unlimited, rows }: ColumnReport): string {
  const lines = [HEADINGS, ...rows.map((row) => toCells(row, unlimited))];
  const widths = HEADINGS.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const table = lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
  );
  const { turns, calls, peak } = unlimited;
  const title = `${column.name}: window ${column.window}, ${turns} turns, ${calls} calls, ${peak} tokens when nothing leaves the view`;
  return [title, ...table].join("\n");
}
