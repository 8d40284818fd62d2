/** A turn without room: it waits for a summary, makes one itself, or continues without one. */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { CompactInput } from "../../src/app/control-api";
import type { ModelStreamPart } from "../../src/app/ports";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { countingIds } from "../support/builders";
import { huge, long, nearlyFull, talk } from "./filled";
import { CALLER, failure, Life, settle } from "./life";
import { ask, SUMMARY as BY_PARTS, work } from "./talk";

const SUMMARY = "They exchanged words.";

/** All its chunks. */
async function summarise(life: Life): Promise<void> {
  while (life.call.request.purpose === "compaction") await life.summarize(SUMMARY);
}

const isSummarised = (life: Life): void =>
  expect(life.runtime.state.view).toMatchObject({ epoch: 1, overlays: [{ kind: "summary" }], items: expect.anything() });

describe("a turn that has no room for its next call", () => {
  test("summarises first, and then answers the question that it was asked", async () => {
    const life = await nearlyFull();

    await life.send(huge("question-6"));
    expect(life.asked).toBe("tttttc");
    await life.summarize(SUMMARY);

    expect(life.call.request).toMatchObject({ purpose: "turn", system: expect.stringContaining(SUMMARY) });
    expect(life.call.messages.at(-1)).toBe(`user: ${huge("question-6")}`);
    const frames = life.runtime.buffer.read(0, 1_000).map(({ json }) => JSON.parse(json));
    expect(frames.filter(({ type }) => type === "compaction.completed")).toMatchObject([
      { did_compact: true, messages_before: 11, messages_after: life.runtime.state.view.items.length + 1 },
    ]);
    await life.answer("reply-7", 2_500);
    expect(life.runtime.state.last_turn?.status).toBe("completed");
    expect(life.events().filter((event) => event.type === "EpochChanged")).toMatchObject([{ trigger: "inline" }]);
  });

  test("between two tool rounds keeps the question verbatim, and the same turn goes on", async () => {
    const life = new Life();
    await life.open();
    await life.send("What is the sum of all of them?");
    let rounds = 0;
    while (life.call.request.purpose === "turn") await life.useTool(`c${++rounds}`, long(`result-${rounds}`), 1_050 * rounds - 1_000);

    await life.summarize(SUMMARY);

    expect(life.call.request.purpose).toBe("turn");
    expect(life.call.messages[0]).toBe("user: What is the sum of all of them?");
    expect(life.call.messages.at(-1)).toBe(`tool: ${long(`result-${rounds}`)}`);
    expect(life.call.messages.join()).not.toContain("result-1 ");
    await life.answer("42", 2_000);
    expect(life.events().filter((event) => event.type === "TurnStarted")).toHaveLength(1);
    expect(life.runtime.state.last_turn?.status).toBe("completed");
  });

  test("compacts before the next turn what the provider counted as more than the window", async () => {
    const life = new Life();
    await life.open("opal");
    await talk(life, 2);
    await life.send("and?");
    await life.answer("cut in silence", 9_000);

    await life.send("next");

    expect(life.call.request.purpose).toBe("compaction");
  });

  test("ignores counts from before the view changed", async () => {
    const life = await nearlyFull();
    await life.send(huge("question-6"));
    await life.summarize(SUMMARY);
    await life.answer("reply-7", 2_500);

    await life.send("and?");

    expect(life.asked).toBe("tttttctt");
  });
});

test("a result that is too large even for the kept messages is shown by its ends, in the same change as the summary", async () => {
  const life = await nearlyFull();
  await life.send("look it up");
  await life.useTool("call_1", "row of the table, ".repeat(2_000), 5_500);
  await life.summarize(SUMMARY);

  const changes = life.events().filter((event) => event.type === "EpochChanged");
  expect(changes).toMatchObject([{ trigger: "inline", ops: [{ op: "summarize" }, { op: "shorten", items: [{}] }] }]);
  expect(life.call.request.purpose).toBe("turn");
  expect(JSON.stringify(life.call.request.messages.at(-1))).toContain("characters left out of this view");
});

describe("a turn whose old results alone would make room", () => {
  /** Rounds until the next call would not fit. Half of the request is results outside the tail. */
  async function looking(policy: PolicyChoice): Promise<{ readonly life: Life; readonly rounds: number }> {
    const life = new Life();
    await life.open(policy);
    await life.send("What is the sum of all of them?");
    let rounds = 0;
    while (life.runtime.state.view.epoch === 0 && rounds < 9)
      await life.useTool(`c${++rounds}`, long(`result-${rounds}`), 1_050 * rounds - 1_000);
    return { life, rounds };
  }

  test.each<[string, PolicyChoice]>([
    ["summarises", { preset: "balanced", trigger: { rent_factor: null } }],
    ["never summarises", { preset: "odincode", results: { clear: "at_epoch", keep_full: 3 } }],
  ])("has them cleared, and neither asks a model nor drops anything, under a policy that %s", async (_, policy) => {
    const { life, rounds } = await looking(policy);

    expect(life.asked).toBe("t".repeat(rounds + 1));
    expect(life.events().filter((event) => event.type === "EpochChanged")).toMatchObject([
      { trigger: "inline", ops: [{ op: "clear_results" }] },
    ]);
    expect(life.call.messages.at(-1)).toBe(`tool: ${long(`result-${rounds}`)}`);
    expect(life.call.messages.join()).not.toContain("result-1 ");
  });
});

