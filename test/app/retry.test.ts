/** The reaction to a failed call: retry, use another model, or stop. */
import { describe, expect, test } from "vitest";
import { shrinkCap } from "../../src/app/request/reply-caps";
import {
  CALLS_OF_ONE_MODEL,
  FAILED_CALLS,
  FAILED_MS,
  FAILED_TOKENS,
  mayRetryModel,
  mayTryOtherModel,
  PATIENCE_MS,
  RetryBudget,
} from "../../src/app/request/retry";
import { LiveTurn } from "../../src/app/turn/live-turn";
import { waitFor } from "../../src/app/wait";
import type { TurnFailureKind } from "../../src/domain/events";
import { id } from "../support/builders";
import { FakeSchedule } from "../support/fake-schedule";

const failed = (kind: TurnFailureKind, retry_after_ms?: number) => ({
  kind,
  status: null,
  ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
});
const always = (value: number) => () => value;

describe("a failure of kind", () => {
  test.each<[TurnFailureKind, boolean, boolean]>([
    ["rate_limit", true, true],
    ["unavailable", true, true],
    ["timeout", true, true],
    ["overflow", false, true],
    ["cannot_fit", false, true],
    ["output_cap", false, true],
    ["payload", false, true],
    ["quota", false, true],
    ["media", false, true],
    ["invalid_param", false, true],
    ["auth", false, true],
    ["refused", false, true],
    ["unknown_model", false, true],
    ["internal", false, true],
    ["aborted", false, false],
    ["crashed", false, false],
  ])("%s may be mended by asking again: %s, by asking another model: %s", (kind, again, elsewhere) => {
    expect([mayRetryModel(kind), mayTryOtherModel(kind)]).toEqual([again, elsewhere]);
  });
});

describe("the wait before the next call", () => {
  test("is anything up to twice as long each time, and never longer than twenty seconds", () => {
    const waits = (chance: number) =>
      [1, 2, 3, 6].map((calls) => {
        const efforts = new RetryBudget();
        return efforts.nextWait(failed("unavailable"), { calls: Math.min(calls, CALLS_OF_ONE_MODEL - 1), random: always(chance) });
      });
    expect(waits(0)).toEqual([0, 0, 0, 0]);
    expect(waits(0.999).map((ms) => Math.round((ms ?? 0) / 100) / 10)).toEqual([1, 2, 2, 2]);
  });

  test("is at least what the provider asked for, and a little more at random", () => {
    const wait = (chance: number) => new RetryBudget().nextWait(failed("rate_limit", 7_000), { calls: 1, random: always(chance) });
    expect([wait(0), wait(0.5)]).toEqual([7_000, 7_500]);
  });

  test("is not begun if the provider asks for a longer wait than the limit", () => {
    expect(new RetryBudget().nextWait(failed("rate_limit", PATIENCE_MS + 1), { calls: 1, random: always(0) })).toBeNull();
  });

  test("counts the waits before it", () => {
    const efforts = new RetryBudget();
    const next = () => efforts.nextWait(failed("rate_limit", PATIENCE_MS / 2 + 1), { calls: 1, random: always(0) });
    expect([next() !== null, next()]).toEqual([true, null]);
  });

  test("is not begun for what time does not mend, nor after so many calls of one model", () => {
    const wait = (kind: TurnFailureKind, calls: number) => new RetryBudget().nextWait(failed(kind), { calls, random: always(0) });
    expect([wait("auth", 1), wait("unavailable", CALLS_OF_ONE_MODEL), wait("unavailable", CALLS_OF_ONE_MODEL - 1)]).toEqual([
      null,
      null,
      0,
    ]);
  });

  test.each([
    ["calls", (efforts: RetryBudget) => Array.from({ length: FAILED_CALLS }, () => efforts.failed(1, 0))],
    ["tokens", (efforts: RetryBudget) => [efforts.failed(FAILED_TOKENS, 0)]],
  ])("is not begun once the answer has cost so many %s in vain", (_, spend) => {
    const efforts = new RetryBudget();
    spend(efforts);
    expect([efforts.isSpent, efforts.nextWait(failed("unavailable"), { calls: 1, random: always(0) })]).toEqual([true, null]);
  });

  test.each([
    ["calls", (efforts: RetryBudget) => Array.from({ length: FAILED_CALLS - 1 }, () => efforts.failed(1, 0))],
    ["tokens", (efforts: RetryBudget) => [efforts.failed(FAILED_TOKENS - 1, 0)]],
  ])("is not begun once the rounds of a turn have together cost too many %s in vain, and is for another turn", (_, spend) => {
    const run = (n: number) => ({ turn: id("trn", n), incarnation: "life 1" });
    const round = (last: LiveTurn | null, of: number): LiveTurn => LiveTurn.after(last, run(of));
    const spent = (live: LiveTurn): boolean => {
      const efforts = new RetryBudget(live.retrySpend);
      spend(efforts);
      return efforts.isSpent;
    };
    let live = round(null, 1);
    const rounds = [1, 2, 3, 4].map(() => {
      live = round(live, 1);
      return spent(live);
    });
    expect(rounds).toEqual([false, false, false, true]);
    expect(spent(round(live, 2))).toBe(false);
  });

  test("is not begun for the same again once calls have taken so long in vain; another model may still be asked", () => {
    const efforts = new RetryBudget();
    const next = () => efforts.nextWait(failed("timeout"), { calls: 1, random: always(0) });
    efforts.failed(1, FAILED_MS - 1);
    expect(next()).toBe(0);
    efforts.failed(1, 1);
    expect([next(), efforts.isSpent]).toEqual([null, false]);
  });

  test("ends at once when it is stopped", async () => {
    const time = new FakeSchedule();
    const abort = new AbortController();
    let over = false;
    const waiting = waitFor(10_000, abort.signal, time.schedule).then(() => {
      over = true;
    });
    abort.abort();
    await waiting;
    expect(over).toBe(true);
  });
});

describe("a cap on the reply", () => {
  test("becomes what the provider says, where that is less", () => {
    expect(shrinkCap({ limit: 8_192 }, 16_000)).toBe(8_192);
  });

  test("becomes a half where the provider does not say, or says no less", () => {
    expect([shrinkCap({}, 16_000), shrinkCap({ limit: 16_000 }, 16_000)]).toEqual([8_000, 8_000]);
  });

  test("does not become too small to answer in", () => {
    expect([shrinkCap({ limit: 3 }, 16_000), shrinkCap({}, 20)]).toEqual([null, null]);
  });
});
