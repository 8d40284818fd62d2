/** The policy's fallback models, and its models for summaries. */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { huge, long, nearlyFull, talk } from "./filled";
import { CALLER, failure, Life, SPEC, settle } from "./life";

const other = (id: string, changes: Partial<ModelSpec> = {}): ModelSpec => ({ ...SPEC, id, upstream_id: id, ...changes });
const KNOWN: readonly ModelSpec[] = [
  SPEC,
  other("second"),
  other("third"),
  other("large", { context_window: 100_000 }),
  other("narrow", { context_window: 1_024 }),
];
const resolve = async (id: string) => KNOWN.find((spec) => spec.id === id) ?? null;

async function asking(fallback_models: readonly string[], policy: PolicyChoice = { preset: "oneclaw" }): Promise<Life> {
  const life = new Life();
  life.models = { resolve };
  await life.open({ ...(typeof policy === "string" ? { preset: policy } : policy), fallback_models: [...fallback_models] });
  await life.send("hello?");
  return life;
}

const models = (life: Life): string[] => life.calls.map(({ request }) => request.model.id);
const ledger = (life: Life) => life.events().flatMap((event) => (event.type === "ModelCallFinished" ? [[event.model, event.outcome]] : []));
const lastTurn = (life: Life) => life.runtime.state.last_turn;

describe("a turn whose model fails before its first word", () => {
  test.each(["auth", "quota", "refused", "invalid_param", "media", "payload"] as const)(
    "with %s is answered by the next model at once, and the ledger says who did",
    async (kind) => {
      const life = await asking(["second"]);
      await life.say(failure(kind));
      await life.answer("hello!");

      expect(models(life)).toEqual([SPEC.id, "second"]);
      expect(ledger(life)).toEqual([
        [SPEC.id, kind],
        ["second", "stop"],
      ]);
      const ended = lastTurn(life);
      expect(ended && (await life.service.turn(CALLER, ended.id))).toMatchObject({ value: { status: "completed", model: "second" } });
    },
  );

  test("with what may pass is asked again first", async () => {
    const life = await asking(["second"]);
    for (let n = 0; n < 3; n++) {
      await life.say(failure("unavailable"));
      await life.advance(20_000);
    }
    expect(models(life)).toEqual([SPEC.id, SPEC.id, SPEC.id, "second"]);
  });

  test("with a longer wait than the limit continues with the next model at once", async () => {
    const life = await asking(["second"]);
    await life.say({ type: "failure", failure: { kind: "rate_limit", status: 429, retry_after_ms: 3_600_000 } });
    expect(models(life)).toEqual([SPEC.id, "second"]);
  });

  test("goes on to the next when that one fails too, and fails with what its own model failed with", async () => {
    const life = await asking(["second", "third"]);
    await life.say(failure("quota"));
    await life.say(failure("auth"));
    await life.say(failure("refused"));

    expect(ledger(life)).toEqual([
      [SPEC.id, "quota"],
      ["second", "auth"],
      ["third", "refused"],
    ]);
    expect(lastTurn(life)).toMatchObject({ status: "failed", failure: { kind: "quota" } });
  });

  test("passes over who is unknown", async () => {
    const life = await asking(["nobody", "third"]);
    await life.say(failure("quota"));
    expect(models(life)).toEqual([SPEC.id, "third"]);
  });

  test("passes over who has no room for the conversation as it stands, and nothing is compacted for it", async () => {
    const life = new Life();
    life.models = { resolve };
    await life.open({ preset: "oneclaw", fallback_models: ["narrow", "third"] });
    await talk(life, 3);
    await life.send("and now?");
    await life.say(failure("quota"));

    expect(models(life).slice(-2)).toEqual([SPEC.id, "third"]);
    expect(life.runtime.state.view.epoch).toBe(0);
  });

  test("passes over who has no room by what the registry says of its tokens", async () => {
    const life = new Life();
    const dense = other("dense", { ratio: 2 });
    life.models = { resolve: async (id) => (id === "dense" ? dense : resolve(id)) };
    await life.open({ preset: "oneclaw", fallback_models: ["dense", "third"] });
    await talk(life, 4);
    await life.send("and now?");
    await life.say(failure("quota"));

    expect(models(life).slice(-2)).toEqual([SPEC.id, "third"]);
  });

  test("is answered by who has room, where what must stay is too large for its own", async () => {
    const life = new Life();
    life.models = { resolve };
    await life.open({ preset: "oneclaw", fallback_models: ["large"] });
    await life.send("word ".repeat(12_000));

    expect(models(life)).toEqual(["large"]);
  });

  test("is the end where its own model is unknown and no other is named, and not the end where one is", async () => {
    for (const fallback_models of [[], ["second"]]) {
      const life = await asking(fallback_models);
      await life.answer("hello!");
      life.models = { resolve: async (id) => (id === SPEC.id ? null : resolve(id)) };
      await life.send("still there?");
      expect(lastTurn(life)?.failure?.kind ?? models(life).at(-1)).toBe(fallback_models.length > 0 ? "second" : "unknown_model");
      if (fallback_models.length > 0) await life.answer("yes");
    }
  });

  test("is not answered by another once something was said", async () => {
    const life = await asking(["second"]);
    await life.say({ type: "text", text: "Well" }, failure("unavailable"));

    expect([models(life), lastTurn(life)?.status]).toEqual([[SPEC.id], "failed"]);
  });

  test("asks so many times in vain and no more, over all models", async () => {
    const life = await asking(["second", "third", "large"]);
    for (let n = 0; n < 20; n++) {
      if (life.runtime.state.turn === null) break;
      await life.say(failure("unavailable"));
      await life.advance(20_000);
    }
    expect(life.calls.length).toBe(8);
    expect(lastTurn(life)).toMatchObject({ status: "failed" });
  });
});

