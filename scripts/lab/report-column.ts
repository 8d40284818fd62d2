/** Runs one column with everything requested: our policies, other systems, and the oracle's bounds. */
import { runColumn, runUnlimited } from "./engine/run-column";
import { type Conditions, type Setup, USUAL } from "./engine/setup";
import type { Column } from "./engine/steps";
import { toSystem } from "./oracle/as-system.ts";
import { findBound } from "./oracle/bound.ts";
import { type Tape, toTape } from "./oracle/tape.ts";
import type { Bounded, ColumnReport, Row } from "./report.ts";
import { runSystem } from "./systems/run-system.ts";
import type { System } from "./systems/system.ts";
import { trueTokens } from "./true-tokens.ts";

export interface Asked {
  readonly setups: readonly Setup[];
  readonly systems: readonly System[];
  readonly conditions: Conditions;
  /** Whether to compute the lowest possible cost of each policy. */
  readonly oracle: boolean;
}

export function reportColumn(column: Column, { setups, systems, conditions, oracle }: Asked): ColumnReport {
  const unlimited = runUnlimited(column, trueTokens, conditions);
  const ours = setups.map((made): Row => {
    const setup = { ...made, ...conditions };
    return { setup, figures: runColumn(column, setup, trueTokens) };
  });
  const others = systems.map(
    (system): Row => ({
      setup: { name: system.name, guard: true },
      figures: runSystem(column, system, { segments: trueTokens, conditions }),
    }),
  );
  const report = { column, unlimited, rows: [...ours, ...others] };
  if (!oracle) return report;
  const tape = toTape(column, trueTokens, conditions.cold);
  const bounds = setups.flatMap((made) => computeBound({ ...made, ...conditions }, { column, tape }) ?? []);
  return { ...report, bounds };
}

/** Null when the policy never compacts on this column, so that there is nothing to bound. */
function computeBound(setup: Setup, { column, tape }: { readonly column: Column; readonly tape: Tape }): Bounded | null {
  const smooth = { ...setup, cacheStep: 1 };
  const figures = runColumn(column, smooth, trueTokens);
  if (figures.kept.length === 0) return null;
  const bound = findBound(tape, { setup: smooth, figures, window: column.window });
  const conditions = { ...USUAL, prices: setup.prices, cold: setup.cold };
  const played = runSystem(column, toSystem(`oracle for ${setup.name}`, bound.schedule, tape), { segments: trueTokens, conditions });
  return { policy: setup.name, cost: figures.cost, keeping: bound.keeping, retaining: bound.retaining, played };
}
