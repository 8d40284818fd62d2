import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findLeastAge, findRules, judgeSession, NO_RETENTION, type SessionAge } from "../../src/app/retention";
import { POLICY_NAMES } from "../../src/context/presets";
import type { RetentionSetting } from "../../src/contract/retention";

const DAY = 86_400_000;
const NOW = 4_000 * DAY;
const YEAR: RetentionSetting = { ...NO_RETENTION, erase_sessions_after_days: 365 };
const age = (changes: Partial<SessionAge> = {}): SessionAge => ({
  policy: "balanced",
  used_at: NOW,
  is_busy: false,
  is_archived: false,
  result_times: [],
  ...changes,
});

const days = fc.option(fc.integer({ min: 1, max: 400 }));
const rules = { archive_sessions_after_days: days, erase_sessions_after_days: days, remove_tool_results_after_days: days };
const settings: fc.Arbitrary<RetentionSetting> = fc.record({
  ...rules,
  remove_usage_after_months: fc.constant(null),
  by_policy: fc.dictionary(fc.constantFrom(...POLICY_NAMES), fc.record(rules, { requiredKeys: [] })),
});
const times = fc.integer({ min: NOW - 500 * DAY, max: NOW });
const ages: fc.Arbitrary<SessionAge> = fc.record({
  policy: fc.constantFrom(...POLICY_NAMES),
  used_at: times,
  is_busy: fc.boolean(),
  is_archived: fc.boolean(),
  result_times: fc.array(times, { maxLength: 5 }),
});

describe("a session under retention", () => {
  it("is due at the age of the rule, and not a millisecond before", () => {
    const due = [{ action: "erase_session", due_at: NOW }];
    expect(judgeSession(YEAR, age({ used_at: NOW - 365 * DAY }), NOW).due).toEqual(due);
    expect(judgeSession(YEAR, age({ used_at: NOW - 365 * DAY + 1 }), NOW).due).toEqual([]);
  });

  it("is never due while a turn is open or a message waits", () => {
    expect(judgeSession(YEAR, age({ used_at: 0, is_busy: true }), NOW).due).toEqual([]);
  });

  it("follows the rule of its own policy: another age, or never", () => {
    const setting: RetentionSetting = {
      ...YEAR,
      by_policy: { verbatim: { erase_sessions_after_days: null }, economy: { erase_sessions_after_days: 7 }, retain: {} },
    };
    expect(POLICY_NAMES.map((policy) => findRules(setting, policy).erase_sessions_after_days)).toEqual(
      POLICY_NAMES.map((policy) => (policy === "verbatim" ? null : policy === "economy" ? 7 : 365)),
    );
    expect(findLeastAge(setting)).toBe(7 * DAY);
  });

  it("is never due where there is no rule", () => {
    expect(findLeastAge(NO_RETENTION)).toBeNull();
    expect(judgeSession(NO_RETENTION, age({ used_at: 0 }), NOW).due).toEqual([]);
  });

  it("loses the results that are old enough, and no others", () => {
    const setting: RetentionSetting = { ...NO_RETENTION, remove_tool_results_after_days: 30 };
    const result_times = [NOW - 40 * DAY, NOW - 30 * DAY, NOW - 30 * DAY + 1];
    const { due, results_until, look_at } = judgeSession(setting, age({ result_times }), NOW);

    expect(due).toEqual([{ action: "remove_tool_results", due_at: NOW - 10 * DAY, results: 2 }]);
    expect([results_until, look_at]).toEqual([NOW - 30 * DAY, NOW + 1]);
  });

  it("that is to be erased is erased as a whole", () => {
    const setting: RetentionSetting = { ...NO_RETENTION, erase_sessions_after_days: 30, remove_tool_results_after_days: 10 };
    const old = age({ used_at: NOW - 30 * DAY, result_times: [NOW - 40 * DAY] });
    expect(judgeSession(setting, old, NOW).due.map(({ action }) => action)).toEqual(["erase_session"]);
  });

  it("is archived at its age, once, and loses its results as any other", () => {
    const setting: RetentionSetting = { ...NO_RETENTION, archive_sessions_after_days: 30, remove_tool_results_after_days: 10 };
    const old = age({ used_at: NOW - 30 * DAY, result_times: [NOW - 40 * DAY] });
    const archive = { action: "archive_session", due_at: NOW };
    const remove = { action: "remove_tool_results", due_at: NOW - 30 * DAY, results: 1 };

    expect(judgeSession(setting, { ...old, used_at: old.used_at + 1 }, NOW).due).toEqual([remove]);
    expect(judgeSession(setting, old, NOW).due).toEqual([archive, remove]);
    expect(judgeSession(setting, { ...old, is_archived: true }, NOW).due).toEqual([remove]);
  });

  it("that is archived is erased when its age since the last use comes, and one that both rules reach is erased", () => {
    const setting: RetentionSetting = { ...NO_RETENTION, archive_sessions_after_days: 30, erase_sessions_after_days: 90 };
    const old = age({ used_at: NOW - 89 * DAY, is_archived: true });
    expect(judgeSession(setting, old, NOW)).toMatchObject({ due: [], look_at: NOW + DAY });
    for (const is_archived of [true, false])
      expect(judgeSession(setting, { ...old, is_archived }, NOW + DAY).due.map(({ action }) => action)).toEqual(["erase_session"]);
  });

  it("is never due before the least age of all rules", () => {
    fc.assert(
      fc.property(settings, ages, (setting, one) => {
        const least = findLeastAge(setting);
        for (const { action, due_at } of judgeSession(setting, one, NOW).due) {
          const from = action === "remove_tool_results" ? Math.min(...one.result_times) : one.used_at;
          expect(least !== null && due_at - from >= least && due_at <= NOW).toBe(true);
        }
      }),
    );
  });

  it("that nothing happens to is not due before the time at which it says to look again", () => {
    fc.assert(
      fc.property(settings, ages, fc.double({ min: 0, max: 1, noNaN: true }), (setting, one, share) => {
        const { due, look_at } = judgeSession(setting, one, NOW);
        expect(look_at).toBeGreaterThan(NOW);
        const between = Math.floor(NOW + (look_at - NOW - 1) * share);
        if (due.length === 0) expect(judgeSession(setting, one, between).due).toEqual([]);
      }),
    );
  });

  it("that is used, or given another policy, is not erased before the time at which it said to look again", () => {
    fc.assert(
      fc.property(settings, ages, ages, fc.double({ min: 0, max: 1, noNaN: true }), (setting, one, other, share) => {
        const { due, look_at } = judgeSession(setting, one, NOW);
        if (due.length > 0) return;
        const used_at = Math.floor(NOW + (look_at - NOW - 1) * share);
        const then = judgeSession(setting, { ...other, used_at }, look_at - 1);
        expect(then.due.filter(({ action }) => action !== "remove_tool_results")).toEqual([]);
      }),
    );
  });
});