describe("a turn that another model has answered a part of", () => {
  test("goes on with that one after its tools, and the next turn begins with its own again", async () => {
    const life = await asking(["second"]);
    await life.say(failure("quota"));
    await life.useTool("c1", "found", 500);
    expect(models(life)).toEqual([SPEC.id, "second", "second"]);

    await life.answer("so it is", 600);
    await life.send("thanks");
    expect(models(life).at(-1)).toBe(SPEC.id);
  });

  test("is no change of the session's model: what its own then has no room for is made room for as ever", async () => {
    const life = new Life();
    life.models = { resolve };
    await life.open({ preset: "oneclaw", fallback_models: ["large"] });
    await talk(life, 5);
    await life.send(long("question-6"));
    await life.say(failure("quota"));
    await life.answer("in its place", 6_100);
    await life.send(huge("question-7"));
    while (life.call.request.purpose === "compaction") await life.summarize("They talked.");

    expect(models(life).at(-1)).toBe(SPEC.id);
    expect(life.events().flatMap((event) => (event.type === "EpochChanged" ? [event.trigger] : []))).toEqual(["inline"]);
  });

  test("goes back to its own when that one fails as well", async () => {
    const life = await asking(["second"]);
    await life.say(failure("quota"));
    await life.useTool("c1", "found", 500);
    await life.say(failure("quota"));
    expect(models(life).at(-1)).toBe(SPEC.id);
  });
});

describe("a summary", () => {
  async function summarizing(summaryModels: readonly string[]): Promise<Life> {
    const life = await nearlyFull({ preset: "oneclaw", summary: { models: [...summaryModels] } });
    life.models = { resolve };
    await life.send("word ".repeat(2_400));
    return life;
  }
  const summarisers = (life: Life): string[] =>
    life.calls.flatMap(({ request }) => (request.purpose === "compaction" ? [request.model.id] : []));

  test("is written by the first model that the policy names, without thinking, and the ledger and the receipt say who it was", async () => {
    const life = await summarizing(["large", "third"]);
    expect(life.call.request).toMatchObject({ model: { id: "large" }, reasoning: "off", tools: [] });
    await life.summarize("They talked.");

    expect(ledger(life).filter(([model]) => model === "large")).toEqual([["large", "stop"]]);
    expect(life.events().find((event) => event.type === "EpochChanged")).toMatchObject({ receipt: { model: "large" } });
    expect(life.call.request).toMatchObject({ purpose: "turn", model: { id: SPEC.id } });
  });

  test("is asked of the next one when that fails, though the policy allows fewer attempts than it names models", async () => {
    const life = await summarizing(["second", "third", "large"]);
    await life.say(failure("quota"));
    await life.say(failure("unavailable"));
    expect(summarisers(life)).toEqual(["second", "third", "large"]);
    await life.summarize("They talked.");

    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary" }]);
  });

  test("passes over who is unknown or has no room to read in", async () => {
    expect(summarisers(await summarizing(["nobody", "narrow", "third"]))).toEqual(["third"]);
  });

  test("is made by the session's model if no other model can", async () => {
    expect(summarisers(await summarizing(["nobody", "narrow"]))).toEqual([SPEC.id]);
  });

  test("is a transcript where another model answered last: the cache is not the session's model's", async () => {
    const life = await nearlyFull({ preset: "balanced", summary: { form: "narrative" }, fallback_models: ["second"] });
    life.models = { resolve };
    await life.send("and now?");
    await life.say(failure("quota"));
    await life.answer("well", 5_700);
    await life.service.compact(CALLER, { dryRun: false, instructions: null, keepRecent: 500, upTo: null, idempotency: null });
    await settle();
    const id = life.runtime.state.compaction.requested?.id;
    if (id) await life.service.leaseCompaction(CALLER, id);
    expect(life.events().findLast((event) => event.type === "CompactionStarted")).toMatchObject({ mode: "transcript" });
  });

  test("is read by another model as a transcript, never as the turn's own request", async () => {
    const policy = { preset: "balanced", summary: { form: "narrative" } } as const;
    for (const [models, mode] of [
      [[], "same_prefix"],
      [["second"], "transcript"],
    ] as const) {
      const life = await nearlyFull({ ...policy, summary: { ...policy.summary, models: [...models] } });
      life.models = { resolve };
      await life.service.compact(CALLER, { dryRun: false, instructions: null, keepRecent: 500, upTo: null, idempotency: null });
      await settle();
      const id = life.runtime.state.compaction.requested?.id;
      if (id) await life.service.leaseCompaction(CALLER, id);
      expect(life.events().findLast((event) => event.type === "CompactionStarted")).toMatchObject({ mode });
    }
  });
});
