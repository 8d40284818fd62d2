import { describe, expect, test } from "vitest";
import { mergeChoices, parsePolicyText, policyChoiceSchema, policyOf, resolvePolicy, toPolicyText } from "../../src/context/policy-choice";
import { DEFAULT_POLICY, POLICY_NAMES, presets } from "../../src/context/presets";

describe("the nearer choice", () => {
  test("changes what it names and leaves the rest, group by group", () => {
    const merged = mergeChoices({ preset: "opal", keep: { ratio: 0.4, min_tokens: 9 }, on_failure: "none" }, { keep: { ratio: 0.1 } });
    expect(merged).toEqual({ preset: "opal", keep: { ratio: 0.1, min_tokens: 9 }, on_failure: "none" });
  });

  test("starts anew when it names a preset", () => {
    expect(mergeChoices({ preset: "opal", keep: { ratio: 0.4 } }, "yeoman")).toBe("yeoman");
    const named = { preset: "economy", results: { keep_full: 1 } } as const;
    expect(mergeChoices({ preset: "opal", keep: { ratio: 0.4 } }, named)).toEqual(named);
  });

  test("over a bare name keeps the name", () => {
    expect(mergeChoices("retain", { keep: { max_tokens: 1_000 } })).toEqual({ preset: "retain", keep: { max_tokens: 1_000 } });
  });

  test("holds over three levels: deployment, tenant, session", () => {
    const merged = mergeChoices(mergeChoices({ preset: "balanced", keep: { ratio: 0.2 } }, { trigger: { rent_factor: 3 } }), {
      keep: { min_tokens: 1 },
    });
    const { keep, trigger } = resolvePolicy(merged);
    expect([keep.ratio, keep.min_tokens, trigger.rent_factor, trigger.window_ratio]).toEqual([
      0.2,
      1,
      3,
      presets.balanced.trigger.window_ratio,
    ]);
  });

  test("may say null where the preset says a number", () => {
    expect(resolvePolicy({ preset: "oneclaw", trigger: { window_ratio: null } }).trigger.window_ratio).toBeNull();
  });
});

describe("a policy as settings store it", () => {
  test.each(POLICY_NAMES)("is the preset %s by its name", (name) => {
    expect(policyOf(name)).toEqual(presets[name]);
    expect(toPolicyText(name)).toBe(name);
  });

  test("comes back from its text", () => {
    const choice = { preset: "opal", keep: { ratio: 0.3 } } as const;
    expect(parsePolicyText(toPolicyText(choice))).toEqual(choice);
    expect(policyOf(toPolicyText(choice)).keep).toEqual({ ...presets.opal.keep, ratio: 0.3 });
  });

  test.each([
    ["nothing", ""],
    ["a name of another build", "frugal"],
    ["a name with spaces", " opal"],
    ["JSON that ends too soon", '{"preset":"opal"'],
    ["a preset of another build", '{"preset":"frugal"}'],
    ["a field of another build", '{"preset":"opal","magic":1}'],
    ["a number out of its range", '{"preset":"opal","keep":{"ratio":7}}'],
    ["a list", "[]"],
    ["a name of an object's own", "constructor"],
  ])("is the default when it is %s", (_what, text) => {
    expect(policyOf(text)).toEqual(presets[DEFAULT_POLICY]);
  });
});

test("only what a policy has may be chosen", () => {
  expect(policyChoiceSchema.safeParse({ keep: { ratios: 0.2 } }).success).toBe(false);
  expect(policyChoiceSchema.safeParse({ keep: { ratio: 0.2 } }).success).toBe(true);
  expect(policyChoiceSchema.safeParse("frugal").success).toBe(false);
});
