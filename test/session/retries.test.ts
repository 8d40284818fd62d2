/** A model that fails before its first token, and the turn's reaction. */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { ModelFailure } from "../../src/app/ports";
import { countingIds } from "../support/builders";
import { CALLER, failure, Life, SPEC, settle } from "./life";

async function asking(): Promise<Life> {
  const life = new Life();
  life.chance = 0.5;
  await life.open();
  await life.send("hello?");
  return life;
}

const fails = (of: ModelFailure) => ({ type: "failure", failure: of }) as const;
const outcomes = (life: Life) => life.events().flatMap((event) => (event.type === "ModelCallFinished" ? [event.outcome] : []));
const lastTurn = (life: Life) => life.runtime.state.last_turn;

describe("a failure before the first word", () => {
  test.each(["rate_limit", "unavailable"] as const)("%s is waited out, and the same request is made again", async (kind) => {
    const life = await asking();
    await life.say(failure(kind));
    expect(life.asked).toBe("t");

    await life.advance(500);
    expect(life.asked).toBe("tt");
    expect(life.call.messages).toEqual(life.calls[0]?.messages);
    await life.answer("hello!");

    expect(lastTurn(life)).toMatchObject({ status: "completed" });
    expect(outcomes(life)).toEqual([kind, "stop"]);
  });

  test("ends the turn after three calls, each of them in the ledger", async () => {
    const life = await asking();
    await life.say(failure("unavailable"));
    await life.advance(1_000);
    await life.say(failure("rate_limit"));
    await life.advance(2_000);
    await life.say(failure("unavailable"));

    expect(lastTurn(life)).toMatchObject({ status: "failed", failure: { kind: "unavailable" } });
    expect(outcomes(life)).toEqual(["unavailable", "rate_limit", "unavailable"]);
  });

  test("is waited out for as long as the provider asks", async () => {
    const life = await asking();
    await life.say(fails({ kind: "rate_limit", status: 429, retry_after_ms: 20_000 }));

    await life.advance(19_999);
    expect(life.asked).toBe("t");
    await life.advance(1_001);
    expect(life.asked).toBe("tt");
  });

  test("ends the turn with the wait, if the provider asks for a longer wait than the limit", async () => {
    const life = await asking();
    await life.say(fails({ kind: "rate_limit", status: 429, retry_after_ms: 3_600_000 }));

    expect(life.asked).toBe("t");
    const ended = lastTurn(life);
    expect(ended && (await life.service.turn(CALLER, ended.id))).toMatchObject({
      value: { status: "failed", failure: { kind: "rate_limit", retry_after_ms: 3_600_000 } },
    });
  });

  test.each(["auth", "quota", "refused", "invalid_param", "media", "payload"] as const)("%s ends the turn at once", async (kind) => {
    const life = await asking();
    await life.say(failure(kind));
    await life.advance(60_000);

    expect([life.asked, lastTurn(life)?.failure?.kind]).toEqual(["t", kind]);
  });

  test("is a timeout when nothing comes, and the next call has a deadline of its own", async () => {
    const life = await asking();
    await life.advance(60_000);
    await life.say(failure("aborted"));
    await life.advance(1_000);
    expect(life.asked).toBe("tt");
    expect(life.call.signal.aborted).toBe(false);

    await life.answer("at last");
    expect(lastTurn(life)).toMatchObject({ status: "completed" });
    expect(outcomes(life)).toEqual(["timeout", "stop"]);
  });
});

describe("a failure after", () => {
  test.each([
    ["a word", { type: "text", text: "Well" } as const],
    ["a thought", { type: "reasoning", text: "Hm" } as const],
    ["a call of a tool", { type: "tool_call", call: { type: "tool_call", call_id: "c", name: "pay", arguments: "{}" } } as const],
  ])("%s is the end: it is not asked again", async (_, chunk) => {
    const life = await asking();
    await life.say(chunk, failure("unavailable"));
    await life.advance(60_000);

    expect([life.asked, lastTurn(life)?.status]).toEqual(["t", "failed"]);
  });

  test("a sign that something is being written, and silence, is the end", async () => {
    const life = await asking();
    life.call.progress();
    await life.advance(60_000);
    await life.say(failure("aborted"));
    await life.advance(60_000);

    expect([life.asked, lastTurn(life)?.failure?.kind]).toEqual(["t", "timeout"]);
  });
});

