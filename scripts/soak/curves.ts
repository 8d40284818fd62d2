/** Writes samples as a file of values and as small curves, and measures their growth. */
export interface Sample {
  /** Seconds since the start. */
  readonly at: number;
  readonly kills: number;
  readonly acknowledged: number;
  /** Memory of workerd. Null while it was being started. */
  readonly rss_mb: number | null;
  readonly fds: number | null;
  readonly state_mb: number;
  readonly files: number;
  readonly ack_p50: number | null;
  readonly ack_p95: number | null;
  readonly ack_p99: number | null;
  readonly first_p50: number | null;
  readonly first_p95: number | null;
  readonly first_p99: number | null;
  /** Messages that the logs contain and the lists do not show yet. Null when the server could not be asked. */
  readonly lag: number | null;
}

const COLUMNS = [
  "at",
  "kills",
  "acknowledged",
  "rss_mb",
  "fds",
  "state_mb",
  "files",
  "ack_p50",
  "ack_p95",
  "ack_p99",
  "first_p50",
  "first_p95",
  "first_p99",
  "lag",
] as const satisfies readonly (keyof Sample)[];

const shown = (value: number | null): string => (value === null ? "" : String(Math.round(value * 10) / 10));

export const toCsv = (samples: readonly Sample[]): string =>
  [COLUMNS.join(","), ...samples.map((sample) => COLUMNS.map((column) => shown(sample[column])).join(","))].join("\n");

const BARS = "▁▂▃▄▅▆▇█";
const WIDTH = 60;

/** The mean of each interval between the minimum and the maximum. A gap is an interval without samples. */
export function sparkline(values: readonly (number | null)[], width = WIDTH): string {
  const size = Math.max(1, values.length / width);
  const stretches = Array.from({ length: Math.min(width, values.length) }, (_, index) =>
    mean(values.slice(Math.floor(index * size), Math.max(Math.floor(index * size) + 1, Math.floor((index + 1) * size)))),
  );
  const known = stretches.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const bar = (value: number): string => BARS[high === low ? 0 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))] ?? "";
  return stretches.map((value) => (value === null ? " " : bar(value))).join("");
}

function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

const CURVES = [
  ["memory", "rss_mb", "MB"],
  ["descriptors", "fds", ""],
  ["state", "state_mb", "MB"],
  ["files", "files", ""],
  ["ack p50", "ack_p50", "ms"],
  ["ack p99", "ack_p99", "ms"],
  ["first token p50", "first_p50", "ms"],
  ["first token p99", "first_p99", "ms"],
  ["lag", "lag", "messages"],
] as const satisfies readonly (readonly [string, keyof Sample, string])[];

export function drawCurves(samples: readonly Sample[]): string {
  return CURVES.map(([name, column, unit]) => {
    const values = samples.map((sample) => sample[column]);
    const known = values.filter((value) => value !== null);
    const range = known.length === 0 ? "nothing known" : `${shown(Math.min(...known))} to ${shown(Math.max(...known))} ${unit}`;
    return `${name.padEnd(16)}${sparkline(values).padEnd(WIDTH)}  ${range}`.trimEnd();
  }).join("\n");
}

/**
 * The ratio of the last to the first quarter above which growth is reported. A young process uses less memory, and
 * every kill creates one.
 */
export const NOTABLE_GROWTH = 1.5;

export interface Growth {
  readonly what: "memory" | "descriptors";
  /** Medians of the first and the last quarter. */
  readonly first: number;
  readonly last: number;
}

export function findGrowth(samples: readonly Sample[]): readonly Growth[] {
  const quarter = Math.floor(samples.length / 4);
  const medians = (column: "rss_mb" | "fds", of: readonly Sample[]): number | null => {
    const known = of.flatMap((sample) => sample[column] ?? []).sort((one, other) => one - other);
    return known[Math.floor(known.length / 2)] ?? null;
  };
  return (
    [
      ["memory", "rss_mb"],
      ["descriptors", "fds"],
    ] as const
  ).flatMap(([what, column]) => {
    const [first, last] = [medians(column, samples.slice(0, quarter)), medians(column, samples.slice(-quarter))];
    return first === null || last === null || quarter === 0 ? [] : [{ what, first, last }];
  });
}
