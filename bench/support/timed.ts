/** Wall time of pure functions in this process. */
import { type Figure, measured } from "./report.ts";

const WARM_UP = 5;

export interface Timing {
  readonly goal?: number;
  /** Rounds that are measured; their median is the figure. */
  readonly samples?: number;
  /** Rounds before those. */
  readonly warmUp?: number;
  /** Calls a round: what is too short for the clock is done so many times and divided. */
  readonly repeat?: number;
  readonly unit?: "ms" | "µs";
}

/** `work` in `unit`s a call. What it returns is thrown away, so it must do its work whatever becomes of it. */
export function timed(
  name: string,
  work: () => unknown,
  { goal, samples = 21, warmUp = WARM_UP, repeat = 1, unit = "ms" }: Timing = {},
): Figure {
  const taken: number[] = [];
  for (let round = -warmUp; round < samples; round++) {
    const startedAt = performance.now();
    for (let call = 0; call < repeat; call++) work();
    const each = (performance.now() - startedAt) / repeat;
    if (round >= 0) taken.push(unit === "ms" ? each : each * 1_000);
  }
  return measured(name, unit, taken, goal);
}
