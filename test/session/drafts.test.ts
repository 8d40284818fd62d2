/** A compaction that waits for a person, with the session's complete object. */
import { describe, expect, test } from "vitest";
import type { CompactionView } from "../../src/contract/compaction";
import type { CompactionId } from "../../src/domain/ids";
import { type countingIds, id } from "../support/builders";
import { CALLER, Life, settle } from "./life";
import { ask, BY_HAND, buildRequestText, compact, newLife, ROOMY, say, work } from "./talk";

const text = (mark: string, words = 60): string => `${mark} ${"lorem ipsum ".repeat(words)}`;
const ANN = id("key", 1);
const BOB = id("key", 2);

async function talked(turns = 6): Promise<Life> {
  const life = await newLife();
  for (let turn = 1; turn <= turns; turn++) await say(life, text(`question ${turn}`), text(`reply ${turn}`));
  return life;
}

async function makeDraft(life: Life, input: Parameters<typeof ask>[1] = {}): Promise<CompactionId> {
  const asked = await ask(life, { keepRecent: 300, draft: true, ...input });
  if (asked.kind !== "requested") throw new Error(`nothing was asked for: ${asked.kind}`);
  return asked.compaction.id;
}

async function drafted(life: Life, summary = "They spoke of horses."): Promise<CompactionId> {
  const compaction = await makeDraft(life);
  await work(life, summary);
  return compaction;
}

