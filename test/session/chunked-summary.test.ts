/** A source that is larger than the summariser's window is read in chunks, and a completed chunk is never read again. */
import { describe, expect, test } from "vitest";
import type { CompactionResult } from "../../src/app/session-api";
import { huge, talk } from "./filled";
import { CALLER, failure, Life, SPEC, settle } from "./life";

const SMALL = { ...SPEC, id: "small", context_window: 3_000, max_output: 300 };

/** Five long exchanges with a large model, and then a small model. */
async function switched(): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async (id) => (id === SMALL.id ? SMALL : { ...SPEC, context_window: 32_000 }) };
  await life.open({ preset: "oneclaw", trigger: { at: "before_turn" } });
  await talk(life, 5);
  await life.service.patch(CALLER, { model: SMALL.id });
  await settle();
  await life.send("and now?");
  return life;
}

const readPrompt = (life: Life): string => life.call.messages[0] ?? "";

describe("a switch to a model whose window is smaller than the conversation", () => {
  test("lets the small model summarise in chunks what it cannot hold, before its first answer", async () => {
    const life = await switched();
    let parts = 0;
    const read: string[] = [];
    while (life.call.request.purpose === "compaction") {
      expect(life.call.request.model.id).toBe("small");
      read.push(readPrompt(life));
      await life.summarize(`Part ${++parts}.`);
    }

    expect(parts).toBeGreaterThan(1);
    for (let n = 1; n <= 4; n++) expect(read.join()).toContain(`question-${n} `);
    expect(life.call.request).toMatchObject({ model: { id: "small" }, system: expect.stringContaining(`Part ${parts}.`) });
    expect(life.call.messages.at(-1)).toBe("user: and now?");
    expect(life.events()).toContainEqual(expect.objectContaining({ type: "EpochChanged", trigger: "model_switch" }));
  });

  test("goes on from the finished parts when one fails", async () => {
    const life = await switched();
    await life.summarize("Part 1.");
    await life.summarize("Part 2.");
    expect(readPrompt(life)).toContain("Part 2.");

    await life.say(failure("unavailable"));

    expect(readPrompt(life)).toContain("<summary>\nPart 2.\n</summary>");
    expect(readPrompt(life)).not.toContain("question-1 ");
    while (life.call.request.purpose === "compaction") await life.summarize("The rest.");
    const plans = life.events().flatMap((event) => (event.type === "CompactionStarted" ? [event.source] : []));
    expect(plans).toHaveLength(2);
    expect(plans[0]).toEqual(plans[1]);
    expect(life.runtime.content.readSummaries()).toEqual(["The rest."]);
  });

  test("goes on from the finished parts in the background after a stop", async () => {
    const life = await switched();
    await life.summarize("Part 1.");

    await life.service.stop(CALLER, { idempotency: null });
    await settle();

    const { requested } = life.runtime.state.compaction;
    const leased = requested && (await life.service.leaseCompaction(CALLER, requested.id));
    expect(JSON.stringify(leased)).toContain("Part 1.");
  });

  test("records a part's call once, however often it is delivered", async () => {
    const { life, settled } = await inBackground();

    const first = await life.service.recordCompaction(CALLER, settled);
    const second = await life.service.recordCompaction(CALLER, settled);

    expect(first).toMatchObject({ ok: true, value: { next: "continue", part: { part: settled.part + 1 } } });
    expect(second).toEqual({ ok: true, value: { next: "done" } });
    expect(callsUnder(life, settled.token)).toBe(1);
    expect(life.runtime.state.compaction.requested?.folded?.parts).toBe(settled.part + 1);
  });

  test("frees the lease of a worker whose time is over, and the next one goes on under no further attempt", async () => {
    const { life, settled } = await inBackground();

    const answered = await life.service.recordCompaction(CALLER, { ...settled, leaves: true });

    expect(answered).toEqual({ ok: true, value: { next: "later" } });
    expect(callsUnder(life, settled.token)).toBe(1);
    const leased = await life.service.leaseCompaction(CALLER, settled.compaction);
    expect(leased).toMatchObject({ ok: true, value: { kind: "leased", part: { part: settled.part + 1 } } });
    expect(JSON.stringify(leased)).toContain("Part 2.");
    expect(life.runtime.state.compaction.requested).toMatchObject({ attempts: 1, folded: { parts: settled.part + 1 } });
  });

  test("keeps a part that came while the models were out of reach, and goes on from it", async () => {
    const { life, settled } = await inBackground();
    const { models } = life;
    life.models = { resolve: () => Promise.reject(new Error("the tenant's object is out of reach")) };

    const answered = await life.service.recordCompaction(CALLER, settled);

    expect(answered).toEqual({ ok: true, value: { next: "done" } });
    expect(callsUnder(life, settled.token)).toBe(0);
    life.models = models;
    const leased = await life.service.leaseCompaction(CALLER, settled.compaction);
    await life.service.recordCompaction(CALLER, settled);
    expect(callsUnder(life, settled.token)).toBe(1);
    expect(JSON.stringify(leased)).toContain("Part 2.");
    expect(life.runtime.state.compaction.requested).toMatchObject({ attempts: 1, folded: { parts: settled.part + 1 } });
  });

  test("a part that is refused while a turn runs is a failure when it has ended, and its call is recorded once", async () => {
    const { life, settled } = await inBackground();
    life.models = { resolve: async () => ({ ...SPEC, context_window: 32_000 }) };
    await life.send("in between");
    const refused = { ...settled, outcome: { ...settled.outcome, text: "" } } as CompactionResult;

    await life.service.recordCompaction(CALLER, refused);
    await life.service.recordCompaction(CALLER, refused);
    expect(callsUnder(life, settled.token)).toBe(0);
    await life.answer("Done.");

    expect(callsUnder(life, settled.token)).toBe(1);
    expect(life.events()).toContainEqual(expect.objectContaining({ type: "CompactionFailed", token: settled.token, failure: "empty" }));
  });
});

