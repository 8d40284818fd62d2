/** The size of an image or a file is that of what the current model is sent of it. */
import { describe, expect, test } from "vitest";
import { stateAfter } from "../../src/context/epoch-change";
import { planGuard } from "../../src/context/guard";
import { estimateParts } from "../../src/context/item-tokens";
import { describeMediaPart, listMedia } from "../../src/context/media";
import { toPolicy } from "../../src/context/policy-choice";
import { evictable } from "../../src/context/reductions";
import { estimateTokens, IMAGE_TOKENS } from "../../src/context/tokens";
import { isCount } from "../../src/domain/model-call";
import { item, sized, viewing } from "../support/builders";
import { MODEL, toLimits } from "./planning";

const picture = { type: "image", url: "https://example.com/a.png", media_type: "image/png" } as const;
const pdf = { type: "file", url: "https://example.com/b.pdf", media_type: "application/pdf", name: "b.pdf" } as const;
const parts = [{ type: "text", text: "What is in these?" } as const, picture, pdf];
const showing = viewing([item(1, "user", { tokens: estimateParts(parts), media: 2, attached: listMedia(parts) })]);
const countWords = (part: typeof picture | typeof pdf): number => estimateTokens(describeMediaPart(part));

const WORKERS_AI = { id: MODEL, provider: "workers-ai" };
const blind = { tools: true, images: false, files: false, reasoning: false };
const saved = (part: typeof picture | typeof pdf): number => IMAGE_TOKENS - countWords(part);

describe("what a model is sent of an image and a PDF", () => {
  test.each([
    ["OpenAI", { provider: "openai" }, 0],
    ["a model that reads no files", { provider: "openai", capabilities: { ...blind, images: true } }, saved(pdf)],
    ["a model that reads neither", { provider: "openai", capabilities: blind }, saved(picture) + saved(pdf)],
    ["a compatible endpoint of which nothing is known", { provider: "openai-compatible" }, saved(pdf)],
    ["Workers AI", { provider: "workers-ai" }, saved(picture) + saved(pdf)],
  ])("is what they weigh: %s", (_what, reader, less) => {
    const sizing = sized(showing, { id: MODEL, ...reader });
    expect([sizing.raw, sizing.next().tokens]).toEqual([estimateParts(parts) - less, estimateParts(parts) - less]);
    expect(showing.view.items.map((shown) => sizing.item(shown))).toEqual([estimateParts(parts) - less]);
  });

  test("changes with the model, and the record does not", () => {
    const [blindly, seeing] = [
      { id: MODEL, provider: "openai", capabilities: blind },
      { id: "other", provider: "openai" },
    ];
    expect(sized(showing, blindly).raw).toBeLessThan(estimateParts(parts));
    expect(sized(showing, seeing).raw).toBe(estimateParts(parts));
    expect(showing.view.tokens).toBe(estimateParts(parts));
  });

  test("weighs the same in a view that is weighed before it is committed", () => {
    const after = stateAfter(showing, [{ op: "clear_results", items: [] }], "manual");
    expect(sized(after, WORKERS_AI).raw).toBe(sized(showing, WORKERS_AI).raw);
  });

  test("fits a window of 2,048 in words, is not put out of it, and its count is believed", () => {
    const sizing = sized(showing, WORKERS_AI);
    const limits = { ...toLimits(2_048), model: WORKERS_AI };
    expect(planGuard({ state: showing, limits, policy: toPolicy("balanced") })).toMatchObject({ kind: "none", reason: "fits" });
    expect(evictable(sizing, showing.view.items)).toEqual([]);
    expect(isCount({ input: sizing.raw, output: 1, cached: 0, reasoning: 0 }, sizing.raw)).toBe(true);
  });
});
