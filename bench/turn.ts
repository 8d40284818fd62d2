/** CPU of a whole turn: a message in, a reply of 20 chunks streamed out, all of it recorded and projected. */
import { append, openSession, registerModel, say, times } from "./support/chat.ts";
import { type BenchResult, type Figure, measured } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const TURN_GOAL_MS = 5;
const SAMPLES = 5;
const WARM_UP = 40;
const WINDOW = 128_000;

/** Milliseconds between chunks. At 20 ms most of the time is waiting, so there are fewer turns of it. */
const PACES: readonly { readonly gap: number; readonly name: string; readonly turns: number; readonly goal?: number }[] = [
  { gap: 0, name: "20 chunks as fast as they come", turns: 40, goal: TURN_GOAL_MS },
  { gap: 1, name: "20 chunks, 1 ms apart", turns: 40, goal: TURN_GOAL_MS },
  { gap: 20, name: "20 chunks, 20 ms apart", turns: 10 },
];

async function benchPace(rig: Rig, { gap, name, turns, goal }: (typeof PACES)[number]): Promise<Figure> {
  const session = await openSession(rig, await registerModel(rig, { chunks: 20, gap }, WINDOW));
  await times(10, () => append(rig, session, "A message of the past, as short as most of them are."));
  await times(WARM_UP, () => say(rig, session));
  const samples: number[] = [];
  for (let round = 0; round < SAMPLES; round++) {
    samples.push(((await rig.cpu.measure(() => times(turns, () => say(rig, session)))) / turns) * 1_000);
  }
  return measured(name, "ms", samples, goal);
}

export async function benchTurn(rig: Rig): Promise<BenchResult> {
  const figures: Figure[] = [];
  for (const pace of PACES) figures.push(await benchPace(rig, pace));
  return {
    title: "CPU of a turn of 20 chunks",
    notes: [
      `One client, one turn at a time; medians of ${SAMPLES} samples. All of workerd is counted:`,
      "the Worker, the object and its storage, and Miniflare's simulation of D1, which in production runs elsewhere.",
    ],
    figures,
  };
}
