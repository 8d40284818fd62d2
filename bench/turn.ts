/** CPU time of a whole turn: a message, a streamed reply of 20 chunks, and their recording and projection. */
import { setTimeout as delay } from "node:timers/promises";
import { append, fetchThrough, openSession, registerModel, say, times } from "./support/chat.ts";
import { type BenchResult, type Figure, measured } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const TURN_GOAL_MS = 5;
const SAMPLES = 5;
const WARM_UP = 40;
const WINDOW = 128_000;

interface Pace {
  readonly name: string;
  /** Milliseconds between chunks. */
  readonly gap: number;
  /** Milliseconds between turns. */
  readonly pause: number;
  readonly turns: number;
  readonly goal?: number;
}

/** Longer than a drain waits (`DRAIN_EVERY_MS` of src/session/drain.ts), so that such turns share no batch. */
const ALONE_MS = 250;

/** Fewer turns where most of the time is waiting. */
const PACES: readonly Pace[] = [
  { name: "20 chunks as fast as they come", gap: 0, pause: 0, turns: 40, goal: TURN_GOAL_MS },
  { name: "20 chunks, 1 ms apart", gap: 1, pause: 0, turns: 40, goal: TURN_GOAL_MS },
  { name: "20 chunks, 20 ms apart", gap: 20, pause: 0, turns: 10 },
  { name: "20 chunks as fast as they come, each turn alone", gap: 0, pause: ALONE_MS, turns: 10 },
];

async function benchPace(rig: Rig, { name, gap, pause, turns, goal }: Pace): Promise<Figure[]> {
  const plan = { chunks: 20, gap };
  const session = await openSession(rig, await registerModel(rig, plan, WINDOW));
  await times(10, () => append(rig, session, "A message of the past, as short as most of them are."));
  await times(WARM_UP, () => say(rig, session));
  const perTurn = async (work: () => Promise<void>): Promise<number> => {
    const paced = () => work().then(() => (pause > 0 ? delay(pause) : undefined));
    return ((await rig.cpu.measure(() => times(turns, paced))) / turns) * 1_000;
  };
  const took = { ours: [] as number[], proxy: [] as number[] };
  for (let round = 0; round < SAMPLES; round++) {
    took.ours.push(await perTurn(() => say(rig, session)));
    took.proxy.push(await perTurn(() => fetchThrough(rig, "proxy", plan)));
  }
  return [measured(name, "ms", took.ours, goal), measured("  the same reply through a bare proxy", "ms", took.proxy)];
}

export async function benchTurn(rig: Rig): Promise<BenchResult> {
  const figures: Figure[] = [];
  for (const pace of PACES) figures.push(...(await benchPace(rig, pace)));
  return {
    title: "CPU of a turn of 20 chunks",
    notes: [
      `One client, one turn at a time; medians of ${SAMPLES} samples. All of workerd is counted:`,
      "the Worker, the object and its storage, and Miniflare's simulation of D1, which in production runs elsewhere.",
      "Turns that follow one another share a projection; those that stand alone, 250 ms apart, have one each.",
    ],
    figures,
  };
}
