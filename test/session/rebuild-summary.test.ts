/** The rebuild of the current summaries from the record, with another model or other rules. */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import type { SummaryOutcome } from "../../src/app/session-api";
import { CALLER, type Life } from "./life";
import { append, ask, BY_HAND, buildRequestText, compact, newLife, ROOMY, revert, SUMMARY, say, work } from "./talk";

const text = (mark: string, words = 60): string => `${mark} ${"lorem ipsum ".repeat(words)}`;
const OTHER: ModelSpec = { ...ROOMY, id: "other-model", upstream_id: "other-model" };
const TINY: ModelSpec = { ...ROOMY, id: "tiny-model", context_window: 600, max_output: 100 };

/** Twelve messages, the oldest of which are summarised; two summaries if `twice`. */
async function summarized(policy = "oneclaw", twice = false): Promise<Life> {
  const life = await newLife({ policy });
  const known = [ROOMY, OTHER, TINY];
  life.models = { resolve: async (id) => known.find((spec) => spec.id === id) ?? null };
  for (let turn = 1; turn <= 6; turn++) await say(life, text(`question ${turn}`), text(`reply ${turn}`));
  await compact(life, 600);
  if (twice) await compact(life, 300);
  return life;
}

/** The worker's request, and the effect of its answer. */
async function lease(life: Life) {
  const id = life.runtime.state.compaction.requested?.id;
  if (!id) throw new Error("nothing was asked for");
  const leased = await life.service.leaseCompaction(CALLER, id);
  if (!leased.ok || leased.value.kind !== "leased") throw new Error(JSON.stringify(leased));
  const { token, part } = leased.value;
  const answer = (said: Partial<SummaryOutcome> & { text: string }) => {
    const outcome = { ok: true, finish: "stop", model: part.request.model.id, estimate: 1, usage: null, ms: 1, ...said } as SummaryOutcome;
    return life.service.recordCompaction(CALLER, { compaction: id, token, outcome, part: 0, next: null });
  };
  return { id, request: part.request, answer };
}

