import { describe, expect, test } from "vitest";
import { measureNext } from "../../src/context/budget";
import type { ItemMeta } from "../../src/domain/message";
import { call, item, result, viewing } from "../support/builders";

const MODEL = "test-model";

/** The provider counted 100 tokens up to position 1, and the reply up to `replyTo`. */
const counted = (items: readonly ItemMeta[], replyTo: number) =>
  viewing(items, { anchor: { epoch: 0, model: MODEL, up_to: 1, input: 100, output: 20, reply_to: replyTo, tools: 0, at: 1 } });

describe("the measure of the next request", () => {
  test("is what the provider counted while nothing was added", () => {
    const state = counted([item(1, "user"), item(2, "assistant")], 2);
    expect(measureNext(state, MODEL)).toMatchObject({ tokens: 120, source: "reported" });
  });

  test("counts what stands in for the results of calls that were never answered", () => {
    const answered = counted([item(1, "user"), call(2, 1), result(3, 1, { tokens: 0 }), item(4, "user", { tokens: 0 })], 2);
    const abandoned = counted([item(1, "user"), call(2, 1), item(4, "user", { tokens: 0 })], 2);

    expect(measureNext(answered, MODEL).tokens).toBe(120);
    expect(measureNext(abandoned, MODEL).tokens).toBeGreaterThanOrEqual(120 + 20);
  });
});
