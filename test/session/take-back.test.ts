/** Taking back what a compaction did: the view is as if it had never been, and what came since is still there. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaleOf } from "../../src/context/budget";
import { readItems } from "../../src/session/log/log-tables";
import { CALLER, type Life } from "./life";
import {
  append,
  ask,
  compact,
  cutOff,
  newest,
  newLife,
  ROOMY,
  requestOf,
  retry,
  revert,
  SUMMARY,
  say,
  trim,
  useTools,
  viewOf,
} from "./talk";

const text = (mark: string, words: number): string => `${mark} ${"lorem ipsum ".repeat(words)}`;
const image = { type: "image", url: "https://example.org/a.png", media_type: "image/png" } as const;

type Step = { readonly kind: "say" | "tools" | "cut_off" | "retry" | "append" | "compact" | "trim" | "revert"; readonly size: number };

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom("say", "say", "tools", "cut_off", "retry", "append", "compact", "compact", "trim", "revert"),
    size: fc.integer({ min: 1, max: 120 }),
  }),
  { minLength: 3, maxLength: 18 },
);

/** What both conversations hear. */
async function hear(life: Life, { kind, size }: Step, n: number): Promise<void> {
  if (kind === "say") await say(life, text(`question ${n}`, size), text(`reply ${n}`, size));
  if (kind === "tools") await useTools(life, `look ${n}`, [text("found", size), text("other", 2)]);
  if (kind === "cut_off") await cutOff(life, `tell ${n}`, text("I think", size));
  if (kind === "retry") await retry(life, `again ${n}`);
  if (kind === "append")
    await append(life, n % 2 === 0 ? "user" : "system", [{ type: "text", text: text(`note ${n}`, size) }, ...(n % 3 ? [] : [image])]);
}

/** What only one of them lives through. */
async function change(life: Life, { kind, size }: Step): Promise<void> {
  if (kind === "compact") await compact(life, size);
  if (kind === "trim") trim(life);
  if (kind === "revert" && newest(life)) expect(await revert(life)).toMatchObject({ ok: true });
}

const policies = [
  "oneclaw",
  '{"preset":"oneclaw","keep":{"system_messages":true},"results":{"preview_beyond":0,"preview_chars":40}}',
  '{"preset":"balanced","trigger":{"rent_factor":null},"results":{"preview_beyond":1,"preview_chars":40}}',
];

describe("a conversation whose compactions were all taken back", () => {
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
        expect(viewOf(compacted)).toEqual(viewOf(plain));
        expect(requestOf(compacted)).toBe(requestOf(plain));
      }),
      { numRuns: 100, seed: 7 },
    );
    expect(taken).toBeGreaterThan(50);
  });
});

const readItemsAt = (life: Life, positions: readonly number[]) =>
  positions.flatMap((position) => readItems(life.sql, { from: position, to: position, limit: 1, order: "asc" }));

