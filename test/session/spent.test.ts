/** A compaction whose workers were lost while a turn ran continues when the turn ends, before the watchdog's next check. */
import { expect, test } from "vitest";
import { nearlyFull } from "./filled";
import { CALLER, type Life, settle } from "./life";

/** Longer than any lease. */
const LATER = 120_000;

const results = [{ execution_id: null, call_id: "c1", output: "found", is_error: false }];

/** A turn waits for its tools while `workers` workers lease the compaction and are lost. */
async function losing(workers: number): Promise<Life> {
  const life = await nearlyFull();
  await life.send("short");
  await life.answer("short too", 7_000);
  await life.send("look it up");
  const call = { type: "tool_call", call_id: "c1", name: "look", arguments: "{}" } as const;
  await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
  for (let worker = 1; worker <= workers; worker++) {
    expect(await lease(life)).toMatchObject({ value: { kind: "leased" } });
    await life.advance(LATER);
  }
  return life;
}

const lease = async (life: Life) => {
  const id = life.runtime.state.compaction.requested?.id;
  if (!id) throw new Error("no compaction was asked for");
  return life.service.leaseCompaction(CALLER, id);
};

const goOn = async (life: Life): Promise<void> => {
  await life.service.toolResults(CALLER, { results, idempotency: null });
  await settle();
};

async function end(life: Life): Promise<void> {
  await goOn(life);
  await life.answer("there it is", 7_050);
}

test("with every attempt spent it ends with the turn: the oldest leave, and the next one may be asked for", async () => {
  const life = await losing(2);
  expect(await lease(life)).toMatchObject({ value: { kind: "nothing", reason: "waits_for_turn_end" } });
  expect(life.runtime.state.view.epoch).toBe(0);

  await end(life);

  expect(life.runtime.state).toMatchObject({ turn: null, compaction: { requested: null }, view: { overlays: [{ kind: "dropped" }] } });
  expect(life.events().slice(-2)).toMatchObject([
    { type: "CompactionFailed", failure: "lease_expired", final: true },
    { type: "EpochChanged", trigger: "fallback" },
  ]);
});

test("is settled before the turn that waits behind it begins", async () => {
  const life = await losing(2);
  await goOn(life);
  await life.send("and then?");

  await life.answer("there it is", 7_050);

  const types = life.events().map((event) => event.type);
  expect(types.lastIndexOf("EpochChanged")).toBeGreaterThan(types.lastIndexOf("TurnCompleted"));
  expect(types.lastIndexOf("EpochChanged")).toBeLessThan(types.lastIndexOf("TurnStarted"));
});

test("with an attempt left a worker is woken with the turn's end", async () => {
  const life = await losing(1);
  const id = life.runtime.state.compaction.requested?.id;
  const woken = life.jobs.length;

  await end(life);

  expect(life.jobs.slice(woken)).toEqual([id]);
  expect(await lease(life)).toMatchObject({ value: { kind: "leased" } });
});

test("a worker that is at it is left to it", async () => {
  const life = await losing(1);
  expect(await lease(life)).toMatchObject({ value: { kind: "leased" } });
  const woken = life.jobs.length;

  await end(life);

  expect(life.jobs).toHaveLength(woken);
  expect(life.runtime.state.compaction).toMatchObject({ requested: { attempts: 2 }, lease: { attempt: 2 } });
});