describe("a background worker that is at it", () => {
  /** Its lease is valid, and a turn has no room. */
  async function racing() {
    const life = await nearlyFull();
    await life.send("short");
    await life.answer("short too", 7_000);
    const compaction = life.runtime.state.compaction.requested?.id;
    if (!compaction) throw new Error("no compaction was asked for");
    const leased = await life.service.leaseCompaction(CALLER, compaction);
    if (!leased.ok || leased.value.kind !== "leased") throw new Error("not leased");
    const { token } = leased.value;
    const report = (text: string) => {
      const outcome = { ok: true, text, finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
      return life.service.recordCompaction(CALLER, { compaction, token, outcome, part: 0, next: null });
    };
    return { life, report };
  }

  test("is waited for, and what it brings is used at once", async () => {
    const { life, report } = await racing();
    await life.send(huge("question-7"));
    expect(life.asked).toBe("tttttt");

    await report(SUMMARY);
    await settle();

    isSummarised(life);
    expect(life.asked).toBe("ttttttt");
    expect(life.call.request.system).toContain(SUMMARY);
  });

  test("and brought what is not enough is followed by the turn's own summary, and nothing is dropped", async () => {
    const { life, report } = await racing();
    const role = (n: number) => (n % 2 === 0 ? "user" : "assistant");
    const messages = Array.from({ length: 8 }, (_, n) => ({ role: role(n), parts: [{ type: "text", text: long(`later-${n}`) }] }) as const);
    await life.service.importMessages(CALLER, { messages, idempotency: null });
    await life.send(huge("question-7"));

    await report(SUMMARY);
    await settle();
    expect(life.asked).toBe("ttttttc");
    await summarise(life);

    expect(life.call.request.purpose).toBe("turn");
    const ops = life.events().flatMap((event) => (event.type === "EpochChanged" ? event.ops.map(({ op }) => op) : []));
    expect(ops).toEqual(["summarize", "summarize"]);
  });

  test("is waited for five seconds; then the turn does it itself, and what comes late decides to nothing", async () => {
    const { life, report } = await racing();
    await life.send(huge("question-7"));
    await life.advance(4_999);
    expect(life.asked).toBe("tttttt");

    await life.advance(1);
    expect(life.asked).toBe("ttttttc");
    await report("LATE");
    await summarise(life);

    isSummarised(life);
    expect(life.call.request.system).toContain(SUMMARY);
    await life.answer("reply-7", 2_500);
    expect(life.runtime.content.readSummaries()).toEqual([SUMMARY]);
    expect(life.runtime.state.view.epoch).toBe(1);
  });

  test("and brought it while the turn waited for its tools is not asked again, however old its lease is", async () => {
    const { life, report } = await racing();
    await life.send("look it up");
    const call = { type: "tool_call", call_id: "c1", name: "look", arguments: "{}" } as const;
    await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    await report(SUMMARY);
    await life.advance(600_000);

    const results = [{ execution_id: null, call_id: "c1", output: long("result"), is_error: false }];
    await life.service.toolResults(CALLER, { results, idempotency: null });
    await settle();

    isSummarised(life);
    expect(life.asked).toBe("tttttttt");
  });
});

describe("old results that would make room, and a background worker that is at it", () => {
  async function racing() {
    const life = new Life();
    await life.open({ preset: "balanced", trigger: { rent_factor: null } });
    await life.send("What is the sum of all of them?");
    for (let n = 1; n <= 5; n++) await life.useTool(`c${n}`, long(`result-${n}`), 1_050 * n - 1_000);
    await ask(life, {});
    const id = life.runtime.state.compaction.requested?.id;
    if (!id) throw new Error("no compaction was asked for");
    const leased = await life.service.leaseCompaction(CALLER, id);
    if (!leased.ok || leased.value.kind !== "leased") throw new Error("not leased");
    const outcome = { ok: true, text: BY_PARTS, finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    const report = { compaction: id, token: leased.value.token, outcome, part: 0, next: null };
    for (let n = 6; n <= 7; n++) await life.useTool(`c${n}`, long(`result-${n}`), 1_050 * n - 1_000);
    return { life, report };
  }

  test("wait for it, and what it brings is used in their place", async () => {
    const { life, report } = await racing();
    const { asked } = life;
    await life.service.recordCompaction(CALLER, report);
    await settle();

    expect(life.events().flatMap((event) => (event.type === "EpochChanged" ? event.ops.map(({ op }) => op) : []))).toEqual(["summarize"]);
    expect(life.asked).toBe(`${asked}t`);
  });

  test("are cleared after five seconds; what comes late decides to nothing", async () => {
    const { life, report } = await racing();
    await life.advance(5_000);
    await life.service.recordCompaction(CALLER, report);
    await settle();

    expect(life.events().flatMap((event) => (event.type === "EpochChanged" ? event.ops.map(({ op }) => op) : []))).toEqual([
      "clear_results",
    ]);
    expect(life.call.request.purpose).toBe("turn");
  });
});

describe("a compaction that was asked for by hand, and waits while a turn runs out of room", () => {
  /** Requested between two rounds of a turn, the second of which does not fit. */
  async function asking(input: Partial<CompactInput>, policy: PolicyChoice = "oneclaw") {
    const life = await nearlyFull(policy);
    await life.send("look it up");
    await ask(life, input);
    await life.useTool("c1", huge("result"), 5_300);
    return life;
  }
  const readRow = async (life: Life) => {
    const page = await life.service.compactions(CALLER, { after: null, limit: 9, order: "asc" });
    return page.ok ? page.value.data : [];
  };

  test.each<[string, Partial<CompactInput>]>([
    ["only a little", { upTo: 2 }],
    ["to keep nearly everything", { keepRecent: 4_000 }],
  ])(
    "%s, is made the turn's own: it covers what the turn needs, nothing is dropped, and its row says what it was done for",
    async (_, input) => {
      const life = await asking(input);
      expect(life.call.request.purpose).toBe("compaction");
      await summarise(life);

      expect(life.call.request.purpose).toBe("turn");
      expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1, to: 10 }]);
      const rows = await readRow(life);
      expect(rows).toMatchObject([{ status: "completed", trigger: "inline", range: { from: 1, to: 10 }, failure: null }]);
      expect(rows[0]).toMatchObject({ up_to: input.upTo ?? null, keep_recent: input.keepRecent ?? null });
    },
  );

  test("is still told what to look after", async () => {
    const life = await asking({ upTo: 2, instructions: "Keep the names." });

    expect(JSON.stringify(life.call.request)).toContain("Keep the names.");
  });

  test("goes on as it was asked for when the turn is stopped", async () => {
    const life = await asking({ upTo: 2 });
    await life.service.stop(CALLER, { idempotency: null });
    await settle();
    await work(life, SUMMARY);

    expect(await readRow(life)).toMatchObject([{ status: "completed", trigger: "manual", range: { from: 1, to: 2 } }]);
  });

  test("fails with the turn's attempts, and leaves the note that the policy asks for: the turn needed it", async () => {
    const life = await asking({ upTo: 2 }, { preset: "oneclaw", on_failure: "note" });
    await life.say(failure("unavailable"));
    await life.say(failure("unavailable"));

    expect(life.call.request.system).toMatch(/\[Compacted 10 messages: /);
    expect(await readRow(life)).toMatchObject([{ status: "failed", failure: "unavailable" }]);
  });
});