async function talked(turns: number, words = 60): Promise<Life> {
  const life = await newLife({ system: "Be brief." });
  for (let turn = 1; turn <= turns; turn++) await say(life, text(`question ${turn}`, words), text(`reply ${turn}`, words));
  return life;
}

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

  test("waits for no turn: while one runs it is refused", async () => {
    const life = await talked(6);
    await compact(life, 300);
    await life.send("still there?");

    expect(await revert(life)).toMatchObject({ ok: false, error: { code: "turn_running" } });
  });

  test("is refused with both figures when what comes back would not fit the model", async () => {
    const life = await talked(6, 400);
    await compact(life, 50);
    life.models = { resolve: async () => ({ ...ROOMY, context_window: 2_000, max_output: 100 }) };
    const before = requestOf(life);

    const refused = await revert(life);

    expect(refused).toMatchObject({ ok: false, error: { code: "would_not_fit", limit: 1_900 } });
    expect(!refused.ok && refused.error.code === "would_not_fit" && refused.error.tokens).toBeGreaterThan(1_900);
    expect(requestOf(life)).toBe(before);
  });

  test("does not bring back what a retry took back meanwhile", async () => {
    const life = await talked(4);
    await cutOff(life, "and then?", "Then there was a dra");
    await compact(life, 100);
    await retry(life, "Then it ended.");
    await revert(life);

    expect(requestOf(life)).not.toContain("there was a dra");
    expect(requestOf(life)).toContain("Then it ended.");
  });

  test("suspends the soft trigger until the view has grown by a fifth", async () => {
    const life = await talked(6);
    await compact(life, 50);
    await revert(life);

    const { compaction, view } = life.runtime.state;
    expect(compaction.quiet_until).toBe(Math.ceil(view.tokens * 1.2));
  });

  test("is told by the log where an older build kept no view", async () => {
    const life = await talked(6);
    const before = requestOf(life);
    await compact(life, 50);
    life.sql.all("DELETE FROM views_before");

    expect(await revert(life)).toMatchObject({ ok: true });
    expect(requestOf(life)).toBe(before);
  });

  test("of more messages than one change can carry is refused", async () => {
    const life = await newLife();
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

describe("a reset", () => {
  test("leaves every position shown, or stood in for by one overlay, or taken back by a retry", async () => {
    const [, policy = ""] = policies;
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(1_500, 3_000, 200_000), async (script, context_window) => {
        const life = await newLife({ policy });
        for (const [n, step] of script.entries()) {
          await hear(life, step, n);
          await change(life, step);
        }
        life.models = { resolve: async () => ({ ...ROOMY, context_window }) };
        const before = life.runtime.state.view;
        const reset = await life.service.resetSummary(CALLER);
        const { view, next_position } = life.runtime.state;
        expect(reset.ok).toBe(true);
        if (!reset.ok || reset.value === null) return;
        expect(view.overlays.length).toBeLessThanOrEqual(1);
        const shown = new Set(view.items.map(({ position }) => position));
        for (const { position } of before.items) expect(shown.has(position)).toBe(true);
        const hidden = Array.from({ length: next_position - 1 }, (_, index) => index + 1).filter((position) => !shown.has(position));
        const uncovered = hidden.filter((position) => !view.overlays.some(({ from, to }) => position >= from && position <= to));
        const kinds = life.runtime.content.display(readItemsAt(life, uncovered));
        expect(kinds.map(({ incomplete }) => incomplete)).toEqual(uncovered.map(() => true));
      }),
      { numRuns: 100, seed: 11 },
    );
  });

  test("forgets the summary and brings everything back where it fits", async () => {
    const life = await talked(6);
    const before = requestOf(life);
    await compact(life, 50);
    await compact(life, 20);

    const reset = await life.service.resetSummary(CALLER);

    expect(reset).toMatchObject({ ok: true, value: { trigger: "manual", ops: [{ op: "reset" }], did_compact: false } });
    expect(requestOf(life)).toBe(before);
    expect(await life.service.describe(CALLER)).toMatchObject({ value: { compacted_summary: null } });
  });

  test("brings the newest groups back as far as the guard's target, and trims the rest for the next summary", async () => {
    const life = await talked(10, 100);
    await compact(life, 50);
    life.models = { resolve: async () => ({ ...ROOMY, context_window: 2_000, max_output: 100 }) };

    await life.service.resetSummary(CALLER);

    const { view } = life.runtime.state;
    const [rest] = view.overlays;
    const target = (1_900 * 0.75) / scaleOf(life.runtime.state, ROOMY.id);
    expect(view.overlays).toMatchObject([{ kind: "dropped", from: 1 }]);
    expect(view.items.map(({ position }) => position)).toEqual(
      Array.from({ length: 20 - (rest?.to ?? 0) }, (_, index) => (rest?.to ?? 0) + 1 + index),
    );
    expect(rest?.items).toBe(rest?.to);
    expect(view.tokens).toBeLessThanOrEqual(target);
    expect(view.tokens).toBeGreaterThan(target * 0.7);
    const planned = await ask(life, { keepRecent: 10, dryRun: true });
    expect(planned).toMatchObject({ plan: { rungs: [{ rung: "summarize", source: { from: 1 } }] } });
  });

  test("leaves nothing to revert: what stood before it is gone", async () => {
    const life = await talked(6);
    await compact(life, 50);
    const before = newest(life);
    await life.service.resetSummary(CALLER);

    expect(await revert(life, before)).toEqual({ ok: false, error: { code: "not_newest", newest: null } });
  });

  test("without a summary changes nothing", async () => {
    const life = await talked(3);
    const { seq } = life.runtime.state;

    expect(await life.service.resetSummary(CALLER)).toEqual({ ok: true, value: null });
    expect(life.runtime.state.seq).toBe(seq);
  });

  test("is refused while a turn runs", async () => {
    const life = await talked(6);
    await compact(life, 50);
    await life.send("still there?");

    expect(await life.service.resetSummary(CALLER)).toMatchObject({ ok: false, error: { code: "turn_running" } });
  });

  test("does not bring back what a retry took back", async () => {
    const life = await talked(4);
    await cutOff(life, "and then?", "Then there was a dra");
    await retry(life, "Then it ended.");
    await say(life, "thanks", "welcome");
    await compact(life, 10);
    expect(requestOf(life)).toContain(SUMMARY.slice(0, 9));

    await life.service.resetSummary(CALLER);

    expect(requestOf(life)).not.toContain("there was a dra");
    expect(requestOf(life)).toContain("Then it ended.");
  });
});
