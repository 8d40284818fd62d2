/** CPU of a turn in this checkout beside another one, in alternating samples of one workerd process. */
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../scripts/support/output.ts";
import { ROOT } from "../scripts/support/paths.ts";
import { append, openSession, registerModel, say, times } from "./support/chat.ts";
import { type BenchResult, type Figure, measured, median } from "./support/report.ts";
import type { Build, Rig } from "./support/rig.ts";

const WINDOW = 128_000;
const WARM_UP = 60;
/** Longer than a drain waits (`DRAIN_EVERY_MS` of src/session/drain.ts), so that such turns share no batch. */
const ALONE_MS = 250;

const OURS = "longhand";
const OTHER = "other";

export const buildsAgainst = (directory: string): readonly [Build, ...Build[]] => [
  { name: OURS, root: ROOT },
  { name: OTHER, root: directory },
];

interface Pace {
  readonly name: string;
  /** Milliseconds between turns. */
  readonly pause: number;
  readonly turns: number;
}

const PACES: readonly Pace[] = [
  { name: "turns in a row", pause: 0, turns: 20 },
  { name: "each turn alone", pause: ALONE_MS, turns: 8 },
];

/** What is measured of one build at one pace, in milliseconds a turn. */
interface Meter {
  readonly name: string;
  readonly samples: number;
  measure(rig: Rig, build: string, work: () => Promise<void>): Promise<number>;
}

const METERS: readonly Meter[] = [
  { name: "JavaScript", samples: 12, measure: (rig, build, work) => rig.profile(build, work) },
  { name: "all of workerd", samples: 24, measure: async (rig, _, work) => (await rig.cpu.measure(work)) * 1_000 },
];

type Talk = (pace: Pace) => Promise<void>;

async function prepare(rig: Rig, name: string): Promise<Talk> {
  const connection = rig.connections.get(name);
  if (!connection) throw new Failure(`The rig has no build ${name}`);
  const of: Rig = { ...rig, connection };
  const session = await openSession(of, await registerModel(of, { chunks: 20, gap: 0 }, WINDOW));
  await times(10, () => append(of, session, "A message of the past, as short as most of them are."));
  await times(WARM_UP, () => say(of, session));
  return ({ pause, turns }) => times(turns, () => say(of, session).then(() => (pause > 0 ? delay(pause) : undefined)));
}

/** Neighbouring samples are compared, so that a machine that grows slower counts for both sides alike. */
async function compare(rig: Rig, talks: ReadonlyMap<string, Talk>, { pace, meter }: { pace: Pace; meter: Meter }): Promise<Figure[]> {
  const took = new Map<string, number[]>([...talks.keys()].map((name) => [name, []]));
  for (let round = 0; round < meter.samples; round++) {
    const order = round % 2 === 0 ? [OURS, OTHER] : [OTHER, OURS];
    for (const name of order) {
      const work = () => talks.get(name)?.(pace) ?? Promise.reject(new TypeError(name));
      took.get(name)?.push((await meter.measure(rig, name, work)) / pace.turns);
    }
  }
  const [ours = [], other = []] = [took.get(OURS), took.get(OTHER)];
  const ratios = ours.map((value, index) => value / (other[index] ?? Number.NaN));
  return [
    measured(`${pace.name}, ${meter.name}: this checkout`, "ms", ours),
    measured(`${pace.name}, ${meter.name}: the other`, "ms", other),
    { name: "  ratio of neighbouring samples", value: median(ratios), unit: "x", samples: middleHalf(ratios) },
  ];
}

function middleHalf(values: readonly number[]): readonly number[] {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.slice(Math.floor(sorted.length / 4), Math.ceil((sorted.length * 3) / 4));
}

export async function benchAgainst(rig: Rig): Promise<BenchResult> {
  const talks = new Map<string, Talk>();
  for (const name of [OURS, OTHER]) talks.set(name, await prepare(rig, name));
  const figures: Figure[] = [];
  for (const meter of METERS) for (const pace of PACES) figures.push(...(await compare(rig, talks, { pace, meter })));
  return {
    title: "CPU of a turn of 20 chunks beside another checkout",
    notes: [
      "Both in one workerd process; medians of alternating samples. The range of a ratio is its middle half.",
      "JavaScript: what V8 samples in the Worker and its objects. All of workerd: also Miniflare's simulation of D1 and the disk.",
    ],
    figures,
  };
}
