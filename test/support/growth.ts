/** How the time of a piece of work grows with its input: ratios of the process's own CPU time, which other processes do not lengthen. */

/** Larger than any linear work shows between two sizes, and well under what quadratic work does. */
const SLACK = 6;
/** Less than this is not told from the clock's grain and the collector's pauses. */
const LEAST_MS = 12;
const TRIES = 3;

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least of some tries, as the others hold what the engine did beside the work; one try where it was quick. */
function leastMs(work: () => void): number {
  let least = cpuMs(work);
  for (let tries = 1; tries < TRIES && least > LEAST_MS; tries++) least = Math.min(least, cpuMs(work));
  return least;
}

/** Sizes from one that even exponential work survives, and one at which quadratic work takes seconds. */
const SCREENING = [16, 24, 32, 256, 2_048, 32_768];
/** Quadratic work shows here, in seconds, and is not run at the whole size, where it takes minutes. */
const LARGE = 262_144;
const WHOLE = 1_048_576;

type WorkOf = (size: number) => () => void;

interface Measured {
  readonly ms: number;
  /** The sizes between which the work grew faster than its input; null: it is linear as far as can be seen. */
  readonly fault: string | null;
}

function measure(buildWork: WorkOf, sizes: readonly number[]): Measured {
  let last = { size: 1, ms: 0 };
  for (const size of sizes) {
    const ms = leastMs(buildWork(size));
    const linear = Math.max(last.ms, LEAST_MS / 8) * (size / last.size);
    if (ms > LEAST_MS && ms > linear * SLACK)
      return { ms, fault: `${last.size} took ${last.ms.toFixed(1)} ms, ${size} took ${ms.toFixed(1)} ms` };
    last = { size, ms };
  }
  return { ms: last.ms, fault: null };
}

/** Each of `inputs` at the smaller sizes, and the slowest of them at 1 MB too. Null: all is linear; else the input and its figures. */
export function superlinear<T>(inputs: readonly T[], work: (input: T, size: number) => () => void, most = WHOLE): string | null {
  const screened = inputs.map((input) => ({
    input,
    ...measure(
      (size) => work(input, size),
      SCREENING.filter((size) => size <= most),
    ),
  }));
  const slowest = screened.toSorted((one, other) => other.ms - one.ms)[0];
  const found = screened.find(({ fault }) => fault !== null);
  if (found) return `${JSON.stringify(found.input)}: ${found.fault}`;
  if (!slowest || most < WHOLE) return null;
  const { fault } = measure((size) => work(slowest.input, size), [32_768, LARGE, WHOLE]);
  return fault && `${JSON.stringify(slowest.input)}: ${fault}`;
}
