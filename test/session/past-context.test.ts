/** The request of any past turn, rebuilt from the log, is byte for byte the one that was sent. */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import type { ToolDefinition } from "../../src/domain/message";
import { readItems } from "../../src/session/log/log-tables";
import { id } from "../support/builders";
import { drawn } from "../support/effort";
import { CALLER, failure, Life, settle } from "./life";
import { change, hear, policies, steps, text } from "./script";
import { allPast, expectSame, listTurns, past, watched } from "./sent";
import { compact, newLife, ROOMY, say, useTools } from "./talk";

const tool = (name: string): ToolDefinition => ({ name, parameters: { type: "object" } });
const common = { role: "user", run: true, onBusy: "queue", idempotency: null } as const;
const UNKNOWN_TURN = id("trn", 0);
const itemAt = (life: Life, position: number) => {
  const [item] = readItems(life.sql, { from: position, to: position, limit: 1, order: "asc" });
  if (!item) throw new Error("no such item");
  return item.id;
};
const lastTurn = (life: Life) => listTurns(life).at(-1) ?? id("trn", 0);

async function newWatched(input: Parameters<typeof newLife>[0] = {}): Promise<Life> {
  return watched(await newLife({ system: "Be brief.", ...input }));
}

test("every request of any conversation is rebuilt as it was sent", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...policies), async (story, policy) => {
      const life = await newWatched({ policy });
      for (const [n, step] of story.entries()) {
        await hear(life, step, n);
        await change(life, step);
      }
      if (life.sent.some(({ purpose }) => purpose === "turn")) await expectSame(life);
    }),
    { numRuns: drawn(25) },
  );
});

describe("a request is rebuilt as it was sent", () => {
  let life: Life;
  beforeEach(async () => {
    life = await newWatched();
    await say(life, text("question 1", 20), text("reply 1", 20));
  });

  test("although the session's settings, pins and model have changed since", async () => {
    life.models = { resolve: async (asked) => ({ ...ROOMY, id: asked, upstream_id: `${asked}-2`, max_output: 77 }) };
    await life.service.patch(CALLER, { model: "other", system: "Be long.", tools: [tool("look")] });
    await life.service.setPins(CALLER, ["Her name is Ada."]);
    await say(life, "question 2", "reply 2");

    await expectSame(life);
    const [first, second] = await allPast(life);
    expect([first?.model, second?.model]).toEqual(["test-model", "other"]);
    expect(first?.request.body).toContain("Be brief.");
    expect(second?.request.body).toContain("Her name is Ada.");
  });

  test("where the settings changed in the middle of the turn", async () => {
    await life.send("look it up");
    await life.service.patch(CALLER, { system: "Be long.", tools: [tool("other")] });
    await life.useTool("call_1", "found", 300);
    await life.answer("so it is");

    await expectSame(life);
    const report = await past(life, lastTurn(life));
    expect(report).toMatchObject({
      call: 2,
      calls: [
        { n: 1, outcome: "tool_calls" },
        { n: 2, outcome: "stop" },
      ],
    });
    expect(report.request.body).toContain("Be long.");
    expect((await past(life, lastTurn(life), 1)).request.body).toContain("Be brief.");
  });

  test("with tools that were for one turn only", async () => {
    const parts = [{ type: "text", text: "look" }] as const;
    await life.service.submit(CALLER, { ...common, parts, tools: [tool("only_now")] });
    await settle();
    await life.answer("so it is");
    await say(life, "question 3", "reply 3");

    await expectSame(life);
    expect((await allPast(life)).map(({ request }) => request.body.includes("only_now"))).toEqual([false, true, false]);
  });

  test("for every try of a model that failed, and for the model that answered in its place", async () => {
    const second: ModelSpec = {
      ...ROOMY,
      id: "second",
      provider: "anthropic",
      max_output: 300,
      capabilities: { tools: true, images: false, files: false, reasoning: true },
    };
    life.models = { resolve: async (asked) => (asked === "second" ? second : ROOMY) };
    await life.service.patch(CALLER, { policy: { fallback_models: ["second"] } });
    await life.send("hello?");
    for (let n = 0; n < 3; n++) {
      await life.say(failure("unavailable"));
      await life.advance(20_000);
    }
    await life.answer("hello!");

    await expectSame(life);
    const { calls, call, model } = await past(life, lastTurn(life));
    expect(calls.map((each) => [each.model, each.outcome])).toEqual([...Array(3).fill(["test-model", "unavailable"]), ["second", "stop"]]);
    expect([call, model]).toEqual([4, "second"]);
  });

  test("with a cap of the reply that was only found out while it was asked", async () => {
    await life.send("hello?");
    await life.say({ type: "failure", failure: { kind: "output_cap", status: 400, limit: 123 } });
    await life.answer("hello!");

    await expectSame(life);
    expect((await past(life, lastTurn(life))).request.body).toContain('"maxOutput":123');
  });

  test("where a stop cut it off", async () => {
    await life.send("tell me");
    await life.say({ type: "text", text: "Once" });
    await life.service.stop(CALLER, { idempotency: null });
    await settle();

    await expectSame(life);
  });

  test("where its object died over it, and it was made again by the next life", async () => {
    await life.send("tell me");
    let n = 50_000;
    const next = watched(new Life(life.sql, "life-2", (prefix) => id(prefix, ++n)));
    next.models = life.models;
    await next.service.describe(CALLER);
    await settle();
    await next.answer("So it was.");

    await expectSame(life, next);
    expect((await past(next, lastTurn(next))).calls.map(({ outcome }) => outcome)).toEqual(["crashed", "stop"]);
  });

  test("before and after a compaction, from a log without any checkpoint as well", async () => {
    for (let n = 2; n < 6; n++) await say(life, text(`question ${n}`, 30), text(`reply ${n}`, 30));
    await compact(life, 100);
    await useTools(life, "look", [text("found", 30)]);
    life.sql.all("DELETE FROM checkpoints");

    await expectSame(life);
    expect(new Set((await allPast(life)).map(({ epoch }) => epoch))).toEqual(new Set([0, 1]));
  });
});

