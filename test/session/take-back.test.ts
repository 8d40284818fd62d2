/** Reverting a compaction: the view is as if it had never happened, and later messages are still there. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_REVERTS } from "../../src/domain/state";
import { drawn } from "../support/effort";
import { huge, talk } from "./filled";
import { CALLER, Life, settle } from "./life";
import { change, hear, policies, steps, talked } from "./script";
import { ask, buildRequestText, compact, cutOff, newest, newLife, ROOMY, retry, revert, toView, trim, work } from "./talk";

describe("a nearly full window", () => {
  test.each(["oneclaw", "balanced", "verbatim"])(
    "has room for what a compaction under %s is taken back from: it was counted",
    async (policy) => {
      const life = new Life();
      await life.open(policy);
      await talk(life, 6);
      await life.send("and then?");
      await life.answer("Then it ended.", 7_000);
      const before = buildRequestText(life);
      expect(life.runtime.state.compaction.requested).toMatchObject({ trigger: "threshold" });
      await work(life);
      expect(buildRequestText(life)).not.toBe(before);

      expect(await revert(life)).toMatchObject({ ok: true });
      await life.send("and now?");

      expect(buildRequestText(life)).toContain("question-1 ");
      expect(life.asked).toBe("t".repeat(8));
      expect(life.call.messages).toHaveLength(15);
    },
  );

  test.each([
    ["a pin", (life: Life) => life.service.setPins(CALLER, ["The dog is called Rex."])],
    ["another system prompt", (life: Life) => life.service.patch(CALLER, { system: "Be brief." })],
    ["another policy", (life: Life) => life.service.patch(CALLER, { policy: "verbatim" })],
  ])("is not compacted for %s: the part behind it was counted", async (_what, change) => {
    const life = new Life();
    await life.open("oneclaw");
    await talk(life, 6);

    await change(life);
    await settle();
    await life.send("and now?");

    expect(life.asked).toBe("t".repeat(7));
    expect(life.call.messages).toHaveLength(13);
  });

  test("is compacted for a pin that does not fit beside it", async () => {
    const life = new Life();
    await life.open("oneclaw");
    await talk(life, 6);

    await life.service.setPins(CALLER, [huge("The dog is called Rex.")]);
    await life.send("and now?");

    expect(life.asked.at(-1)).toBe("c");
  });
});

const RUNS = drawn(100);

describe("a conversation whose compactions were all reverted", () => {
  test.each(policies)("sends the request that it would send had there been none: %s", async (policy) => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const [compacted, plain] = [await newLife({ policy }), await newLife({ policy })];
        for (const [n, step] of script.entries()) {
          await hear(plain, step, n);
          await hear(compacted, step, n);
          await change(compacted, step);
        }
        while (newest(compacted)) {
          expect(await revert(compacted)).toMatchObject({ ok: true, value: { compaction: { status: "reverted" } } });
          taken += 1;
        }
        expect(toView(compacted)).toEqual(toView(plain));
        expect(buildRequestText(compacted)).toBe(buildRequestText(plain));
      }),
      { numRuns: RUNS, seed: 7 },
    );
    expect(taken).toBeGreaterThan(RUNS / 2);
  });
});

describe("a revert", () => {
  test("is of the newest only, and says which that is", async () => {
    const life = await talked(6);
    await compact(life, 300);
    const first = newest(life);
    await compact(life, 50);

    expect(await revert(life, first)).toEqual({ ok: false, error: { code: "not_newest", newest: newest(life) } });
  });

  test("is done once: what was reverted does not stand any more", async () => {
    const life = await talked(6);
    await compact(life, 300);
    const only = newest(life);
    await revert(life);

    expect(await revert(life, only)).toEqual({ ok: false, error: { code: "not_newest", newest: null } });
  });

  test("sent again with its key is the first one", async () => {
    const life = await talked(6);
    await compact(life, 300);
    const compaction = newest(life);
    if (!compaction) throw new Error("nothing stands");
    const send = () => life.service.revertCompaction(CALLER, { compaction, idempotency: { key: "k", digest: "d" } });

    const first = await send();
    const second = await send();

    expect(first).toMatchObject({ ok: true, value: { replayed: false, compaction: { status: "reverted" } } });
    expect(second).toMatchObject({ ok: true, value: { replayed: true, compaction: { status: "reverted" } } });
  });

  test("can be followed by another, as far back as compactions are kept, and no further", async () => {
    const life = await talked(40, 5);
    const before = buildRequestText(life);
    for (let upTo = 2; upTo <= 78; upTo += 2) {
      await ask(life, { keepRecent: 1, upTo });
      await work(life, `Summary up to ${upTo}.`);
    }
    const stood = life.runtime.state.compaction.committed.length;
    while (newest(life)) expect(await revert(life)).toMatchObject({ ok: true });

    expect(stood).toBe(MAX_REVERTS);
    expect(buildRequestText(life)).not.toBe(before);
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1 }]);
  });

  test("waits for no turn: while one runs it is refused", async () => {
    const life = await talked(6);
    await compact(life, 300);
    await life.send("still there?");

    expect(await revert(life)).toMatchObject({ ok: false, error: { code: "turn_running" } });
  });

  test("is refused with both figures when what comes back would not fit the model", async () => {
    const life = await talked(6, 400);
    await compact(life, 50);
    life.models = { resolve: async () => ({ ...ROOMY, id: "not-asked-yet", context_window: 2_000, max_output: 100 }) };
    const before = buildRequestText(life);

    const refused = await revert(life);

    expect(refused).toMatchObject({ ok: false, error: { code: "would_not_fit", limit: 1_900 } });
    expect(!refused.ok && refused.error.code === "would_not_fit" && refused.error.tokens).toBeGreaterThan(1_900);
    expect(buildRequestText(life)).toBe(before);
  });

  test("does not bring back what a retry took back meanwhile", async () => {
    const life = await talked(4);
    await cutOff(life, "and then?", "Then there was a dra");
    await compact(life, 100);
    await retry(life, "Then it ended.");
    await revert(life);

    expect(buildRequestText(life)).not.toContain("there was a dra");
    expect(buildRequestText(life)).toContain("Then it ended.");
  });

  test("suspends the soft trigger until the view has grown by a fifth", async () => {
    const life = await talked(6);
    await compact(life, 50);
    await revert(life);

    const { compaction, view } = life.runtime.state;
    expect(compaction.quiet_until).toBe(Math.ceil(view.tokens * 1.2));
  });

  test("is told by the log where no view is kept", async () => {
    const life = await talked(6);
    const before = buildRequestText(life);
    await compact(life, 50);
    life.sql.all("DELETE FROM views_before");

    expect(await revert(life)).toMatchObject({ ok: true });
    expect(buildRequestText(life)).toBe(before);
  });

  test("of more messages than one change can carry is refused", async () => {
    const life = await newLife({ spec: { ...ROOMY, context_window: 10_000_000 } });
    const call_id = "c".repeat(20_000);
    for (let n = 0; n < 60; n++) {
      await life.send("look");
      life.calls.at(-1)?.say({ type: "tool_call", call: { type: "tool_call", call_id, name: "look_up", arguments: "{}" } });
      life.calls.at(-1)?.say({ type: "finish", finish: "tool_calls", usage: null });
      await new Promise((resolve) => setImmediate(resolve));
      await life.service.toolResults(CALLER, {
        results: [{ execution_id: null, call_id, output: "x", is_error: false }],
        idempotency: null,
      });
      await new Promise((resolve) => setImmediate(resolve));
      await life.answer("ok");
    }
    trim(life);

    expect(await revert(life)).toMatchObject({ ok: false, error: { code: "too_many_items", items: 240 } });
  });
});