describe("while a turn waits to ask again", () => {
  async function waiting(): Promise<Life> {
    const life = await asking();
    await life.say(fails({ kind: "rate_limit", status: 429, retry_after_ms: 30_000 }));
    return life;
  }

  test("a stop ends it at once, and the call that failed is in the ledger once", async () => {
    const life = await waiting();
    await life.service.stop(CALLER, { idempotency: null });
    await settle();

    expect(lastTurn(life)).toMatchObject({ status: "stopped" });
    await life.advance(60_000);
    expect([life.asked, outcomes(life)]).toEqual(["t", ["rate_limit"]]);
  });

  test("the stream says why nothing comes, and for how long; the text then comes once", async () => {
    const life = await waiting();
    await life.advance(31_000);
    await life.answer("hello!");

    const frames = life.runtime.buffer.read(0, 100).map(({ json }): unknown => JSON.parse(json));
    expect(frames).toContainEqual({
      type: "turn.waiting",
      turn_id: lastTurn(life)?.id,
      model: SPEC.id,
      reason: "rate_limit",
      wait_ms: 30_500,
    });
    expect(JSON.stringify(frames).split('"text.delta"')).toHaveLength(2);
  });

  test("an erasure ends it, and no model is called again", async () => {
    const life = await waiting();
    await life.service.erase(CALLER);
    await life.advance(60_000);

    expect([life.asked, life.runtime.state.lifecycle]).toEqual(["t", "erased"]);
    expect(life.events().map(({ type }) => type)).toEqual(["SessionOpened", "SessionErased"]);
  });

  test("a message that interrupts takes over, and is asked at once", async () => {
    const life = await waiting();
    await life.send("never mind", "interrupt");

    expect([life.asked, life.call.messages.at(-1)]).toEqual(["tt", "user: never mind"]);
  });

  test("no deadline fires: there is no call that could be late", async () => {
    const life = await asking();
    await life.say(fails({ kind: "rate_limit", status: 429, retry_after_ms: 55_000 }));
    await life.advance(56_000);
    await life.advance(50_000);
    expect(life.call.signal.aborted).toBe(false);
    await life.answer("here");

    expect(lastTurn(life)).toMatchObject({ status: "completed" });
  });

  test("a crash costs nothing: the next life asks again, and no call is counted twice", async () => {
    const ids = countingIds();
    const life = new Life(createNodeSql(), "life-1", ids);
    await life.open();
    await life.send("hello?");
    await life.say(fails({ kind: "unavailable", status: 503, retry_after_ms: 30_000 }));

    const next = new Life(life.sql, "life-2", ids);
    await next.service.describe(CALLER);
    await settle();
    await next.answer("hello!");

    expect(next.runtime.state.last_turn).toMatchObject({ status: "completed" });
    expect(outcomes(next)).toEqual(["unavailable", "stop"]);
  });
});

describe("a model that takes less of a reply than the registry says", () => {
  test("is asked again with what it says, and the history stays", async () => {
    const life = await asking();
    await life.say(fails({ kind: "output_cap", status: 400, limit: 600 }));

    expect(life.asked).toBe("tt");
    expect(life.calls.map(({ request }) => request.maxOutput)).toEqual([null, 600]);
    expect(life.call.messages).toEqual(life.calls[0]?.messages);
    await life.answer("short");
    expect(life.runtime.state.view.epoch).toBe(0);
  });

  test("is asked with half as much, and half of that, where it does not say; then the turn ends", async () => {
    const life = await asking();
    for (let n = 0; n < 4; n++) await life.say(failure("output_cap"));

    expect(life.calls.map(({ request }) => request.maxOutput)).toEqual([null, 500, 250, 125]);
    expect(lastTurn(life)).toMatchObject({ status: "failed", failure: { kind: "output_cap" } });
  });

  test("is asked for no more from then on, and the context shows the request as it will be", async () => {
    const life = await asking();
    await life.say(fails({ kind: "output_cap", status: 400, limit: 600 }));
    await life.answer("short");
    await life.send("and?");

    expect(life.call.request.maxOutput).toBe(600);
    expect(life.runtime.ports().replyCaps.get(SPEC.id)).toBe(600);
  });

  test("is asked for less where the request leaves less of the window: both together are within it", async () => {
    const life = new Life();
    await life.open();
    life.runtime.ports().replyCaps.set(SPEC.id, 900);
    await life.send("word ".repeat(5_800));

    expect(life.call.request.maxOutput).toBeGreaterThanOrEqual(500);
    expect((life.call.request.maxOutput ?? 900) + 5_800 * 1.25).toBeLessThanOrEqual(8_000);
  });

  test("keeps that for this answer alone where it is only what the request left of the window", async () => {
    const life = new Life();
    await life.open();
    await life.send("word ".repeat(5_400));
    await life.say(fails({ kind: "output_cap", status: 400, limit: 900 }));

    expect(life.call.request.maxOutput).toBe(900);
    expect(life.runtime.ports().replyCaps.size).toBe(0);
  });
});
