/** Providers that count wrongly: the session corrects impossible usage and can always continue. */

import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { Sizing } from "../../src/context/sizing";
import { CALLER, failure, Life, SPEC, settle } from "./life";

const PICTURE = { type: "image", url: "https://example.com/dog.png", media_type: "image/png" } as const;

async function opened(): Promise<Life> {
  const life = new Life();
  await life.open();
  return life;
}

const endings = (life: Life): string[] => life.events().flatMap(({ type }) => (/^Turn(Completed|Failed)$/.test(type) ? [type] : []));

describe("one count far above the window", () => {
  test("costs the session no message: every later one is answered, and the next count takes its place", async () => {
    const life = await opened();
    await life.send("hello 0");
    await life.answer("hi", 20_000);

    for (let n = 1; n <= 4; n++) {
      await life.send(`hello ${n}`);
      while (life.call.request.purpose === "compaction") await life.say(failure("unavailable"));
      await life.answer("hi", 30 * n);
    }

    expect(endings(life)).toEqual(Array.from({ length: 5 }, () => "TurnCompleted"));
    expect(new Sizing(life.runtime.state, SPEC).next()).toEqual({ tokens: 121, source: "reported", error_bound: 0 });
  });

  test("between two tool rounds, where nothing can leave the view, is no reason not to ask", async () => {
    const life = await opened();
    await life.send("look it up");

    await life.useTool("c1", "found", 20_000);
    await life.answer("done", 60);

    expect(life.asked).toBe("tt");
    expect(endings(life)).toEqual(["TurnCompleted"]);
  });

  test("that a refusal then bears out ends the turn, after one more request", async () => {
    const life = await opened();
    await life.send("look it up");

    await life.useTool("c1", "found", 20_000);
    await life.say(failure("overflow"));

    expect(life.asked).toBe("tt");
    expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "overflow" } });
  });
});

describe("usage that is no count of the request", () => {
  const zeros = { input: 0, output: 0, cached: 0, reasoning: 0 };
  const rest = { output: 3, cached: 0, reasoning: 0 };
  const LONG = "seventeen words that say nothing at all about any of the things that matter here today ".repeat(12);

  async function answered(life: Life, usage: typeof zeros): Promise<void> {
    while (life.call.request.purpose === "compaction") await life.say(failure("unavailable"));
    await life.say({ type: "text", text: "noted" }, { type: "finish", finish: "stop", usage });
  }

  test("leaves the session measured by its estimate: one that always reports zeros is kept within the window", async () => {
    const life = await opened();
    for (let n = 0; n < 60; n++) {
      await life.send(`${n} ${LONG}`);
      await answered(life, zeros);
      expect(new Sizing(life.runtime.state, SPEC).next().source).toBe("estimated");
    }
    expect(life.runtime.state.view.epoch).toBeGreaterThan(0);
    expect(new Sizing(life.runtime.state, SPEC).raw).toBeLessThan(8_000);
  });

  test.each([
    ["zeros", zeros],
    ["less than a quarter of the estimate", { input: 40, ...rest }],
    ["more read from the cache than there was", { input: 400, ...rest, cached: 401 }],
  ])("teaches no ratio, and the count before it still holds: %s", async (_what, usage) => {
    const life = await opened();
    await life.send(LONG);
    await life.answer("noted", 320);
    const { ratios, anchor } = life.runtime.state;

    await life.send("and this");
    await answered(life, usage);

    expect(life.runtime.state).toMatchObject({ ratios, anchor, totals: { calls: 2, input: 320 + usage.input } });
  });

  test("of a reply that is reported as nothing leaves the reply to the estimate", async () => {
    const life = await opened();
    await life.send("tell me all");
    await life.say({ type: "text", text: LONG }, { type: "finish", finish: "stop", usage: { ...zeros, input: 12 } });
    expect(new Sizing(life.runtime.state, SPEC).next().tokens).toBeGreaterThan(200);
  });
});

describe("a picture for a model that is sent its name", () => {
  test("fits a window of 2,048, and the next message too", async () => {
    const life = new Life();
    const blind: ModelSpec = { ...SPEC, provider: "workers-ai", context_window: 2_048, max_output: 128 };
    life.models = { resolve: async () => blind };
    await life.open("balanced");
    const parts = [{ type: "text", text: "What is this?" } as const, PICTURE];

    await life.service.submit(CALLER, { role: "user", parts, run: true, onBusy: "queue", tools: null, idempotency: null });
    await settle();
    await life.answer("A dog.", 40);
    await life.send("And what does it do?");
    await life.answer("It sits.", 60);

    expect(endings(life)).toEqual(["TurnCompleted", "TurnCompleted"]);
    expect(life.runtime.state.view.epoch).toBe(0);
    expect(life.runtime.state.anchor).toMatchObject({ input: 60 });
  });
});

describe("a count far below the estimate", () => {
  const LONG = "seventeen words that say nothing at all about any of the things that matter here today ".repeat(40);
  const reporting = (input: number) => ({ input, output: 10, cached: 0, reasoning: 0 });

  async function heard(counts: readonly number[]): Promise<Life> {
    const life = await opened();
    for (const [n, input] of counts.entries()) {
      await life.send(n === 0 ? LONG : "and?");
      await life.say({ type: "text", text: "ok" }, { type: "finish", finish: "stop", usage: reporting(input) });
    }
    return life;
  }

  test("is believed when the provider repeats itself, each count with the reply before it", async () => {
    const counts = [30, 45, 60];
    expect((await heard(counts.slice(0, 2))).runtime.state.anchor).toBeNull();
    const { state } = (await heard(counts)).runtime;
    expect(new Sizing(state, SPEC).next()).toMatchObject({ tokens: 70, source: "reported" });
    expect(new Sizing(state, SPEC).ratio).toBe(1);
  });

  test.each([
    ["they do not hold the reply before them", [30, 35, 38, 40]],
    ["one of them is nothing", [30, 45, 0, 60, 75]],
  ])("is not believed where %s", async (_what, counts) => {
    expect((await heard(counts)).runtime.state.anchor).toBeNull();
  });
});

describe("usage that cannot be of the call", () => {
  const usage = { input: 12, output: 3, cached: 0, reasoning: 0 };

  test.each([
    ["more input than the request can weigh", { ...usage, input: 99_999_999 }],
    ["more output than its cap and its characters can be", { ...usage, output: 99_999_999 }],
    ["more thinking than that", { ...usage, reasoning: 99_999_999 }],
  ])("is not reported: nothing is summed up, paid for or measured by it: %s", async (_what, impossible) => {
    const life = await opened();
    await life.send("hello");
    await life.say({ type: "text", text: "hi" }, { type: "finish", finish: "stop", usage: impossible });

    expect(life.runtime.state.totals).toMatchObject({ calls: 1, input: 0, output: 0, reasoning: 0, cost: 0 });
    expect(new Sizing(life.runtime.state, SPEC).next().source).toBe("estimated");
  });

  test("of a summary neither", async () => {
    const life = await opened();
    await life.send("seventeen words ".repeat(1_500));
    await life.answer("noted", 7_800);
    await life.send("and this");
    expect(life.call.request.purpose).toBe("compaction");
    await life.say({ type: "text", text: "## Goal\nnone" }, { type: "finish", finish: "stop", usage: { ...usage, input: 99_999_999 } });

    expect(life.runtime.state.totals).toMatchObject({ calls: 2, input: 7_800 });
  });
});
