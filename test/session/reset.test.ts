/** A reset of the summaries: the messages that fit return to the view, and the others wait for the next summary. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildRequest } from "../../src/app/request/build-request";
import { Sizing } from "../../src/context/sizing";
import { EARLIER } from "../../src/context/view";
import { readItems } from "../../src/session/log/log-tables";
import { drawn } from "../support/effort";
import { CALLER, type Life } from "./life";
import { change, hear, policies, steps, talked } from "./script";
import { ask, buildRequestText, compact, cutOff, newest, newLife, ROOMY, retry, revert, SUMMARY, say, useTools } from "./talk";

const readItemsAt = (life: Life, positions: readonly number[]) =>
  positions.flatMap((position) => readItems(life.sql, { from: position, to: position, limit: 1, order: "asc" }));

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
        const left = readItemsAt(life, uncovered);
        expect(left.map(({ incomplete }) => incomplete)).toEqual(uncovered.map(() => true));
      }),
      { numRuns: drawn(100), seed: 11 },
    );
  });

  test("forgets the summary and brings everything back where it fits", async () => {
    const life = await talked(6);
    const before = buildRequestText(life);
    await compact(life, 50);
    await compact(life, 20);

    const reset = await life.service.resetSummary(CALLER);

    expect(reset).toMatchObject({ ok: true, value: { trigger: "manual", ops: [{ op: "reset" }], did_compact: false } });
    expect(buildRequestText(life)).toBe(before);
    expect(await life.service.describe(CALLER)).toMatchObject({ value: { compacted_summary: null } });
  });

  test("brings the newest groups back as far as the guard's target, and trims the rest for the next summary", async () => {
    const life = await talked(10, 100);
    await compact(life, 50);
    life.models = { resolve: async () => ({ ...ROOMY, context_window: 2_000, max_output: 100 }) };

    await life.service.resetSummary(CALLER);

    const { view } = life.runtime.state;
    const [rest] = view.overlays;
    const target = (1_900 * 0.75) / new Sizing(life.runtime.state, ROOMY).padded;
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

  test("that brings back a turn from its middle on is sent behind a message of the user", async () => {
    const life = await newLife({ policy: JSON.stringify({ preset: "oneclaw" }) });
    await useTools(life, `look it up ${"x ".repeat(3_000)}`, ["found it"]);
    await say(life, "thanks", "welcome");
    await compact(life, 1);
    life.models = { resolve: async () => ({ ...ROOMY, context_window: 2_000, max_output: 100 }) };

    await life.service.resetSummary(CALLER);

    expect(life.runtime.state.view.items[0]?.kind).toBe("tool_call");
    const { messages } = buildRequest(life.runtime.content, ROOMY);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user", "assistant"]);
    expect(messages[0]).toEqual({ role: "user", parts: [{ type: "text", text: EARLIER }] });
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
    expect(buildRequestText(life)).toContain(SUMMARY.slice(0, 9));

    await life.service.resetSummary(CALLER);

    expect(buildRequestText(life)).not.toContain("there was a dra");
    expect(buildRequestText(life)).toContain("Then it ended.");
  });
});