describe("a stop while the turn makes room", () => {
  test("stops the summariser too; nothing is lost, it counts as no attempt, and its lease is released", async () => {
    const life = await nearlyFull();
    await life.send(huge("question-6"));

    await life.service.stop(CALLER, { idempotency: null });
    await settle();

    expect(life.call.signal.aborted).toBe(true);
    expect(life.runtime.state).toMatchObject({ turn: null, view: { epoch: 0, overlays: [] } });
    expect(life.runtime.state.compaction).toMatchObject({ lease: null, requested: { attempts: 0 }, failures: 0 });
    await life.send("and?");
    expect(life.asked).toBe("tttttcc");
    await summarise(life);
    isSummarised(life);
  });

  test("leaves the work to the queue when no further message arrives", async () => {
    const life = await nearlyFull();
    await life.send(huge("question-6"));

    await life.service.stop(CALLER, { idempotency: null });
    await settle();

    expect(life.runtime.jobs.get("wake_compaction")).not.toBeNull();
  });
});

describe("a crash while the turn makes room", () => {
  test("costs that attempt: the next life does not wait, makes room itself and answers", async () => {
    const ids = countingIds();
    const life = new Life(createNodeSql(), "life-1", ids);
    await life.open();
    await talk(life, 5);
    await life.send(huge("question-6"));
    expect(life.call.request.purpose).toBe("compaction");

    const next = new Life(life.sql, "life-2", ids);
    next.time.advance(life.time.now());
    await next.service.describe(CALLER);
    await settle();
    expect(next.asked).toBe("c");
    expect(next.runtime.state.compaction).toMatchObject({ requested: { attempts: 2 }, lease: { attempt: 2 } });
    await summarise(next);
    await next.answer("reply-6", 2_500);

    expect(next.asked).toMatch(/^c+t$/);
    expect(next.runtime.state.last_turn?.status).toBe("completed");
    isSummarised(next);
  });
});

