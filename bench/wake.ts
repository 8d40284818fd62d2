/** Time of the first call to a session whose object is not in memory. */
import { callApi } from "../scripts/support/api-client.ts";
import { describeSession, openSession } from "./support/chat.ts";
import { buildHistory, historyModel } from "./support/histories.ts";
import { type BenchResult, measured } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const REPEATS = 60;
const MESSAGES = 10_000;
const GOAL_MS = 2;

async function wake(rig: Rig, session: string): Promise<number> {
  await rig.evictSession(session);
  const startedAt = performance.now();
  await callApi(rig.connection, { method: "GET", path: `/v1/sessions/${session}` });
  return performance.now() - startedAt;
}

export async function benchWake(rig: Rig): Promise<BenchResult> {
  const long = await buildHistory(rig, MESSAGES);
  const empty = await openSession(rig, await historyModel(rig));
  const took = { long: [] as number[], empty: [] as number[], over: [] as number[] };
  for (let round = 0; round < REPEATS; round++) {
    const [a, b] = [await wake(rig, long), await wake(rig, empty)];
    took.long.push(a);
    took.empty.push(b);
    took.over.push(a - b);
  }
  const { message_count } = await describeSession(rig, long);
  return {
    title: "Cold wake of a session's object",
    notes: [
      `Wall time of the first GET after an eviction, over HTTP; medians of ${REPEATS}, the two sessions in turns.`,
      `The long session has ${message_count} messages and at least as many events; its view is compacted to a 16k window.`,
    ],
    figures: [
      measured("empty session", "ms", took.empty),
      measured(`${MESSAGES} events`, "ms", took.long),
      measured("over the empty one", "ms", took.over, GOAL_MS),
    ],
  };
}