const callsUnder = (life: Life, token: number): number =>
  life.events().filter((event) => event.type === "ModelCallFinished" && event.lease === token).length;

/** The waiting turn was stopped, and a background worker has read the next chunk. */
async function inBackground(): Promise<{ readonly life: Life; readonly settled: CompactionResult }> {
  const life = await switched();
  await life.summarize("Part 1.");
  await life.service.stop(CALLER, { idempotency: null });
  await settle();
  const { requested } = life.runtime.state.compaction;
  const leased = requested && (await life.service.leaseCompaction(CALLER, requested.id));
  if (!requested || !leased?.ok || leased.value.kind !== "leased" || !leased.value.part.next) throw new Error("no chunk was leased");
  const { part, token } = leased.value;
  const outcome = { ok: true, text: "Part 2.", finish: "stop", model: "small", estimate: 1, usage: null, ms: 1 } as const;
  return { life, settled: { compaction: requested.id, token, outcome, part: part.part, next: part.next } };
}

test("a chain of summaries that was written for a larger window leaves half of a small one to what is new", async () => {
  const life = new Life();
  // The chain, the question and memory_query leave half of it.
  const small = { ...SMALL, context_window: 3_200 };
  life.models = { resolve: async (id) => (id === SMALL.id ? small : { ...SPEC, context_window: 32_000, max_output: 4_000 }) };
  await life.open({
    preset: "balanced",
    trigger: { rent_factor: null, usable_ratio: 0.2 },
    summary: { form: "narrative", chain_ratio: 0.1 },
  });
  await talk(life, 10);
  const { requested } = life.runtime.state.compaction;
  if (!requested) throw new Error("no compaction was asked for");
  const leased = await life.service.leaseCompaction(CALLER, requested.id);
  if (!leased.ok || leased.value.kind !== "leased") throw new Error("not leased");
  const outcome = { ok: true, text: huge("CHAIN"), finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
  const { token } = leased.value;
  await life.service.recordCompaction(CALLER, {
    compaction: requested.id,
    token,
    outcome,
    part: leased.value.part.part,
    next: leased.value.part.next,
  });
  await life.service.patch(CALLER, { model: SMALL.id });
  await settle();

  await life.send("and now?");

  expect(life.call.request).toMatchObject({ purpose: "compaction", model: { id: "small" } });
  expect(readPrompt(life)).toContain("CHAIN");
  expect(readPrompt(life)).toContain("<conversation>");
  expect(readPrompt(life).length).toBeLessThan(3_200 * 5);
});
