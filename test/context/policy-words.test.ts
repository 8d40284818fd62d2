/** A policy in words says what its values are. */
import { describe, expect, test } from "vitest";
import { resolvePolicy } from "../../src/context/policy-choice";
import { describePolicy } from "../../src/context/policy-words";
import { presets } from "../../src/context/presets";

describe("a policy in words", () => {
  test.each([
    ["economy", /0\.9 times what a compaction costs/, /15% .*at most 6,000 tokens/],
    ["retain", /1\.5 times what a compaction costs/, /28% .*at most 32,000 tokens/],
    ["verbatim", /85% of the window or 95% of what fits beside the reply\.$/, /29% .*at most 64,000 tokens/],
    [
      "oneclaw",
      /^After a response, when the next request exceeds 85% of the window\.$/,
      /^The newest messages, up to 25% of the window\.$/,
    ],
    ["opal", /^Before a turn, when the next request reaches 80% of the window\.$/, /25% of the window\.$/],
    ["yeoman", /^Before a turn/, /^The newest 4 messages, and system messages\.$/],
    [
      "odincode",
      /^Only when the next request would not fit\. Old tool results are cleared before each model call\.$/,
      /^Everything that fits\. Of tool results, the newest 3 are never cleared\.$/,
    ],
  ] as const)("says of %s when it compacts and what it keeps", (name, compacts, keeps) => {
    const words = describePolicy(presets[name]);
    expect(words.compacts).toMatch(compacts);
    expect(words.keeps).toMatch(keeps);
  });

  test("follows a change of the values", () => {
    const changed = resolvePolicy({
      preset: "balanced",
      trigger: { at: "each_call", window_ratio: null, usable_ratio: 0.125, rent_factor: null },
      keep: { ratio: 0.333, of: "window", max_tokens: null, system_messages: false },
      results: { clear: "never" },
      summary: { form: "none" },
    });
    expect(describePolicy(changed)).toEqual({
      compacts: "Before each model call, when the next request exceeds 12.5% of what fits beside the reply, without a summary.",
      keeps: "The newest messages, up to 33.3% of the window.",
    });
  });
});
