/** What a run is like: drawn from the seed, so that some runs are calm in one respect and wild in another. */
import type { ModelSpec } from "../../src/app/ports";
import type { Random } from "./random";

export interface Profile {
  /** Chances: per step, or per thing that can go wrong. */
  crash: number;
  consumerCrash: number;
  /** So slow that leases run out under them. */
  readonly slowConsumers: boolean;
  d1Fails: number;
  directoryFails: number;
  queueLoses: number;
  queueDoubles: number;
  queueFails: number;
  modelFails: number;
  modelHangs: number;
  summaryFails: number;
  toolCalls: number;
  /** Characters of a message, at most. */
  readonly longest: number;
  readonly users: number;
  readonly typist: boolean;
  /** Who asks hears the answer out, and runs the tools, before doing anything else. */
  readonly polite: boolean;
  /** Things that users do, all together. */
  readonly actions: number;
  readonly erases: boolean;
  readonly startModel: string;
}

export const MODELS: Readonly<Record<string, ModelSpec>> = Object.fromEntries(
  (
    [
      ["big", 16_000],
      ["small", 8_000],
      ["endless", null],
    ] as const
  ).map(([id, context_window]) => [
    id,
    {
      id,
      provider: "openai-compatible",
      upstream_id: id,
      base_url: "https://model.example",
      context_window,
      max_output: 1_024,
      source: "tenant",
    },
  ]),
);

export function drawProfile(random: Random): Profile {
  return {
    crash: random.pick([0, 0, 0.005, 0.02, 0.05]),
    consumerCrash: random.pick([0, 0, 0.02]),
    slowConsumers: random.chance(0.2),
    d1Fails: random.pick([0, 0, 0.1, 0.5]),
    directoryFails: random.pick([0, 0, 0, 0.1, 0.4]),
    queueLoses: random.pick([0, 0, 0.2, 0.6]),
    queueDoubles: random.pick([0, 0.3]),
    queueFails: random.pick([0, 0, 0.2]),
    modelFails: random.pick([0, 0, 0.1, 0.3]),
    modelHangs: random.pick([0, 0, 0.05, 0.15]),
    summaryFails: random.pick([0, 0.2, 0.6]),
    toolCalls: random.pick([0, 0.2, 0.5]),
    longest: random.pick([600, 1_500, 3_000, 8_000]),
    users: random.int(1, 3),
    typist: random.chance(0.2),
    polite: random.chance(0.6),
    actions: random.pick([25, 40, 60]),
    erases: random.chance(0.25),
    startModel: random.weighted({ big: 4, small: 5, endless: 1 }),
  };
}

/** Everything works from here on: what is under way must come to its end. */
export function calm(profile: Profile): void {
  const off = { crash: 0, consumerCrash: 0, d1Fails: 0, directoryFails: 0, queueLoses: 0, queueDoubles: 0 } as const;
  Object.assign(profile, off, { queueFails: 0, modelFails: 0, modelHangs: 0, summaryFails: 0, toolCalls: 0 });
}
