/** Schedules in a session's decisions and state. */
import { describe, expect, test } from "vitest";
import type { Command } from "../../src/domain/commands";
import { findNextRun, MAX_SCHEDULES } from "../../src/domain/schedules";
import { id, item, play, turnId, viewing } from "../support/builders";

const text = (n: number) => ({ body: id("bod", n), bytes: 20, tokens: 5 });
const set = (name: string, next_at: number, more: Partial<{ message: ReturnType<typeof text> }> = {}): Command => ({
  type: "SetSchedule",
  at: 100,
  name,
  message: text(1),
  time: { cron: "0 9 * * *", timezone: "UTC" },
  next_at,
  ...more,
});
const ran = (name: string, due_at: number, next_at: number | null): Command => ({
  type: "RecordScheduleRun",
  at: due_at + 5,
  name,
  due_at,
  turn: turnId(1),
  skipped: null,
  next_at,
});
const idle = viewing([item(1, "user"), item(2, "assistant")]);
const many = Array.from({ length: MAX_SCHEDULES }, (_, n) => set(`s${n}`, 1_000 + n));

describe("setting", () => {
  test("replaces the schedule of that name, and keeps what is known of its last run", () => {
    const { state } = play([set("briefing", 500), ran("briefing", 500, 900), set("briefing", 700, { message: text(2) })], idle);

    expect(state.schedules).toEqual([
      {
        name: "briefing",
        time: { cron: "0 9 * * *", timezone: "UTC" },
        message: text(2),
        set_at: 100,
        next_at: 700,
        last: { due_at: 500, at: 505, turn: turnId(1), skipped: null },
      },
    ]);
  });

  test("is refused for one more than there may be, unless one is over: that one makes room", () => {
    expect(play([...many, set("more", 9_000)], idle).rejected).toBe("schedule_limit");
    const { state } = play([...many, ran("s3", 1_003, null), set("more", 9_000)], idle);
    expect(state.schedules.map(({ name }) => name)).not.toContain("s3");
    expect(state.schedules).toHaveLength(MAX_SCHEDULES);
  });

  test("replaces one of a full list", () => {
    expect(play([...many, set("s3", 9_000)], idle).state.schedules).toHaveLength(MAX_SCHEDULES);
  });

  test("brings an archived session back, and a run that is skipped does not", () => {
    const archived = viewing([item(1, "user")], { archived_at: 50 });
    expect(play([set("briefing", 500)], archived).state.archived_at).toBeNull();
    const skipped: Command = {
      type: "RecordScheduleRun",
      at: 600,
      name: "briefing",
      due_at: 500,
      turn: null,
      skipped: "budget",
      next_at: 900,
    };
    const { state } = play([set("briefing", 500), { type: "ArchiveSession", at: 200 }, skipped], archived);
    expect([state.archived_at, state.updated_at]).toEqual([200, 100]);
  });
});

describe("a run", () => {
  test("is noted once: the same one again, and one of a schedule that was changed or removed, are stale", () => {
    expect(play([set("briefing", 500), ran("briefing", 500, 900), ran("briefing", 500, 900)], idle).rejected).toBe("stale");
    expect(play([set("briefing", 500), set("briefing", 600), ran("briefing", 500, 900)], idle).rejected).toBe("stale");
    expect(
      play([set("briefing", 500), { type: "RemoveSchedule", at: 200, name: "briefing" }, ran("briefing", 500, 900)], idle).rejected,
    ).toBe("stale");
  });

  test("moves the next one, and the earliest of all is next", () => {
    const { state } = play([set("a", 500), set("b", 400), ran("b", 400, 800)], idle);
    expect(findNextRun(state)).toBe(500);
  });

  test("may be the last one", () => {
    expect(findNextRun(play([set("a", 500), ran("a", 500, null)], idle).state)).toBeNull();
  });
});

test("a schedule that is not there cannot be removed", () => {
  expect(play([{ type: "RemoveSchedule", at: 1, name: "briefing" }], idle).rejected).toBe("schedule_not_found");
});
