/** A summariser that does not help is called a limited number of times, so that its cost is bounded. */
import { describe, expect, test } from "vitest";
import { runCompaction } from "../../src/app/compaction/run-compaction";
import { estimateTokens } from "../../src/context/tokens";
import { FAILURES_TO_OPEN } from "../../src/domain/breaker";
import type { CompactionId } from "../../src/domain/ids";
import { long, talk } from "./filled";
import { CALLER, failure, Life, SPEC, settle } from "./life";

/** Fails once and then leaves the view unchanged, so that it stays above the threshold. */
const STUBBORN = { preset: "oneclaw", on_failure: "none", summary: { attempts: 1 } } as const;

async function overThreshold(): Promise<Life> {
  const life = new Life();
  await life.open(STUBBORN);
  await talk(life, 6);
  await life.send("and?");
  await life.answer("so", 6_850);
  return life;
}

/** A worker runs the requested compaction. Its summariser replies with `reply`. */
async function work(life: Life, reply: (life: Life) => Promise<void>): Promise<void> {
  const { requested } = life.runtime.state.compaction;
  if (!requested) return;
  const { model, clock, schedule, log } = life.runtime.deps;
  const job = { ...CALLER, compaction: requested.id as CompactionId };
  const done = runCompaction(job, { session: life.service, model, clock, schedule, random: () => 0, isSuspended: async () => false, log });
  await settle();
  while (life.call.request.purpose === "compaction" && life.runtime.state.compaction.requested?.id === requested.id) await reply(life);
  await done;
}

const fails = (life: Life): Promise<void> => life.say(failure("unavailable"));
const summaries = (life: Life): number => [...life.asked].filter((kind) => kind === "c").length;

/** One more short exchange, after which a worker runs and its summariser fails. */
async function goOn(life: Life, input: number): Promise<void> {
  await life.send("yes");
  await life.answer("no", input);
  await work(life, fails);
}

describe("the breaker", () => {
  test("opens after three failures, one a response, and no model is asked while it is open", async () => {
    const life = await overThreshold();
    await work(life, fails);
    expect(life.runtime.state.compaction).toMatchObject({ failures: 1, requested: null });
    for (let n = 1; n <= 6; n++) await goOn(life, 6_850 + 10 * n);

    expect(summaries(life)).toBe(3);
    expect(life.runtime.state.compaction).toMatchObject({ failures: 3, requested: null });
  });

  test.each([
    ["another model", { model: "other" }],
    ["another policy", { policy: { ...STUBBORN, keep: { ratio: 0.2 } } }],
  ])("closes with %s", async (_, change) => {
    const life = await overThreshold();
    life.models = { resolve: async (id) => ({ ...SPEC, id }) };
    await work(life, fails);
    for (let n = 1; n <= 3; n++) await goOn(life, 6_850 + 10 * n);
    expect(summaries(life)).toBe(3);
    expect(life.runtime.state.compaction.requested).toBeNull();

    await life.service.patch(CALLER, change);
    await settle();
    await work(life, fails);

    expect(summaries(life)).toBe(4);
  });

  test("closes when a fifth of the view was appended since it opened, and one failure opens it again", async () => {
    const life = new Life();
    // A window so large that nothing else happens.
    life.models = { resolve: async () => ({ ...SPEC, context_window: 20_000 }) };
    await life.open({ ...STUBBORN, trigger: { window_ratio: 0.3 } });
    await talk(life, 6);
    for (let n = 0; n < 3; n++) await goOn(life, 6_500 + n);
    const before = summaries(life);
    await goOn(life, 6_510);
    expect([before, summaries(life)]).toEqual([3, 3]);

    for (const n of [1, 2]) {
      await life.send(long(`more-${n}`));
      await life.answer("noted", 6_500 + 1_080 * n);
      await work(life, fails);
    }
    await goOn(life, 8_700);

    expect(summaries(life)).toBe(4);
  });

  test("open, lets a turn that has no room clear old results, and nothing is dropped", async () => {
    const life = new Life();
    await life.open({ ...STUBBORN, results: { clear: "at_epoch", clear_gain_ratio: 1, keep_full: 0 } });
    await life.send("look it up");
    for (let n = 1; n <= 3; n++) await life.useTool(`c${n}`, long(`result-${n}`), 1_100 * (n - 1) + 10);
    await life.answer("that is all of it", 3_300);
    await talk(life, 3);
    for (let n = 0; n < 3; n++) await goOn(life, 6_850 + n);
    expect(life.runtime.state.compaction.breaker).not.toBeNull();

    await life.send(long("and then"));

    const changes = life.events().filter((event) => event.type === "EpochChanged");
    expect(changes).toMatchObject([
      { trigger: "inline", ops: [{ op: "clear_results" }], receipt: { breaker_open: true, dropped_items: 0 } },
    ]);
    expect(life.call.request.purpose).toBe("turn");
    expect(summaries(life)).toBe(3);
  });

  test("opens after two compactions that gained nothing to speak of", async () => {
    const life = new Life();
    await life.open({ preset: "oneclaw", keep: { ratio: 0.7 }, trigger: { window_ratio: 0.75 } });
    await talk(life, 6);
    const swells = (now: Life): Promise<void> => now.summarize(`S ${"word ".repeat(900)}`);

    for (let n = 1; n <= 8; n++) {
      await life.send(long(`more-${n}`).slice(0, 1_200));
      await life.answer("noted", 6_300 + n);
      await work(life, swells);
    }

    const changes = life.events().filter((event) => event.type === "EpochChanged" && event.receipt.model !== null);
    expect(changes).toHaveLength(2);
  });
});

