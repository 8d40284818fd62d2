/**
 * Memory of the workerd process for each session that is in use, by what was done with it. `memory` has the part of it that is JavaScript.
 * The platform's own part is that of an object in which no session was ever opened.
 */
import { ApiError, callApi } from "../scripts/support/api-client.ts";
import { newId } from "../src/app/new-id.ts";
import { describeSession, openSession, say } from "./support/chat.ts";
import { historyModel } from "./support/histories.ts";
import { type BenchResult, measured } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const SESSIONS = 150;
const WARM = 30;
/** Kilobytes beyond the platform's own, of which the tables are about a hundred. */
const GOAL = { own: 500, again: 150 } as const;

/** Reads a session that does not exist, from an object of its own. */
async function touchEmpty(rig: Rig): Promise<void> {
  await callApi(rig.connection, { method: "GET", path: `/v1/sessions/${newId("ses")}` }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
}

export async function benchResident(rig: Rig): Promise<BenchResult> {
  const model = await historyModel(rig);
  const talk = async (): Promise<string> => {
    const session = await openSession(rig, model);
    await say(rig, session);
    return session;
  };
  const each = async (work: (n: number) => Promise<unknown>): Promise<number> => {
    const before = rig.cpu.residentKb();
    for (let n = 0; n < SESSIONS; n++) await work(n);
    return (rig.cpu.residentKb() - before) / SESSIONS;
  };
  for (let n = 0; n < WARM; n++) await talk();
  const empty = await each(() => touchEmpty(rig));
  const opened = await each(() => openSession(rig, model));
  const talked: string[] = [];
  const turn = await each(async () => talked.push(await talk()));
  // On a slow machine the first ones were dropped already, which the platform reports as an error.
  for (const session of talked) await rig.evictSession(session).catch(() => undefined);
  const again = await each((n) => describeSession(rig, talked[n] ?? ""));
  return {
    title: "Memory of workerd for each session in use",
    notes: [
      `Resident memory by the number of sessions, ${SESSIONS} at a time. An object that is not called for ten seconds is dropped, unless a turn runs or a stream is open.`,
      "Memory of dropped objects is used again for the next ones, and is not given back to the system.",
    ],
    figures: [
      measured("an object without a session: the platform's own part", "kB", [empty]),
      measured("a session that was opened", "kB", [opened]),
      measured("a session after a turn", "kB", [turn]),
      measured("a session after a turn, beyond the platform's own part", "kB", [turn - empty], GOAL.own),
      measured("the same sessions, dropped and read again", "kB", [again], GOAL.again),
    ],
  };
}
