/** Prints the lab's results: one table for each column. */

import type { Figures } from "./engine/ledger";
import type { Setup } from "./engine/setup";
import type { Column } from "./engine/steps";

export interface Row {
  readonly setup: Pick<Setup, "name" | "guard">;
  readonly figures: Figures;
}

/** A policy with the oracle's bounds. The costs are those of a cache that stores prefixes to the token. */
export interface Bounded {
  readonly policy: string;
  readonly cost: number;
  /** The lowest cost of any schedule that keeps as much at each summary. */
  readonly keeping: number;
  /** The lowest cost of any schedule that also shows as much of the last 8,000 tokens on average. */
  readonly retaining: number;
  /** The best schedule found, played with the usual cache. */
  readonly played: Figures;
}

export interface ColumnReport {
  readonly column: Column;
  readonly unlimited: Figures;
  readonly rows: readonly Row[];
  readonly bounds?: readonly Bounded[];
}

export const HEADINGS = [
  "policy",
  "cost",
  "summaries",
  "failed turns",
  "overflows",
  "malformed",
  "compactions",
  "changes",
  "summary calls",
  "failures",
  "drops",
  "breaks",
  "cached",
  "last 8k",
  "last W/4",
  "lost ids",
  "peak",
];

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** The table's figures as numbers, relative to an unlimited window. */
export function toRow({ setup, figures }: Row, unlimited: Figures) {
  const { identifiers, malformed, tokens: _tokens, spent: _spent, changes: _changes, kept: _kept, triggers, ...rest } = figures;
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

export function toCells(row: Row, unlimited: Figures): string[] {
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
    String(shown.summary_calls),
    String(shown.summary_failures),
    String(shown.drops_without_summary),
    String(shown.breaks),
    percent(shown.cached_share),
    shown.verbatim_8k.toFixed(3),
    shown.verbatim_quarter.toFixed(3),
    percent(shown.identifiers_lost / Math.max(1, shown.identifiers_needed)),
    String(shown.peak),
  ];
}

export function formatColumn({ column, unlimited, rows, bounds }: ColumnReport): string {
  const { turns, calls, peak } = unlimited;
  const title = `${column.name}: window ${column.window}, ${turns} turns, ${calls} calls, ${peak} tokens when nothing leaves the view`;
  const table = formatTable([HEADINGS, ...rows.map((row) => toCells(row, unlimited))]);
  return [
    title,
    ...table,
    ...(bounds ? ["", ...formatTable([BOUND_HEADINGS, ...bounds.map((bound) => toBoundCells(bound, unlimited))])] : []),
  ].join("\n");
}

export const BOUND_HEADINGS = [
  "oracle for",
  "cost, to the token",
  "least, keeping",
  "above it",
  "least, retaining",
  "above it",
  "played",
  "last 8k",
  "summaries",
];

const above = (cost: number, least: number): string => `${(100 * (cost / least - 1)).toFixed(1)} %`;

export function toBoundCells({ policy, cost, keeping, retaining, played }: Bounded, unlimited: Figures): string[] {
  const share = (value: number): string => (value / unlimited.cost).toFixed(3);
  const of = [share(cost), share(keeping), above(cost, keeping), share(retaining), above(cost, retaining)];
  return [policy, ...of, share(played.cost), played.verbatim_8k.toFixed(3), String(played.compactions)];
}

function formatTable(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines.map((line) => line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "));
}

/** Policies from the cheapest to the most expensive, so that they can be compared under other prices. */
export const formatOrder = (name: string, { unlimited, rows }: ColumnReport): string =>
  `${name}: ${inOrder(rows)
    .map(({ setup, figures }) => `${setup.name} ${(figures.cost / unlimited.cost).toFixed(3)}`)
    .join(" < ")}`;

export const inOrder = (rows: readonly Row[]): Row[] => [...rows].sort((one, other) => one.figures.cost - other.figures.cost);
