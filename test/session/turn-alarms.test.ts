/** The alarms that a turn leaves behind: each one that rings keeps the object in memory for ten seconds more. */
import { expect, test } from "vitest";
import { createKnownInterest } from "../../src/app/known-interest";
import { ringAlarm } from "../../src/session/alarm";
import { createAnnouncementSource } from "../../src/tenant/look-ups/announcement-source";
import { countingIds, TENANT } from "../support/builders";
import { Life, settle } from "./life";

/** When alarms rang, in seconds after the last turn began, until none is set. */
async function ringAll(life: Life): Promise<readonly number[]> {
  const began = life.time.now();
  const rang: number[] = [];
  while (life.alarmAt !== null) {
    await life.advance(Math.max(0, life.alarmAt - life.time.now()));
    rang.push((life.time.now() - began) / 1_000);
    life.alarmAt = null;
    ringAlarm(life.runtime);
    await settle();
  }
  return rang;
}

/** A life in an isolate that knows of no endpoint. */
async function newLife(): Promise<Life> {
  const known = createKnownInterest({ ask: async () => [], now: () => life.time.now(), generation: () => 0, max: 1 });
  const port = createAnnouncementSource({ tenant: TENANT, known, stub: { announce: () => Promise.reject(new Error("not wanted")) } });
  const life: Life = new Life(undefined, "life-1", countingIds(), { announcements: () => port });
  await life.open();
  await life.send("hello");
  return life;
}

test("a turn that has ended is rung for once for its rows in the read model, and twice to learn that no endpoint wants to hear of it", async () => {
  const life = await newLife();
  await life.answer("done");

  expect(await ringAll(life)).toEqual([10, 60.001, 90.001]);
  expect(life.runtime.jobs.nextDue()).toBeNull();
});

test("a turn that goes on is watched, and the watch ends with the first alarm after it", async () => {
  const life = await newLife();
  await life.ringUntil(life.time.now() + 35_000);
  expect(life.runtime.jobs.get("recover_turn")?.due_at).toBeGreaterThan(life.time.now());
  await life.answer("done");
  expect(life.runtime.jobs.get("recover_turn")).not.toBeNull();

  await life.ringUntil(life.alarmAt ?? 0);

  expect(life.runtime.jobs.get("recover_turn")).toBeNull();
});