async function shown(life: Life, id: Parameters<Life["service"]["compaction"]>[1]) {
  const read = await life.service.compaction(CALLER, id);
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

describe("a rebuild", () => {
  test("reads the messages themselves, not the summary that it replaces", async () => {
    const life = await summarized();
    await ask(life, { rebuild: true });

    const { request } = await lease(life);

    const asked = JSON.stringify(request.messages);
    expect(asked).toContain("question 1");
    expect(asked).not.toContain("## Part 0");
  });

  test("takes the place of the whole chain and of nothing else: what is shown stays shown", async () => {
    const life = await summarized('{"preset":"oneclaw","summary":{"chain_ratio":0.2}}', true);
    const before = life.runtime.state.view;
    expect(before.overlays).toHaveLength(2);
    await ask(life, { rebuild: true });
    await work(life, "Anew.");

    const { view } = life.runtime.state;
    expect(view.overlays).toMatchObject([{ kind: "summary", from: before.overlays[0]?.from, to: before.overlays[1]?.to, generation: 0 }]);
    expect(view.items).toEqual(before.items);
    expect(buildRequestText(life)).toContain("Anew.");
  });

  test("leaves what a summary had left standing inside its range where it stands", async () => {
    const life = await newLife({ policy: '{"preset":"oneclaw","keep":{"system_messages":true}}' });
    await append(life, "system", [{ type: "text", text: "The user is called Ada." }]);
    for (let turn = 1; turn <= 4; turn++) await say(life, text(`question ${turn}`), text(`reply ${turn}`));
    await compact(life, 300);
    const before = life.runtime.state.view.items;
    expect(before[0]).toMatchObject({ kind: "system", position: 1 });
    await ask(life, { rebuild: true });
    await work(life, "Anew.");

    expect(life.runtime.state.view).toMatchObject({ items: before, overlays: [{ from: 1 }] });
    expect(buildRequestText(life)).toContain("The user is called Ada.");
  });

  test("may say more than what it replaces: nothing was to be gained, and the breaker is not told", async () => {
    const life = await summarized();
    for (let round = 0; round < 3; round++) {
      await ask(life, { rebuild: true });
      await work(life, text("all of it", 100 + round));
    }

    expect(life.runtime.state.compaction).toMatchObject({ fruitless: 0, breaker: null, failures: 0 });
    expect(buildRequestText(life)).toContain("all of it");
  });

  test("that would not fit fails, and what stood stands", async () => {
    const policy = '{"preset":"oneclaw","trigger":{"window_ratio":0.95}}';
    const life = await newLife({ policy, spec: { ...ROOMY, context_window: 3_000, max_output: 700 } });
    for (let turn = 1; turn <= 4; turn++) await say(life, text(`question ${turn}`), text(`reply ${turn}`));
    await compact(life, 100);
    for (let turn = 5; turn <= 8; turn++) await say(life, text(`question ${turn}`, 100), text(`reply ${turn}`, 100));
    const before = buildRequestText(life);
    const asked = await ask(life, { rebuild: true });
    await work(life, text("all of it", 240));

    const id = asked.kind === "requested" ? asked.compaction.id : null;
    expect(id && (await shown(life, id))).toMatchObject({ status: "failed", failure: "not_smaller" });
    expect(buildRequestText(life)).toBe(before);
  });

  test("of a conversation without a summary has nothing to do, and says so", async () => {
    const life = await newLife();
    await say(life, text("question"), text("reply"));

    expect(await ask(life, { rebuild: true })).toMatchObject({ kind: "plan", plan: { kind: "none", reason: "no_summary" } });
  });

  test("under rules that write none has nothing to do either", async () => {
    const life = await summarized();
    expect(await ask(life, { rebuild: true, policy: { summary: { form: "none" } } })).toMatchObject({
      plan: { kind: "none", reason: "not_by_policy" },
    });
  });

  test.each([
    ["keep_recent", { keepRecent: 100 }],
    ["up_to", { upTo: 2 }],
  ])("with %s is refused by its name: it covers what the summaries cover", async (field, input) => {
    const life = await summarized();
    const refused = await life.service.compact(CALLER, { ...BY_HAND, rebuild: true, ...input, idempotency: null });
    expect(refused).toMatchObject({ ok: false, error: { code: "invalid", field } });
  });

  test("can be reverted: the chain is restored", async () => {
    const life = await summarized();
    const before = buildRequestText(life);
    await ask(life, { rebuild: true });
    await work(life, "Anew.");

    await revert(life);

    expect(buildRequestText(life)).toBe(before);
  });

  test("can be a draft, to be compared and edited first", async () => {
    const life = await summarized();
    const before = buildRequestText(life);
    const asked = await ask(life, { rebuild: true, draft: true });
    await work(life, "Anew.");
    expect(buildRequestText(life)).toBe(before);

    const compaction = asked.kind === "requested" ? asked.compaction.id : null;
    if (!compaction) throw new Error("nothing was asked for");
    await life.service.commitDraft(CALLER, { compaction, edits: null, idempotency: null });

    expect(await shown(life, compaction)).toMatchObject({ status: "completed", rebuild: true, summary: "Anew." });
    expect(life.runtime.state.compaction).toMatchObject({ fruitless: 0 });
  });
});

describe("another summariser", () => {
  test("is asked in place of those that the policy names, and its receipt says so", async () => {
    const life = await summarized('{"preset":"oneclaw","summary":{"models":["tiny-model"]}}');
    await ask(life, { rebuild: true, model: "other-model" });

    const { id, request, answer } = await lease(life);
    await answer({ text: "Anew." });

    expect(request.model.id).toBe("other-model");
    expect(await shown(life, id)).toMatchObject({ status: "completed", model: "other-model", receipt: { model: "other-model" } });
  });

  test("is the next attempt's, too: no other model is called for it", async () => {
    const life = await summarized('{"preset":"oneclaw","summary":{"models":["test-model","tiny-model"]}}');
    await ask(life, { rebuild: true, model: "other-model" });
    const first = await lease(life);
    await first.answer({ text: "" });

    expect((await lease(life)).request.model.id).toBe("other-model");
  });

  test("that is unknown, or that could read nothing, is refused by the field's name", async () => {
    const life = await summarized();
    const asking = (model: string) => life.service.compact(CALLER, { ...BY_HAND, model, idempotency: null });

    expect(await asking("no-model")).toMatchObject({ ok: false, error: { code: "unknown_model", model: "no-model" } });
    expect(await asking("tiny-model")).toMatchObject({ ok: false, error: { code: "invalid", field: "model" } });
    expect(life.runtime.state.compaction.requested).toBeNull();
  });

  test("that is gone when its work begins ends the compaction: no other writes in its name", async () => {
    const life = await summarized();
    const asked = await ask(life, { rebuild: true, model: "other-model" });
    life.models = { resolve: async (id) => (id === ROOMY.id ? ROOMY : null) };
    await work(life, "Anew.");

    const id = asked.kind === "requested" ? asked.compaction.id : null;
    expect(id && (await shown(life, id))).toMatchObject({ status: "failed", failure: "unknown_model" });
  });
});

describe("another policy", () => {
  test("rules the form and the length of this summary, and of no other", async () => {
    const life = await summarized();
    await ask(life, { rebuild: true, policy: { preset: "opal", summary: { max_tokens: 777 } } });
    const { id, request, answer } = await lease(life);
    // The prompt allows 777 tokens. The answer may be half as long again, up to the model's maximum.
    expect(request.maxOutput).toBe(1_000);
    await answer({ text: "No sections." });
    expect(await shown(life, id)).toMatchObject({ failure: "sections_missing", policy: { preset: "opal" } });
    const again = await lease(life);
    await again.answer({ text: SUMMARY });

    expect(await shown(life, id)).toMatchObject({ status: "completed" });
    await ask(life, { rebuild: true });
    expect((await lease(life)).request.maxOutput).not.toBe(777);
  });

  test("that contradicts itself is refused at the parameter that was named", async () => {
    const life = await summarized();
    const policy = { trigger: { window_ratio: 0.2 } };
    const refused = await life.service.compact(CALLER, { ...BY_HAND, rebuild: true, policy, idempotency: null });
    expect(refused).toMatchObject({ ok: false, error: { code: "invalid", field: "policy.trigger.window_ratio" } });
  });
});
