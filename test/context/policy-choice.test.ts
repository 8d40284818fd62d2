import { describe, expect, test } from "vitest";
import { policySchema } from "../../src/context/policy";
import { findPolicyFault, parsePolicyConfig } from "../../src/context/policy-check";
import { chainChoices, parseLevel, resolvePolicy, toPolicyText } from "../../src/context/policy-choice";
import { policyParameters } from "../../src/context/policy-parameters";
import { POLICY_NAMES, presets, purposes } from "../../src/context/presets";

describe("a policy of several levels", () => {
  test("is the nearest one's where it names something, else the one's before", () => {
    const chosen = chainChoices(
      { preset: "opal", keep: { ratio: 0.3 } },
      { summary: { max_tokens: 900 } },
      { keep: { max_tokens: 5_000 } },
    );

    expect(resolvePolicy(chosen)).toEqual({
      ...presets.opal,
      keep: { ...presets.opal.keep, ratio: 0.3, max_tokens: 5_000 },
      summary: { ...presets.opal.summary, max_tokens: 900 },
    });
  });

  test("forgets what is farther where a preset is named", () => {
    expect(chainChoices({ preset: "opal", keep: { ratio: 0.3 } }, "yeoman", null)).toBe("yeoman");
  });

  test("is the default where no level says anything", () => {
    expect(chainChoices(null, undefined, parseLevel(""))).toBe("oneclaw");
  });

  test("is stored by its name when it is nothing but a preset", () => {
    expect(toPolicyText({ preset: "balanced" })).toBe("balanced");
    expect(parseLevel(toPolicyText({ preset: "balanced", keep: { ratio: 0.2 } }))).toEqual({ preset: "balanced", keep: { ratio: 0.2 } });
  });
});

describe("values that contradict each other", () => {
  test.each(POLICY_NAMES)("are in none of the presets: %s", (name) => {
    expect(findPolicyFault(name)).toBeNull();
    expect(policySchema.safeParse(presets[name]).success).toBe(true);
  });

  test.each([
    ["keeping as much as starts a compaction", { keep: { ratio: 0.85 } }, "keep.ratio"],
    ["starting at what is kept", { trigger: { window_ratio: 0.25 } }, "trigger.window_ratio"],
    ["a chain that fills what is left", { preset: "balanced", summary: { chain_ratio: 0.6 } }, "summary.chain_ratio"],
    ["keeping at least more than at most", { preset: "balanced", keep: { min_tokens: 9_000 } }, "keep.min_tokens"],
    ["previews longer than the result", { preset: "balanced", results: { max_chars: 400 } }, "results.max_chars"],
  ] as const)("are named: %s", (_, choice, field) => {
    expect(findPolicyFault(choice)).toMatchObject({ field });
  });
});

describe("the deployment's policy", () => {
  test.each([
    ["balanced", "balanced"],
    ['{"preset":"opal","keep":{"ratio":0.3}}', { preset: "opal", keep: { ratio: 0.3 } }],
  ])("is a name or JSON: %s", (written, value) => {
    expect(parsePolicyConfig(written)).toEqual({ ok: true, value });
  });

  test.each([
    ["blanced", "Invalid option"],
    ["{", "not JSON"],
    ['{"keep":{"ratio":2}}', "keep.ratio"],
    ['{"kept":1}', "kept"],
    ['{"keep":{"ratio":0.9}}', "keep.ratio"],
  ])("that is wrong says where: %s", (written, said) => {
    const parsed = parsePolicyConfig(written);

    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? "" : parsed.error).toContain(said);
  });
});

describe("the parameters in words", () => {
  const parameters = new Map(policyParameters().map((parameter) => [parameter.path, parameter]));

  test("are all there are, each with its type and what it means", () => {
    const paths = Object.entries(presets.balanced).flatMap(([group, value]) =>
      typeof value === "object" && value !== null ? Object.keys(value).map((name) => `${group}.${name}`) : [group],
    );

    expect([...parameters.keys()].sort()).toEqual(paths.sort());
    for (const { types, description } of parameters.values()) expect([types.length > 0, description.length > 10]).toEqual([true, true]);
  });

  test("have their bounds, or the only values that they take", () => {
    expect(parameters.get("keep.ratio")).toMatchObject({ types: ["number"], minimum: 0.01, maximum: 0.9, values: null });
    expect(parameters.get("keep.messages")).toMatchObject({ types: ["integer", "null"], minimum: 1, maximum: null });
    expect(parameters.get("keep.cut")).toMatchObject({ types: ["string"], values: ["fits", "fills", "next_user"] });
    expect(parameters.get("unknown_window")).toMatchObject({
      types: ["integer", "string", "null"],
      minimum: 1_024,
      values: ["conservative"],
    });
  });

  test("have a preset's purpose in one line", () => {
    for (const name of POLICY_NAMES) expect(purposes[name]).toMatch(/^[^\n]{10,160}$/);
  });
});
