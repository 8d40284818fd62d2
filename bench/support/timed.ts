/** Wall time of pure functions in this process. */
import { type Figure, measured } from "./report.ts";

const WARM_UP = 5;

export interface Timing {
  readonly goal?: number;
  /** Measured rounds. The figure is their median. */
  readonly samples?: number;
  /** Rounds before the measured ones. */
  readonly warmUp?: number;
  /** Calls in each round. Work that is too short for the clock is repeated this often, and the time is divided. */
  readonly repeat?: number;
  readonly unit?: "ms" | "µs";
}

/** Time of one call of `work` in `unit`s. The result is discarded, so `work` must not depend on its use. */
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