async function shown(life: Life, compaction: CompactionId): Promise<CompactionView> {
  const read = await life.service.compaction(CALLER, compaction);
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

const edit = (life: Life, compaction: CompactionId, summary: string, edits = 0, by = ANN) =>
  life.service.editDraft(CALLER, { compaction, summary, edits, by });
const commit = (life: Life, compaction: CompactionId, edits: number | null = null) =>
  life.service.commitDraft(CALLER, { compaction, edits, idempotency: null });

describe("a draft", () => {
  test("is made by a worker, shows its text and what committing it would do, and changes no request", async () => {
    const life = await talked();
    const before = buildRequestText(life);

    const compaction = await drafted(life);

    expect(buildRequestText(life)).toBe(before);
    const draft = await shown(life, compaction);
    expect(draft).toMatchObject({
      status: "drafted",
      did_compact: false,
      epoch: null,
      finished_at: null,
      summary: "They spoke of horses.",
      draft: { edits: 0, edited_by: null, edited_at: null },
      ops: [{ op: "summarize", from: 1 }],
    });
    expect(draft.receipt?.tokens_after.tokens).toBeLessThan(draft.receipt?.tokens_before.tokens ?? 0);
  });

  test("does what it said it would, to the token, once it is committed", async () => {
    const life = await talked();
    const compaction = await drafted(life);
    const expected = await shown(life, compaction);

    const done = await commit(life, compaction);

    expect(done).toMatchObject({ ok: true, value: { compaction: { status: "completed", did_compact: true, summary: expected.summary } } });
    const { receipt, ops } = await shown(life, compaction);
    expect(receipt).toEqual(expected.receipt);
    expect(ops).toEqual(expected.ops);
    expect(buildRequestText(life)).toContain("They spoke of horses.");
    expect(buildRequestText(life)).not.toContain("question 1");
  });

  test("outlives its object, and what is said meanwhile stays behind it", async () => {
    const first = await talked();
    const compaction = await drafted(first);
    await edit(first, compaction, "They spoke of mares.");
    const next = new Life(first.sql, "life-2", countingIds2());
    next.models = first.models;
    await say(next, "question 7", "reply 7");

    expect(await shown(next, compaction)).toMatchObject({ status: "drafted", summary: "They spoke of mares." });
    expect(await commit(next, compaction)).toMatchObject({ ok: true });

    const request = buildRequestText(next);
    expect(request).toContain("They spoke of mares.");
    expect(request.indexOf("They spoke of mares.")).toBeLessThan(request.indexOf("question 7"));
  });

  test("is ended by what a client changes of the request, and its row says so", async () => {
    const life = await talked();
    const compaction = await drafted(life);

    await life.service.setPins(CALLER, ["Answer in French."]);

    expect(await shown(life, compaction)).toMatchObject({ status: "failed", failure: "superseded", summary: null, ops: [], receipt: null });
    expect(await commit(life, compaction)).toMatchObject({ error: { code: "not_drafted" } });
  });

  test("is one at a time, by name; a dry run asks for nothing", async () => {
    const life = await talked();
    const compaction = await drafted(life);

    const second = await life.service.compact(CALLER, { ...BY_HAND, keepRecent: 300, draft: true, idempotency: null });

    expect(second).toMatchObject({ ok: false, error: { code: "draft_open", compaction } });
    expect(await ask(life, { keepRecent: 300, draft: true, dryRun: true })).toMatchObject({ kind: "plan", plan: { kind: "compact" } });
  });

  test("that fails leaves the conversation as it was", async () => {
    const life = await talked();
    const before = buildRequestText(life);

    const compaction = await drafted(life, "");

    expect(await shown(life, compaction)).toMatchObject({ status: "failed", failure: "empty", attempts: 2, ops: [] });
    expect(buildRequestText(life)).toBe(before);
  });

  test("of what asks no model is none: the plan says what would be done, and nothing is", async () => {
    const life = await newLife({ policy: "verbatim" });
    await say(life, text("question"), text("reply"));

    expect(await ask(life, { draft: true })).toMatchObject({ kind: "plan" });
    expect(life.runtime.state.compaction).toMatchObject({ requested: null, draft: null });
  });

  test("is recorded while a turn runs, and committed when that is over", async () => {
    const life = await talked();
    const compaction = await makeDraft(life);
    await life.send("still there?");
    await work(life, "They spoke of horses.");
    expect(await shown(life, compaction)).toMatchObject({ status: "drafted" });

    expect(await commit(life, compaction)).toMatchObject({ error: { code: "turn_running" } });
    await life.answer("yes");

    expect(await commit(life, compaction)).toMatchObject({ ok: true });
  });
});

describe("an edit", () => {
  test("is shown with whose it is, and committed with the receipt saying so", async () => {
    const life = await talked();
    const compaction = await drafted(life);
    life.time.advance(1_000);

    const edited = await edit(life, compaction, "  They spoke of mares.  ");

    const at = life.time.now();
    expect(edited).toMatchObject({
      value: { summary: "They spoke of mares.", draft: { edits: 1, edited_by: ANN, edited_at: at }, ops: [{ op: "summarize" }] },
    });
    await commit(life, compaction);
    expect(await shown(life, compaction)).toMatchObject({
      summary: "They spoke of mares.",
      draft: { edits: 1, edited_by: ANN },
      receipt: { edited: { by: ANN, at } },
    });
    expect(buildRequestText(life)).toContain("They spoke of mares.");
    expect(buildRequestText(life)).not.toContain("horses");
  });

  test("the second of two editors is refused, and nothing is overwritten; a repeated edit finds its own text", async () => {
    const life = await talked();
    const compaction = await drafted(life);

    const [ann, bob] = await Promise.all([edit(life, compaction, "Ann's."), edit(life, compaction, "Bob's.", 0, BOB)]);
    const again = await edit(life, compaction, "Ann's.");

    expect(ann).toMatchObject({ ok: true });
    expect(bob).toEqual({ ok: false, error: { code: "draft_edited", edits: 1 } });
    expect(again).toMatchObject({ ok: true, value: { draft: { edits: 1, edited_by: ANN } } });
    expect(await edit(life, compaction, "Bob's.", 1, BOB)).toMatchObject({ ok: true, value: { draft: { edits: 2, edited_by: BOB } } });
  });

  test.each([
    ["says nothing", "— … —"],
    ["is far beyond any cap", "ipsum ".repeat(20_000)],
  ])("that %s is refused at its field", async (_what, summary) => {
    const life = await talked();
    const compaction = await drafted(life);

    expect(await edit(life, compaction, summary)).toMatchObject({ ok: false, error: { code: "invalid", field: "summary" } });
    expect(await shown(life, compaction)).toMatchObject({ summary: "They spoke of horses.", draft: { edits: 0 } });
  });

  test("has its text in a body, and none in its event", async () => {
    const life = await talked();
    const compaction = await drafted(life);
    await edit(life, compaction, "They spoke of mares.");
    await commit(life, compaction);

    expect(JSON.stringify(life.events())).not.toMatch(/mares|horses/);
  });
});

describe("a commit", () => {
  test("of a text that makes nothing smaller is refused with both figures, and the draft stands", async () => {
    const life = await talked();
    const compaction = await drafted(life);
    await edit(life, compaction, text("everything", 2_000));

    expect(await commit(life, compaction)).toMatchObject({ ok: false, error: { code: "not_smaller" } });
    expect(await edit(life, compaction, "Less.", 1)).toMatchObject({ ok: true });
    expect(await commit(life, compaction)).toMatchObject({ ok: true });
  });

  test("of a text that was edited since it was read is refused", async () => {
    const life = await talked();
    const compaction = await drafted(life);
    await edit(life, compaction, "They spoke of mares.");

    expect(await commit(life, compaction, 0)).toEqual({ ok: false, error: { code: "draft_edited", edits: 1 } });
    expect(await commit(life, compaction, 1)).toMatchObject({ ok: true });
  });

  test("happens once: with its key again it is the first one, without it there is no draft", async () => {
    const life = await talked();
    const compaction = await drafted(life);
    const idempotency = { key: "k", digest: "d" };
    const first = await life.service.commitDraft(CALLER, { compaction, edits: null, idempotency });

    const again = await life.service.commitDraft(CALLER, { compaction, edits: null, idempotency });

    expect([first, again]).toMatchObject([
      { value: { replayed: false } },
      { value: { replayed: true, compaction: { status: "completed" } } },
    ]);
    expect(await commit(life, compaction)).toEqual({ ok: false, error: { code: "not_drafted", compaction } });
    expect(life.runtime.state.view.epoch).toBe(1);
  });

  test("can be reverted like any compaction", async () => {
    const life = await talked();
    const before = buildRequestText(life);
    const compaction = await drafted(life);
    await commit(life, compaction);

    expect(await life.service.revertCompaction(CALLER, { compaction, idempotency: null })).toMatchObject({
      value: { compaction: { status: "reverted" } },
    });
    expect(buildRequestText(life)).toBe(before);
  });

  test("of a session that knows no such compaction is not found", async () => {
    const life = await talked(1);
    expect(await commit(life, id("cmp", 99))).toMatchObject({ error: { code: "compaction_not_found" } });
  });
});

describe("a discard", () => {
  test("leaves the view, says so in the row, and is the same twice", async () => {
    const life = await talked();
    const before = buildRequestText(life);
    const compaction = await drafted(life);

    expect(await life.service.discardDraft(CALLER, compaction)).toEqual({ ok: true, value: null });
    expect(await life.service.discardDraft(CALLER, compaction)).toEqual({ ok: true, value: null });

    expect(await shown(life, compaction)).toMatchObject({ status: "failed", failure: "discarded", summary: null });
    expect(buildRequestText(life)).toBe(before);
    expect(await makeDraft(life)).not.toBe(compaction);
  });

  test("while the worker is at it: what that brings decides to nothing, and is in the ledger", async () => {
    const life = await talked();
    const compaction = await makeDraft(life);
    const leased = await life.service.leaseCompaction(CALLER, compaction);
    const token = leased.ok && leased.value.kind === "leased" ? leased.value.token : 0;

    await life.service.discardDraft(CALLER, compaction);
    const outcome = { ok: true, text: "Late.", finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    await life.service.recordCompaction(CALLER, { compaction, token, outcome, part: 0, next: null });

    expect(life.runtime.state.compaction).toMatchObject({ requested: null, draft: null });
    expect(life.events().at(-1)).toMatchObject({ type: "ModelCallFinished", purpose: "compaction", outcome: "stale" });
  });

  test("is of drafts only", async () => {
    const life = await talked();
    await compact(life, 300);
    const [done] = life.runtime.state.compaction.committed;
    if (!done) throw new Error("nothing was compacted");

    expect(await life.service.discardDraft(CALLER, done.id)).toMatchObject({ error: { code: "not_drafted" } });
  });
});

describe("a turn that has no room", () => {
  const NARROW = { ...ROOMY, context_window: 4_000, max_output: 500 };

  async function crowded(): Promise<Life> {
    const life = await newLife({ spec: NARROW });
    for (let turn = 1; turn <= 8; turn++) await say(life, text(`question ${turn}`), text(`reply ${turn}`));
    return life;
  }

  test("ends a draft that is being made and compacts by itself; the draft's summary comes to nothing", async () => {
    const life = await crowded();
    const compaction = await makeDraft(life);
    const leased = await life.service.leaseCompaction(CALLER, compaction);
    const token = leased.ok && leased.value.kind === "leased" ? leased.value.token : 0;

    await life.send(text("and now?", 700));
    expect(life.call.request.purpose).toBe("compaction");
    await life.summarize("They spoke.");
    const outcome = { ok: true, text: "Late.", finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    await life.service.recordCompaction(CALLER, { compaction, token, outcome, part: 0, next: null });
    await life.answer("well");
    await settle();

    expect(await shown(life, compaction)).toMatchObject({ status: "failed", failure: "superseded" });
    expect(buildRequestText(life)).toContain("They spoke.");
    expect(buildRequestText(life)).not.toContain("Late.");
  });

  test("ends a draft that waits: its view is no more", async () => {
    const life = await crowded();
    const compaction = await drafted(life);

    await life.send(text("and now?", 700));
    await life.summarize("They spoke.");
    await life.answer("well");

    expect(await shown(life, compaction)).toMatchObject({ status: "failed", failure: "superseded" });
  });
});

/** A second life must not generate the first one's ids again. */
function countingIds2(): ReturnType<typeof countingIds> {
  let count = 1_000;
  return (prefix) => id(prefix, ++count);
}