describe("a summariser that is dead, under a policy that drops instead", () => {
  /** Every summary call fails, and the turns' own calls succeed: `turns` exchanges of about 250 tokens each. */
  async function talkOn(life: Life, turns: number): Promise<void> {
    for (let n = 1; n <= turns; n++) {
      await life.send(long(`question-${n}`).slice(0, 1_400));
      while (life.call.request.purpose === "compaction") await fails(life);
      await life.answer(`reply-${n}`, estimateTokens(JSON.stringify(life.call.request.messages)));
      await work(life, fails);
    }
  }

  test.each([
    ["that the policy repeats", { attempts: 3, models: [] }, [SPEC.id]],
    ["that go through several models, which take turns", { attempts: 1, models: ["one", "two", "three"] }, ["one", "two", "three"]],
  ])("is asked once each time that the breaker has closed, after compactions %s", async (_, summary, names) => {
    const life = new Life();
    life.models = { resolve: async (id) => ({ ...SPEC, id }) };
    await life.open({ ...STUBBORN, on_failure: "drop", summary });

    await talkOn(life, 120);

    const failed = life.events().flatMap((event) => (event.type === "CompactionFailed" ? [event] : []));
    const ATTEMPTS = 3;
    const probes = failed.slice(FAILURES_TO_OPEN * ATTEMPTS);
    expect(failed.slice(0, -probes.length).filter(({ final }) => final)).toHaveLength(FAILURES_TO_OPEN);
    expect(probes.length).toBeGreaterThan(1);
    expect(probes).toEqual(probes.map(() => expect.objectContaining({ attempt: 1, final: true })));
    expect(summaries(life)).toBe(failed.length);
    const calls = life
      .events()
      .flatMap((event) => (event.type === "ModelCallFinished" && event.purpose === "compaction" ? [event.model] : []));
    expect(calls.slice(-probes.length)).toEqual(probes.map((_each, n) => names[n % names.length]));
  });

  test("is called in proportion to the logarithm of the messages, not once for each fifth of a view", async () => {
    const life = new Life();
    await life.open({ ...STUBBORN, on_failure: "drop" });

    await talkOn(life, 120);
    const early = summaries(life);
    await talkOn(life, 120);

    expect([early, summaries(life) - early]).toEqual([
      expect.toSatisfy((calls: number) => calls <= 8),
      expect.toSatisfy((more: number) => more <= 1),
    ]);
    const changes = life.events().filter((event) => event.type === "EpochChanged");
    expect(changes.length).toBeGreaterThan(10);
    const breaker = { open: true, fruitless: 0, failures: summaries(life), closes_after: expect.any(Number) };
    expect(await life.service.describe(CALLER)).toMatchObject({ value: { breaker } });
    const byHand = { dryRun: true, instructions: null, keepRecent: 300, upTo: null, idempotency: null };
    expect(await life.service.compact(CALLER, byHand)).toMatchObject({ value: { plan: { breaker, breaker_open: false } } });
    expect(changes.at(-1)).toMatchObject({ receipt: { breaker_open: true, model: null } });
  });
});
