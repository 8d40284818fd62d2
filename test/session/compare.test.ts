/** The comparison of two summaries of one session, with and without a model. */
import { describe, expect, test } from "vitest";
import type { CompareInput } from "../../src/app/draft-api";
import type { SummaryComparison } from "../../src/contract/comparison";
import { id } from "../support/builders";
import { CALLER, type Life, settle } from "./life";
import { ask, buildRequestText, newest, newLife, ROOMY, say, work } from "./talk";

const filler = "lorem ipsum ".repeat(40);

/** Horses by name and number. There is one summary, and a rebuilt draft is open. */
async function summarized(): Promise<{ readonly life: Life; readonly draft: SummaryId }> {
  const life = await newLife();
  life.models = { resolve: async (name) => (name === ROOMY.id ? ROOMY : null) };
  await say(life, `The mare is called Bella and stands in box B-17. ${filler}`, `I see that Bella stands in B-17. ${filler}`);
  await say(life, `The vet asked for 1420 today, for Bella. ${filler}`, `So 1420 it is. ${filler}`);
  for (let turn = 3; turn <= 5; turn++) await say(life, `question ${filler}`, `reply ${filler}`);
  await ask(life, { keepRecent: 300 });
  await work(life, "They spoke of a mare.\nThe vet asked for 1420.");
  const asked = await ask(life, { rebuild: true, draft: true });
  await work(life, "They spoke of Bella in B-17.\nThe vet asked for 1420.");
  if (asked.kind !== "requested") throw new Error("no draft");
  return { life, draft: asked.compaction.id };
}
type SummaryId = Exclude<CompareInput["a"], "current">;

async function compare(life: Life, input: Partial<CompareInput>): Promise<SummaryComparison> {
  const compared = await life.service.compareSummaries(CALLER, { a: "current", b: "current", questions: [], model: null, ...input });
  if (!compared.ok) throw new Error(JSON.stringify(compared.error));
  return compared.value;
}

describe("a comparison", () => {
  test("shows both texts, what differs, and what each keeps of what was said; no model is asked, nothing is stored", async () => {
    const { life, draft } = await summarized();
    const { seq } = life.runtime.state;
    const calls = life.calls.length;

    const { a, b, terms, terms_complete, diff, questions } = await compare(life, { b: draft });

    expect([a.text, b.text]).toEqual([expect.stringContaining("a mare"), expect.stringContaining("Bella")]);
    expect([a.tokens.source, b.tokens.source]).toEqual(["estimated", "estimated"]);
    expect(b).toMatchObject({ summary: draft, range: a.range, edited: null });
    expect(terms).toContainEqual({ term: "Bella", kind: "name", count: 3, in_a: false, in_b: true });
    expect(terms).toContainEqual({ term: "1420", kind: "number", count: 2, in_a: true, in_b: true });
    expect([a.kept, b.kept]).toEqual([terms.filter((term) => term.in_a).length, terms.filter((term) => term.in_b).length]);
    expect(terms_complete).toBe(true);
    expect(diff.map((line) => line.in)).toEqual(["a", "b", "both"]);
    expect(questions).toEqual([]);
    expect([life.runtime.state.seq, life.calls.length]).toEqual([seq, calls]);
  });

  test("takes a committed summary, a reverted one, a draft, or the current summaries", async () => {
    const { life, draft } = await summarized();
    const committed = newest(life);
    if (!committed) throw new Error("nothing stands");
    const before = await compare(life, { a: committed, b: "current" });
    await life.service.editDraft(CALLER, { compaction: draft, summary: "By hand.", edits: 0, by: id("key", 1) });

    expect(before.diff.every((line) => line.in === "both")).toBe(true);
    expect((await compare(life, { b: draft })).b).toMatchObject({ text: "By hand.", edited: { by: id("key", 1) } });
    await life.service.revertCompaction(CALLER, { compaction: committed, idempotency: null });
    expect((await compare(life, { a: committed, b: committed })).a.text).toContain("a mare");
  });

  test("of one that was made on a branch that was left has beside it what that shares with the branch that goes on", async () => {
    const { life } = await summarized();
    const left = newest(life);
    if (!left) throw new Error("nothing stands");
    await life.service.rewind(CALLER, { to: 2, idempotency: null });
    await settle();

    const { a, terms } = await compare(life, { a: left, b: left });

    expect(a.text).toContain("1420");
    expect(terms.map(({ term }) => term).sort()).toEqual(["B-17", "Bella"]);
  });

  test.each([
    ["of an unknown compaction", { a: id("cmp", 999) }, "a"],
    ["of what has no summary", { b: "discarded" }, "b"],
  ] as const)("%s is refused at its field", async (_what, input, field) => {
    const { life, draft } = await summarized();
    await life.service.discardDraft(CALLER, draft);
    const sides = "b" in input ? { b: draft } : input;

    const refused = await life.service.compareSummaries(CALLER, { a: "current", b: "current", questions: [], model: null, ...sides });

    expect(refused).toMatchObject({ ok: false, error: { code: "invalid", field } });
  });

  test("where no summary stands is refused at its field", async () => {
    const life = await newLife();
    const input = { a: "current", b: "current", questions: [], model: null } as const;
    expect(await life.service.compareSummaries(CALLER, input)).toMatchObject({ error: { code: "invalid", field: "a" } });
  });
});