describe("the report of a past request", () => {
  test("is what the session was like when it was sent", async () => {
    const life = await newWatched();
    await life.advance(500);
    await say(life, "question 1", "reply 1");
    const before = life.runtime.state;
    await life.advance(500);
    await say(life, "question 2", "reply 2");
    await life.advance(60_000);
    await say(life, "question 3", "reply 3");

    const report = await past(life, listTurns(life)[1] ?? id("trn", 0));

    expect(report).toMatchObject({ model: "test-model", policy: "oneclaw", epoch: 0, seq: before.seq + 1, sent_at: 2_000, call: 1 });
    expect(report.parts.map(({ part, position }) => [part, position])).toEqual([
      ["system", null],
      ["tools", null],
      ["message", 1],
      ["message", 2],
      ["message", 3],
    ]);
    expect(report).toMatchObject({ context_window: 200_000, total: { tokens: expect.any(Number) } });
  });

  test("hides what was redacted since, and what was summarised of it, and says that it cannot match therefore", async () => {
    const life = await newWatched();
    await say(life, "my secret", "reply 1");
    for (let n = 2; n < 5; n++) await say(life, text(`question ${n}`, 30), text(`reply ${n}`, 30));
    await compact(life, 50);
    await say(life, "question 5", "reply 5");
    await life.service.redact(CALLER, itemAt(life, 1));

    const first = await past(life, listTurns(life)[0] ?? UNKNOWN_TURN);
    const fifth = await past(life, lastTurn(life));

    expect(first.request.body).not.toContain("my secret");
    expect(first.request.body).toContain("[redacted]");
    expect([first, fifth].map(({ digest }) => [digest.matches, digest.reason])).toEqual(Array(2).fill([false, "redacted"]));
  });

  test("is refused for a turn that is unknown, has called no model, or has no such call", async () => {
    const life = await newWatched();
    const ask = (turn = lastTurn(life), call: number | null = null) => life.service.contextAt(CALLER, { turn, call });
    expect(await ask(id("trn", 999))).toMatchObject({ error: { code: "turn_not_found" } });

    await life.send("hello?");
    expect(await ask()).toMatchObject({ error: { code: "request_not_found", calls: 0 } });
    await life.answer("hello!");

    expect(await ask()).toMatchObject({ ok: true });
    expect(await ask(lastTurn(life), 2)).toMatchObject({ error: { code: "request_not_found", call: 2, calls: 1 } });
  });

  test("has nothing to compare with where the digest was not known when the call ended", async () => {
    const life = await newWatched();
    life.toBody = null;
    life.digest = async () => Promise.reject(new Error("no"));
    await say(life, "hello?", "hello!");
    watched(life);

    expect((await past(life, lastTurn(life))).digest).toMatchObject({ recorded: null, matches: null, reason: null });
  });
});
