/** CPU time of a turn by the length of its history. The cost of a turn must not grow with it. */
import { describeSession, say, times } from "./support/chat.ts";
import { buildHistory, buildOrdinary, buildShort, REPLY_CHUNKS, WINDOW } from "./support/histories.ts";
import { type BenchResult, type Figure, measured, ratio } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const SAMPLES = 5;
const WARM_UP = 3;
const TURNS = 15;
const GOAL = 1.1;

async function sample(rig: Rig, session: string): Promise<number> {
  await times(WARM_UP, () => say(rig, session));
  const seconds = await rig.cpu.measure(() => times(TURNS, () => say(rig, session)));
  return (seconds / TURNS) * 1_000;
}

export async function benchHistory(rig: Rig): Promise<BenchResult> {
  const long = await buildHistory(rig, 1_000);
  const longest = await buildHistory(rig, 10_000);
  const took = { ordinary: [] as number[], short: [] as number[], long: [] as number[], longest: [] as number[] };
  const levels: string[] = [];
  for (let round = 0; round < SAMPLES; round++) {
    // Each run uses new sessions, because the measured turns would turn a history of ten messages into a long one.
    const [ordinary, short] = [await buildOrdinary(rig), await buildShort(rig)];
    took.ordinary.push(await sample(rig, ordinary));
    took.short.push(await sample(rig, short));
    took.long.push(await sample(rig, long));
    took.longest.push(await sample(rig, longest));
    levels.push(await describeLevels(rig, [ordinary, short, long, longest]));
  }
  const ordinary = measured("10 ordinary messages, small view", "ms", took.ordinary);
  const short = measured("10 messages, view as full as the others'", "ms", took.short);
  const [thousand, tenThousand] = [measured("1,000 messages", "ms", took.long), measured("10,000 messages", "ms", took.longest)];
  const ratios: readonly Figure[] = [
    ratio("1,000 against 10, views equally full", [thousand, short], GOAL),
    ratio("10,000 against 10, views equally full", [tenThousand, short], GOAL),
    ratio("10,000 against 10 ordinary messages (plain)", [tenThousand, ordinary]),
  ];
  const figures = [ordinary, short, thousand, tenThousand, ...ratios];
  return { title: "CPU a turn, by length of history", notes: toNotes(levels), figures };
}

async function describeLevels(rig: Rig, sessions: readonly string[]): Promise<string> {
  const all = await Promise.all(sessions.map((session) => describeSession(rig, session)));
  return all.map(({ message_count, current_context_tokens: { tokens } }) => `${message_count} messages / ${tokens} tokens`).join(", ");
}

const toNotes = (levels: readonly string[]): string[] => [
  `Window of ${WINDOW} tokens, replies of ${REPLY_CHUNKS} chunks without pauses, streamed to the client; medians of ${SAMPLES} times ${TURNS} turns.`,
  "A history of ten ordinary messages has a view far below 16k, and a request costs by its size: the goal compares equally full views.",
  `Messages and view at the end of the first sample: ${levels[0]}`,
  `Messages and view at the end of the last sample:  ${levels.at(-1)}`,
];
