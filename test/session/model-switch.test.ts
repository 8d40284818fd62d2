/**
 * A switch from a large to a small window in the middle of a conversation: a model that can read the conversation
 * summarises it in chunks first.
 */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { estimateParts } from "../../src/context/item-tokens";
import { estimateTokens } from "../../src/context/tokens";
import type { ModelCall } from "./life";
import { CALLER, Life, SPEC, settle } from "./life";
import { append } from "./talk";

const model = (id: string, context_window: number): ModelSpec => ({ ...SPEC, id, upstream_id: id, context_window, max_output: 1_000 });
const KNOWN = [model("wide", 200_000), model("small", 8_000), model("reader", 32_000), model("narrow", 1_024)];

const words = (mark: string, count: number): string => `${mark} ${"nothing that matters much here ".repeat(count / 5)}`;

/** About 100,000 tokens of conversation with the large model, and then the small model. */
async function switched(models: readonly string[] = []): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async (id) => KNOWN.find((spec) => spec.id === id) ?? null };
  const policy = JSON.stringify({ preset: "oneclaw", trigger: { at: "before_turn" }, summary: { models } });
  await life.service.open(CALLER, { model: "wide", policy, system: "Be brief.", tools: null, title: null, metadata: {} });
  for (let n = 1; n <= 40; n++) {
    await append(life, "user", [{ type: "text", text: words(`question-${n}`, 1_200) }]);
    await append(life, "assistant", [{ type: "text", text: words(`reply-${n}`, 1_200) }]);
  }
  await life.send("is that all?");
  await life.answer("it is", 100_000);
  await life.service.patch(CALLER, { model: "small" });
  await settle();
  await life.send("and what is left of it?");
  return life;
}

const countBytes = ({ request }: ModelCall): number =>
  request.messages.reduce((sum, { parts }) => sum + estimateParts(parts), estimateTokens(request.system ?? "")) + (request.maxOutput ?? 0);

/** Each summary has its own number. Every call so far fits into the window of its model. */
async function summarize(life: Life): Promise<number> {
  let parts = 0;
  while (life.call.request.purpose === "compaction") await life.summarize(`Part ${++parts} of what was said.`);
  return parts;
}

describe("a conversation of 100,000 tokens that goes on with a model of 8,000", () => {
  test.each([
    ["folded by the small model itself", [], "small"],
    ["folded by the model that the policy names", ["reader"], "reader"],
    ["summarised by the first that is known and can read", ["nobody", "narrow", "reader", "wide"], "reader"],
    ["read at once by the large one", ["wide"], "wide"],
  ] as const)("is %s before it is called, and no call exceeds the window of its model", async (_, models, reader) => {
    const life = await switched(models);
    const parts = await summarize(life);

    const summaries = life.calls.filter(({ request }) => request.purpose === "compaction");
    expect(summaries.length).toBe(parts);
    expect(new Set(summaries.map(({ request }) => request.model.id))).toEqual(new Set([reader]));
    expect(reader === "wide" ? parts === 1 : parts > 1).toBe(true);
    for (const call of life.calls) expect(countBytes(call)).toBeLessThanOrEqual(call.request.model.context_window ?? 0);
    const read = summaries.flatMap(({ messages }) => messages).join();
    for (let n = 1; n <= 38; n++) expect(read).toContain(`question-${n} `);

    expect(life.call.request).toMatchObject({ purpose: "turn", model: { id: "small" } });
    expect(life.call.messages.at(-1)).toBe("user: and what is left of it?");
    expect(life.call.request.system).toContain(`Part ${parts} of what was said.`);
    expect(countBytes(life.call)).toBeLessThanOrEqual(7_500);
    expect(life.events()).toContainEqual(expect.objectContaining({ type: "EpochChanged", trigger: "model_switch" }));
  });

  test("goes on with a reader of its own when the first one fails in the middle, in the parts that its window holds", async () => {
    const life = await switched(["reader", "small"]);
    await life.summarize("Part 1 of what was said.");
    await life.say({ type: "failure", failure: { kind: "quota", status: 402 } });

    expect(life.call.request.model.id).toBe("small");
    expect(life.call.messages.join()).toContain("Part 1 of what was said.");
    expect(life.call.messages.join()).not.toContain("question-1 ");
    await summarize(life);
    for (const call of life.calls) expect(countBytes(call)).toBeLessThanOrEqual(call.request.model.context_window ?? 0);
    expect(life.call.request.purpose).toBe("turn");
  });
});

describe("a provider that reports more than its window holds", () => {
  test("has cut the request silently: the view is compacted before the next turn asks", async () => {
    const life = new Life();
    life.models = { resolve: async () => model("small", 8_000) };
    await life.open({ preset: "oneclaw", summary: { models: [] } });
    for (let n = 1; n <= 4; n++) {
      await life.send(words(`question-${n}`, 600));
      await life.answer(words(`reply-${n}`, 300), 1_300 * n);
    }
    await life.send(words("question-5", 600));
    await life.answer("so it is", 9_400);
    await life.send("and then?");
    expect(life.call.request.purpose).toBe("compaction");
    await life.summarize("They talked.");
    expect(life.call.request).toMatchObject({ purpose: "turn", system: expect.stringContaining("They talked.") });
    const changed = life.events().find((event) => event.type === "EpochChanged");
    expect(changed).toMatchObject({ receipt: { tokens_before: expect.any(Number) } });
  });

  test.each(["each_call", "before_turn", "after_response"] as const)(
    "also where the policy looks %s, and between the rounds of a turn",
    async (at) => {
      const life = new Life();
      life.models = { resolve: async () => model("small", 8_000) };
      await life.open({ preset: "oneclaw", trigger: { at, window_ratio: null } });
      for (let n = 1; n <= 4; n++) {
        await life.send(words(`question-${n}`, 600));
        await life.answer(words(`reply-${n}`, 300), 1_300 * n);
      }
      await life.send(words("question-5", 600));
      await life.useTool("c1", "found", 9_400);

      expect(life.call.request.purpose).toBe("compaction");
      await life.summarize("They talked.");
      expect(life.call.request.purpose).toBe("turn");
    },
  );
});