describe("a question", () => {
  const questions = [{ question: "Where does the mare stand?", expect: "b-17" }];

  async function asking(life: Life, input: Partial<CompareInput>, answers: readonly string[]): Promise<SummaryComparison> {
    const first = life.calls.length;
    const compared = compare(life, input);
    await settle();
    for (const [index, text] of answers.entries()) {
      const usage = { input: 90, output: 5, cached: 0, reasoning: 0 };
      life.calls[first + index]?.say({ type: "text", text }, { type: "finish", finish: "stop", usage });
      await settle();
    }
    return compared;
  }

  test("is asked of each summary alone: nothing else of the conversation is in the request", async () => {
    const { life, draft } = await summarized();
    const before = life.calls.length;

    const { questions: answered, model } = await asking(life, { b: draft, questions }, ["Not in the summary.", "In box B-17."]);

    const [a, b] = life.calls.slice(before).map(({ request }) => request);
    expect(a?.system).toContain("a mare");
    expect(a?.system).not.toContain("Bella");
    expect(b?.system).toContain("Bella");
    expect(b?.system).not.toContain("a mare");
    for (const request of [a, b]) expect(request).toMatchObject({ purpose: "comparison", tools: [], messages: [{ role: "user" }] });
    expect(model).toBe(ROOMY.id);
    expect(answered).toMatchObject([
      {
        expect: "b-17",
        a: { text: "Not in the summary.", holds: false, in_summary: false },
        b: { text: "In box B-17.", holds: true, in_summary: true, usage: { input: 90 } },
      },
    ]);
  });

  test("is in the ledger for what it was, and changes neither the view nor what is learned of the model", async () => {
    const { life, draft } = await summarized();
    const { view, ratios, anchor, totals, compaction } = life.runtime.state;
    const before = buildRequestText(life);

    await asking(life, { b: draft, questions }, ["Here.", "There."]);

    expect(life.events().slice(-2)).toMatchObject([
      { type: "ModelCallFinished", purpose: "comparison", turn: null, lease: null },
      { type: "ModelCallFinished", purpose: "comparison", outcome: "stop" },
    ]);
    expect(life.runtime.state).toMatchObject({ view, ratios, anchor, compaction });
    expect(life.runtime.state.totals.input).toBe(totals.input + 180);
    expect(buildRequestText(life)).toBe(before);
  });

  test("does not hold up the session: a turn runs beside it", async () => {
    const { life, draft } = await summarized();
    const before = life.calls.length;
    const compared = compare(life, { b: draft, questions });
    await settle();

    await say(life, "and now?", "now this");
    expect(life.runtime.state.last_turn?.status).toBe("completed");
    for (const call of life.calls.slice(before, before + 2))
      call.say({ type: "text", text: "B-17" }, { type: "finish", finish: "stop", usage: null });

    expect((await compared).questions).toHaveLength(1);
  });

  test("that the model does not answer in time says so, and the others are answered", async () => {
    const { life, draft } = await summarized();
    const before = life.calls.length;
    const compared = compare(life, { b: draft, questions });
    await settle();
    life.calls[before]?.say({ type: "text", text: "B-17" }, { type: "finish", finish: "stop", usage: null });
    // A provider that ends its call when the call is aborted.
    const hanging = life.calls[before + 1];
    hanging?.signal.addEventListener("abort", () => hanging.say({ type: "failure", failure: { kind: "aborted", status: null } }));
    await settle();
    await life.advance(30_000);

    expect((await compared).questions).toMatchObject([
      { a: { holds: true, failure: null }, b: { text: null, failure: "timeout", holds: null } },
    ]);
  });

  test("is not asked once a message was redacted, because the summaries may contain it", async () => {
    const { life, draft } = await summarized();
    const before = life.calls.length;
    const many = Array.from({ length: 3 }, (_, n) => ({ question: `Question ${n}?`, expect: null }));
    const compared = compare(life, { b: draft, questions: many });
    await settle();
    const [first] = life.runtime.content.readRecord({ from: 1, to: 1 });
    if (!first) throw new Error("nothing was said");
    await life.service.redact(CALLER, first.meta.id);
    for (const call of life.calls.slice(before)) call.say({ type: "text", text: "Here." }, { type: "finish", finish: "stop", usage: null });
    await settle();

    expect(life.calls).toHaveLength(before + 4);
    const { questions: answered } = await compared;
    expect(answered.map(({ a, b }) => [a.failure, b.failure])).toEqual([
      [null, null],
      [null, null],
      ["superseded", "superseded"],
    ]);
  });

  test("with an unknown model is refused by its name, and no model is called", async () => {
    const { life, draft } = await summarized();
    const calls = life.calls.length;

    const refused = await life.service.compareSummaries(CALLER, { a: "current", b: draft, questions, model: "no-model" });

    expect(refused).toMatchObject({ ok: false, error: { code: "unknown_model", model: "no-model" } });
    expect(life.calls).toHaveLength(calls);
  });

  test("is asked four at a time, each of both", async () => {
    const { life, draft } = await summarized();
    const before = life.calls.length;
    const many = Array.from({ length: 5 }, (_, n) => ({ question: `Question ${n}?`, expect: null }));
    const compared = compare(life, { b: draft, questions: many });
    await settle();
    expect(life.calls.length - before).toBe(4);
    for (let index = before; index < before + 10; index++) {
      life.calls[index]?.say({ type: "text", text: `answer ${index - before}` }, { type: "finish", finish: "stop", usage: null });
      await settle();
    }

    const texts = (await compared).questions.flatMap(({ a, b }) => [a.text, b.text]);
    expect(texts).toEqual(Array.from({ length: 10 }, (_, n) => `answer ${n}`));
  });
});