describe("a summariser that is busy while a turn waits", () => {
  test("is given the time that it asks for before it is asked again, and a stop ends the wait", async () => {
    for (const stopped of [false, true]) {
      const life = await nearlyFull();
      await life.send(huge("question-6"));
      await life.say({ type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 9_000 } });
      expect(life.asked).toBe("tttttc");
      if (stopped) await life.service.stop(CALLER, { idempotency: null });
      await life.advance(9_000);
      expect(life.asked).toBe(stopped ? "tttttc" : "tttttcc");
    }
  });

  test("is not waited for beyond the minute that the turn has for it", async () => {
    const life = await nearlyFull();
    await life.send(huge("question-6"));
    await life.advance(10_000);
    await life.say({ type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 55_000 } });

    expect(life.asked).toBe("tttttcc");
  });
});

describe("a summariser that fails while a turn waits", () => {
  const finish = (reason: "stop" | "length"): ModelStreamPart => ({ type: "finish", finish: reason, usage: null });
  const said = (text: string): ModelStreamPart => ({ type: "text", text });

  test.each<[string, (life: Life) => Promise<void>]>([
    ["with an error", (life) => life.say(failure("unavailable"))],
    ["with nothing", (life) => life.say(finish("stop"))],
    ["cut by length", (life) => life.say(said(SUMMARY), finish("length"))],
    ["by hanging", (life) => life.advance(15_000)],
    ["with more than it was given", (life) => life.say(said(huge("LONG").repeat(4)), finish("stop"))],
  ])("%s is asked once more; then the guard drops what must go, the user is told, and the turn is answered", async (_, fail) => {
    const life = await nearlyFull();
    await life.send(huge("question-6"));

    await fail(life);
    expect(life.asked).toBe("tttttcc");
    await fail(life);

    expect(life.asked).toBe("tttttcct");
    await life.answer("reply-7", 5_000);
    expect(life.runtime.state).toMatchObject({ last_turn: { status: "completed" }, view: { overlays: [{ kind: "dropped" }] } });
    const frames = life.runtime.buffer.read(0, 1_000).map(({ json }) => JSON.parse(json));
    expect(frames).toContainEqual(expect.objectContaining({ type: "notice", code: "history_trimmed" }));
    const { last_turn } = life.runtime.state;
    expect(last_turn && (await life.service.turn(CALLER, last_turn.id))).toMatchObject({
      value: { notices: [{ code: "history_trimmed" }] },
    });
  });

  test("leaves a note with counts where the policy asks for one, and the user is told that the conversation was trimmed", async () => {
    const life = await nearlyFull({ preset: "oneclaw", on_failure: "note" });
    await life.send(huge("question-6"));

    await life.say(failure("unavailable"));
    await life.say(failure("unavailable"));

    expect(life.call.request.system).toMatch(/\[Compacted \d+ messages: /);
    expect(life.call.messages.at(-1)).toBe(`user: ${huge("question-6")}`);
    const frames = life.runtime.buffer.read(0, 1_000).map(({ json }) => JSON.parse(json));
    const told = frames.filter(({ type }) => type === "notice" || type === "compaction.completed");
    expect(told).toMatchObject([
      { type: "compaction.completed", did_compact: false, failure: "unavailable" },
      { type: "notice", code: "history_trimmed" },
    ]);
    expect(told[0]).toMatchObject({ messages_before: 11, messages_after: 2 });
    const listed = await life.service.compactions(CALLER, { after: null, limit: 10, order: "asc" });
    expect(listed).toMatchObject({ value: { data: [{ status: "failed", did_compact: false, failure: "unavailable", epoch: 1 }] } });
    await life.answer("reply-7", 5_000);
    const { last_turn } = life.runtime.state;
    expect(last_turn && (await life.service.turn(CALLER, last_turn.id))).toMatchObject({
      value: { notices: [{ code: "history_trimmed" }] },
    });
  });

  test("is given up after a minute, whatever its policy allows", async () => {
    const life = await nearlyFull({ preset: "oneclaw", summary: { attempts: 5, timeout_ms: 40_000 } });
    await life.send(huge("question-6"));

    await life.advance(40_000);
    await life.advance(20_000);

    expect(life.asked).toBe("tttttcct");
    expect(life.runtime.state.compaction).toMatchObject({ requested: null, lease: null });
  });
});
