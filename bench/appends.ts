/** Durable appends: messages without a turn, acknowledged once they are on disk. */
import { append, openSession, registerModel } from "./support/chat.ts";
import { type BenchResult, type Figure, measured } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const SAMPLES = 5;
const SAMPLE_MS = 2_000;
const SESSIONS = 64;

async function sample(rig: Rig, sessions: readonly string[], clients: number): Promise<{ rate: number; cpu: number }> {
  let done = 0;
  let wall = 0;
  const seconds = await rig.cpu.measure(async () => {
    const startedAt = performance.now();
    const client = async (first: number): Promise<void> => {
      for (let at = first; performance.now() - startedAt < SAMPLE_MS; at += clients) {
        await append(rig, sessions[at % SESSIONS] ?? "", "A message that is to be kept.");
        done++;
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, first) => client(first)));
    wall = performance.now() - startedAt;
  });
  return { rate: done / (wall / 1_000), cpu: (seconds / done) * 1_000 };
}

export async function benchAppends(rig: Rig): Promise<BenchResult> {
  const model = await registerModel(rig, { chunks: 1, gap: 0 }, 128_000);
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => openSession(rig, model)));
  const figures: Figure[] = [];
  for (const clients of [1, 16]) {
    const samples: { rate: number; cpu: number }[] = [];
    for (let round = 0; round < SAMPLES; round++) samples.push(await sample(rig, sessions, clients));
    const rates = samples.map(({ rate }) => rate);
    figures.push(measured(`${clients} at a time`, "appends/s", rates));
    figures.push(
      measured(
        `CPU of one, ${clients} at a time`,
        "ms",
        samples.map(({ cpu }) => cpu),
      ),
    );
  }
  return {
    title: "Durable appends",
    notes: [
      `POST with run: false over ${SESSIONS} sessions, from one Node process on the same machine; medians of ${SAMPLES} times ${SAMPLE_MS} ms.`,
      "Each is an event, a body and a row on disk before it is acknowledged, and is projected to D1 afterwards.",
    ],
    figures,
  };
}
