/** CPU time of a streamed chunk, compared with a Worker that passes the same stream through unchanged. */
import { fetchThrough, openSession, registerModel, say, times } from "./support/chat.ts";
import { type BenchResult, type Figure, measured, ratio } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const SAMPLES = 5;
const STREAMS = 8;
const CHUNKS = 2_000;
const WINDOW = 128_000;
const GOAL = 4;

/** Milliseconds between chunks, from a provider that sends as fast as it can to 200 chunks a second. */
const PACES = [
  { gap: 0, name: "as fast as it can", repeat: 3 },
  { gap: 1, name: "1 ms apart", repeat: 1 },
  { gap: 5, name: "5 ms apart", repeat: 1 },
] as const;

async function benchPace(rig: Rig, { gap, name, repeat }: (typeof PACES)[number]): Promise<Figure[]> {
  const plan = { chunks: CHUNKS, gap };
  const model = await registerModel(rig, plan, WINDOW);
  const sessions = await Promise.all(Array.from({ length: STREAMS }, () => openSession(rig, model)));
  const ours = () => Promise.all(sessions.map((session) => say(rig, session))).then(() => undefined);
  const through = (worker: "proxy" | "reader") => Promise.all(sessions.map(() => fetchThrough(rig, worker, plan))).then(() => undefined);
  const took = { ours: [] as number[], proxy: [] as number[], reader: [] as number[] };
  const perChunk = async (work: () => Promise<void>) =>
    ((await rig.cpu.measure(() => times(repeat, work))) / (repeat * STREAMS * CHUNKS)) * 1e6;
  await Promise.all([ours(), through("proxy"), through("reader")]);
  for (let round = 0; round < SAMPLES; round++) {
    took.ours.push(await perChunk(ours));
    took.proxy.push(await perChunk(() => through("proxy")));
    took.reader.push(await perChunk(() => through("reader")));
  }
  const [a, b] = [measured(`Longhand, chunks ${name}`, "µs", took.ours), measured(`bare proxy, chunks ${name}`, "µs", took.proxy)];
  const reader = measured(`bare read loop, chunks ${name}`, "µs", took.reader);
  return [a, b, ratio(`ratio, chunks ${name}`, [a, b], GOAL), reader, ratio(`bare read loop to proxy, chunks ${name}`, [reader, b])];
}

export async function benchStream(rig: Rig): Promise<BenchResult> {
  const figures: Figure[] = [];
  for (const pace of PACES) figures.push(...(await benchPace(rig, pace)));
  return {
    title: "Stream CPU a chunk, against a bare proxy in the same process",
    notes: [
      `${STREAMS} streams at once of ${CHUNKS} chunks each, all that a turn does included; medians of ${SAMPLES}.`,
      "The provider writes each chunk by itself. The slower it writes, the more of the CPU is waking up, for both.",
      "The bare read loop reads the stream in JavaScript and drops it: what the platform takes for it before any work is done.",
    ],
    figures,
  };
}
