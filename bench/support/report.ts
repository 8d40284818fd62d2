/** The results of a benchmark, and their output. */

export interface Figure {
  readonly name: string;
  /** Median of `samples`, or a value computed from medians. */
  readonly value: number;
  readonly unit: string;
  /** The maximum for a pass. Absent: there is no goal. */
  readonly goal?: number;
  /** In the order of measuring. Absent for values computed from other figures. */
  readonly samples?: readonly number[];
}

export interface BenchResult {
  readonly title: string;
  /** How to read the figures: what was compared with what. */
  readonly notes: readonly string[];
  readonly figures: readonly Figure[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new TypeError("no values have no median");
  const lower = sorted[middle - 1] ?? upper;
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

export const measured = (name: string, unit: string, samples: readonly number[], goal?: number): Figure => ({
  name,
  value: median(samples),
  unit,
  samples,
  ...(goal === undefined ? {} : { goal }),
});

export const ratio = (name: string, figures: readonly [Figure, Figure], goal?: number): Figure => ({
  name,
  value: figures[0].value / figures[1].value,
  unit: "x",
  ...(goal === undefined ? {} : { goal }),
});

export const passes = ({ value, goal }: Figure): boolean | null => (goal === undefined ? null : value <= goal);

const digits = (value: number): string => (Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toFixed(2));

function toRow(figure: Figure): string[] {
  const { name, value, unit, goal, samples } = figure;
  const passed = passes(figure);
  const spread = samples ? `${digits(Math.min(...samples))} to ${digits(Math.max(...samples))}` : "";
  const verdict = passed === null ? "" : `${passed ? "pass" : "MISS"} (goal <= ${goal} ${unit})`;
  return [name, `${digits(value)} ${unit}`, spread, verdict];
}

export function formatResult({ title, notes, figures }: BenchResult): string {
  const rows = figures.map(toRow);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `  ${row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()}`;
  return [`\n${title}`, ...notes.map((note) => `  ${note}`), ...rows.map(line)].join("\n");
}

export const toJson = ({ title, notes, figures }: BenchResult): unknown => ({
  title,
  notes,
  figures: figures.map((figure) => ({ ...figure, pass: passes(figure) })),
});
