/** A session's object runs its schedules by itself: once for each time, whatever dies, and never over a person's open question. */
import { describe, expect, test } from "vitest";
import type { ScheduleInput } from "../../src/app/schedule-api";
import { ringAlarm } from "../../src/session/alarm";
import { id } from "../support/builders";
import { CALLER, Life, settle } from "./life";
import { newLife, say } from "./talk";

const HOUR = 3_600_000;
const hourly: ScheduleInput = { name: "briefing", time: { cron: "0 * * * *", timezone: "UTC" }, message: "What is new?" };

async function scheduled(input: ScheduleInput = hourly): Promise<Life> {
  const life = await newLife();
  await say(life, "Where shall we go?", "To the sea.");
  const set = await life.service.setSchedule(CALLER, input);
  if (!set.ok) throw new Error(set.error.code);
  return life;
}

async function ring(life: Life): Promise<void> {
  ringAlarm(life.runtime);
  await settle();
}

/** Lets the time come at which the schedule is due, and a bit more. */
async function comeDue(life: Life): Promise<void> {
  const { next_at } = await read(life);
  await life.advance((next_at ?? 0) - life.time.now() + 1);
  await ring(life);
}

async function read(life: Life, name = "briefing") {
  const listed = await life.service.schedules(CALLER);
  const found = listed.ok ? listed.value.find((each) => each.name === name) : undefined;
  if (!found) throw new Error("no such schedule");
  return found;
}

const count = (life: Life, type: string): number => life.events().filter((event) => event.type === type).length;

describe("a schedule that comes due", () => {
  test("submits its message, and the reply is a turn like any other; the alarm is set for the next time", async () => {
    const life = await scheduled();
    const { next_at } = await read(life);
    expect(life.runtime.jobs.get("schedule")?.due_at).toBe(next_at);

    await comeDue(life);
    await life.answer("Nothing.");

    expect(life.calls.at(-1)?.messages.at(-1)).toBe("user: What is new?");
    const after = await read(life);
    expect(after.last_run).toMatchObject({ due_at: next_at, skipped: null, turn_id: life.runtime.state.last_turn?.id });
    expect(after.next_at).toBe((next_at ?? 0) + HOUR);
    expect(life.runtime.jobs.get("schedule")?.due_at).toBe(after.next_at);
  });

  test("runs once for all times that passed while the object was away", async () => {
    const life = await scheduled();
    const before = count(life, "TurnStarted");
    await life.advance(9 * HOUR);
    await ring(life);
    await life.answer("Nothing.");
    await ring(life);

    expect(count(life, "TurnStarted")).toBe(before + 1);
    expect((await read(life)).next_at).toBeGreaterThan(life.time.now());
  });

  test("runs once though two alarms ring at once", async () => {
    const life = await scheduled();
    const before = count(life, "TurnStarted");
    await life.advance(HOUR);
    ringAlarm(life.runtime);
    ringAlarm(life.runtime);
    await settle();

    expect(count(life, "TurnStarted")).toBe(before + 1);
    expect(count(life, "ScheduleRan")).toBe(1);
  });

  test("runs in the next life when the object died before the message was stored", async () => {
    const life = await scheduled();
    await life.advance(HOUR);
    let ids = 100;
    const next = new Life(life.sql, "life-2", (prefix) => id(prefix, ++ids));
    next.time.advance(HOUR);
    await ring(next);

    expect(next.runtime.state.turn).not.toBeNull();
    expect(count(next, "ScheduleRan")).toBe(1);
  });

  test("waits in the queue behind a turn that runs", async () => {
    const life = await scheduled();
    await life.send("And then?");
    await comeDue(life);
    expect(life.runtime.state.queue).toHaveLength(1);
    await life.answer("Home.");
    await settle();

    expect(life.calls.at(-1)?.messages.at(-1)).toBe("user: What is new?");
  });

  test("once: does not run again, and stays listed", async () => {
    const now = (await newLife()).time.now();
    const life = await scheduled({ name: "reminder", time: { at: now + HOUR }, message: "Call Ada." });
    await life.advance(HOUR);
    await ring(life);
    await life.answer("Done.");

    expect(await read(life, "reminder")).toMatchObject({ at: now + HOUR, next_at: null, last_run: { due_at: now + HOUR, skipped: null } });
    expect(life.runtime.jobs.get("schedule")).toBeNull();
  });
});

