/**
 * Measures how the time of a function grows with its input, as ratios of the process's own CPU time, which other
 * processes do not affect.
 */

/** Larger than the growth of any linear work between two sizes, and well below that of quadratic work. */
const SLACK = 6;
/** Shorter times cannot be distinguished from the clock's resolution and garbage collection. */
const LEAST_MS = 12;
const TRIES = 3;

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The minimum of several runs, because the others contain other work of the engine. One run if that was within `enough`. */
function leastMs(work: () => void, enough: number): number {
  let least = cpuMs(work);
  for (let tries = 1; tries < TRIES && least > enough; tries++) least = Math.min(least, cpuMs(work));
  return least;
}

/** Sizes from one that even exponential work survives, to one at which quadratic work takes seconds. */
const SCREENING = [16, 24, 32, 256, 2_048, 32_768];
/** Quadratic work is detected here, in seconds, and not run at the full size, where it takes minutes. */
const LARGE = 262_144;
export const WHOLE = 1_048_576;

type WorkOf = (size: number) => () => void;

interface Measured {
  readonly ms: number;
  /** The sizes between which the time grew faster than the input. Null: the growth is linear. */
  readonly fault: string | null;
}

function measure(buildWork: WorkOf, sizes: readonly number[]): Measured {
  let last = { size: 1, ms: 0 };
  for (const size of sizes) {
    const most = Math.max(LEAST_MS, Math.max(last.ms, LEAST_MS / 8) * (size / last.size) * SLACK);
    // The time of the whole size is compared with nothing, so it need not be exact.
    const ms = leastMs(buildWork(size), size === WHOLE ? most : LEAST_MS);
    if (ms > most) return { ms, fault: `${last.size} took ${last.ms.toFixed(1)} ms, ${size} took ${ms.toFixed(1)} ms` };
    last = { size, ms };
  }
  return { ms: last.ms, fault: null };
}

/**
 * Runs each of `inputs` at the smaller sizes, and the slowest of them at 1 MB too. Null: all are linear. Otherwise the
 * input and its figures.
 */
export function superlinear<T>(inputs: readonly T[], work: (input: T, size: number) => () => void, most = WHOLE): string | null {
  const sizes = SCREENING.filter((size) => size <= most);
  let slowest: { readonly input: T; readonly ms: number } | null = null;
  for (const input of inputs) {
    const { ms, fault } = measure((size) => work(input, size), sizes);
    // One fault is enough: quadratic work on all inputs would take minutes.
    if (fault) return `${JSON.stringify(input)}: ${fault}`;
    if (!slowest || ms > slowest.ms) slowest = { input, ms };
  }
  if (!slowest || most < WHOLE) return null;
  const { input } = slowest;
  const { fault } = measure((size) => work(input, size), [32_768, LARGE, WHOLE]);
  return fault && `${JSON.stringify(input)}: ${fault}`;
}