describe("a run that cannot start its turn", () => {
  test("leaves a turn that waits for its client alone: it is tried for a quarter of an hour, and then skipped", async () => {
    const life = await scheduled();
    await life.send("Look it up.");
    life.calls.at(-1)?.say({ type: "tool_call", call: { type: "tool_call", call_id: "c1", name: "look", arguments: "{}" } });
    life.calls.at(-1)?.say({ type: "finish", finish: "tool_calls", usage: null });
    await settle();
    const turn = life.runtime.state.turn?.id;

    await comeDue(life);
    expect((await read(life)).last_run).toBeNull();
    expect(life.runtime.jobs.get("schedule")?.due_at).toBe(life.time.now() + 60_000);
    await life.advance(15 * 60_000);
    await ring(life);

    expect(life.runtime.state.turn?.id).toBe(turn);
    expect((await read(life)).last_run).toMatchObject({ turn_id: null, skipped: "busy" });
    expect(life.runtime.state.queue).toEqual([]);
  });

  test("runs as soon as it can within that time", async () => {
    const life = await scheduled();
    life.isSuspended = true;
    await comeDue(life);
    life.isSuspended = false;
    await life.advance(60_000);
    await ring(life);

    expect((await read(life)).last_run).toMatchObject({ skipped: null });
  });

  test("of a suspended tenant appends nothing", async () => {
    const life = await scheduled();
    life.isSuspended = true;
    const { next_position } = life.runtime.state;
    await comeDue(life);
    await life.advance(15 * 60_000);
    await ring(life);

    expect((await read(life)).last_run).toMatchObject({ skipped: "suspended" });
    expect(life.runtime.state.next_position).toBe(next_position);
  });
});

describe("setting a schedule", () => {
  test("again as it is changes nothing", async () => {
    const life = await scheduled();
    const { seq } = life.runtime.state;
    await life.service.setSchedule(CALLER, hourly);
    expect(life.runtime.state.seq).toBe(seq);
  });

  test("with another message deletes the former text", async () => {
    const life = await scheduled();
    await life.service.setSchedule(CALLER, { ...hourly, message: "What is old?" });
    const texts = life.sql.all<{ text: string }>("SELECT text FROM bodies").map(({ text }) => text);

    expect(texts.some((text) => text.includes("What is old?"))).toBe(true);
    expect(texts.some((text) => text.includes("What is new?"))).toBe(false);
  });

  test("for a time that is over is refused", async () => {
    const life = await newLife();
    const past = { name: "late", time: { at: life.time.now() }, message: "Too late." };
    expect(await life.service.setSchedule(CALLER, past)).toMatchObject({ error: { code: "invalid", field: "at" } });
  });

  test("under a condition that does not hold changes nothing", async () => {
    const life = await scheduled();
    const asked = life.service.setSchedule(CALLER, { ...hourly, message: "Else." }, { match: ['"other"'], none_match: null });
    expect(await asked).toMatchObject({ error: { code: "precondition_failed" } });
    expect((await read(life)).message).toBe("What is new?");
  });
});

test("a schedule that is removed does not run, and its text is gone", async () => {
  const life = await scheduled();
  expect(await life.service.removeSchedule(CALLER, "briefing")).toEqual({ ok: true, value: null });
  await life.advance(2 * HOUR);
  await ring(life);

  expect(count(life, "ScheduleRan")).toBe(0);
  expect(life.runtime.jobs.get("schedule")).toBeNull();
  expect(life.sql.all("SELECT 1 FROM bodies WHERE text LIKE '%What is new?%'")).toEqual([]);
});
