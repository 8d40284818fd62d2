import { describe, expect, test } from "vitest";
import { policySchema } from "../../src/context/policy";
import { findPolicyFault, parsePolicyConfig } from "../../src/context/policy-check";
import {
  chainChoices,
  joinPolicy,
  mergeChoices,
  type PolicyChoice,
  parseLevel,
  parsePolicyText,
  policyChoiceSchema,
  resolvePolicy,
  splitPolicy,
  toPolicy,
  toPolicyText,
} from "../../src/context/policy-choice";
import { policyParameters } from "../../src/context/policy-parameters";
import { DEFAULT_POLICY, POLICY_NAMES, presets, purposes } from "../../src/context/presets";

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

  test("that names a preset leaves who titles the sessions as it is, unless it says so itself", () => {
    const tenant = { preset: "opal", keep: { ratio: 0.4 }, title_model: "cheap" } as const;
    expect(mergeChoices(tenant, "yeoman")).toEqual({ preset: "yeoman", title_model: "cheap" });
    expect(mergeChoices(tenant, { preset: "yeoman", title_model: null })).toEqual({ preset: "yeoman", title_model: null });
    expect(resolvePolicy(mergeChoices(tenant, { keep: { ratio: 0.1 } })).title_model).toBe("cheap");
  });

  test("that names a preset leaves the instructions for summaries as they are, unless it says so itself", () => {
    const tenant = {
      preset: "opal",
      keep: { ratio: 0.4 },
      title_model: "cheap",
      summary: { max_tokens: 500, instructions: "Prices." },
    } as const;
    expect(mergeChoices(tenant, "yeoman")).toEqual({ preset: "yeoman", title_model: "cheap", summary: { instructions: "Prices." } });
    const cleared = { preset: "yeoman", title_model: null, summary: { instructions: null } } as const;
    expect(mergeChoices(tenant, cleared)).toEqual(cleared);
    expect(mergeChoices(tenant, { preset: "yeoman", summary: { form: "structured" } })).toMatchObject({
      summary: { form: "structured", instructions: "Prices." },
    });
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

describe("the instructions of a policy, which settings store apart", () => {
  test.each<[PolicyChoice, string, string | null]>([
    ["retain", "retain", null],
    [{ preset: "retain", summary: { instructions: "Prices." } }, "retain", "Prices."],
    [{ summary: { instructions: "Prices." } }, DEFAULT_POLICY, "Prices."],
    [{ preset: "opal", summary: { instructions: null, form: "narrative" } }, '{"preset":"opal","summary":{"form":"narrative"}}', null],
    [{ preset: "opal", keep: { ratio: 0.2 }, summary: { instructions: "价格" } }, '{"preset":"opal","keep":{"ratio":0.2}}', "价格"],
  ])("of %j leave a text without them, and come back to the same policy", (choice, text, instructions) => {
    const stored = splitPolicy(choice);
    expect(stored).toEqual({ text, instructions });
    expect(resolvePolicy(joinPolicy(stored))).toEqual(resolvePolicy(choice));
  });
});

describe("a policy as settings store it", () => {
  test.each(POLICY_NAMES)("is the preset %s by its name", (name) => {
    expect(toPolicy(name)).toEqual(presets[name]);
    expect(toPolicyText(name)).toBe(name);
  });

  test("comes back from its text", () => {
    const choice = { preset: "opal", keep: { ratio: 0.3 } } as const;
    expect(parsePolicyText(toPolicyText(choice))).toEqual(choice);
    expect(toPolicy(toPolicyText(choice)).keep).toEqual({ ...presets.opal.keep, ratio: 0.3 });
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
    expect(toPolicy(text)).toEqual(presets[DEFAULT_POLICY]);
  });
});

test("only what a policy has may be chosen", () => {
  expect(policyChoiceSchema.safeParse({ keep: { ratios: 0.2 } }).success).toBe(false);
  expect(policyChoiceSchema.safeParse({ keep: { ratio: 0.2 } }).success).toBe(true);
  expect(policyChoiceSchema.safeParse("frugal").success).toBe(false);
});

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
    expect(chainChoices(null, undefined, parseLevel(""))).toBe("balanced");
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
    ["a chain that fills what is left", { preset: "balanced", summary: { chain_ratio: 0.7 } }, "summary.chain_ratio"],
    ["keeping at least more than at most", { preset: "balanced", keep: { min_tokens: 9_000 } }, "keep.min_tokens"],
    ["previews longer than the result", { preset: "retain", results: { max_chars: 400 } }, "results.max_chars"],
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
    ["blanced", "must be one of "],
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
      typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value).map((name) => `${group}.${name}`) : [group],
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

describe("every parameter of the schema", () => {
  const valueAt = (policy: unknown, path: string): unknown =>
    path.split(".").reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), policy);
  const nest = (path: string, value: unknown): unknown => path.split(".").reduceRight((inner, key) => ({ [key]: inner }), value);
  const set = (path: string, value: unknown): unknown => {
    const [group = "", name] = path.split(".");
    const inside = name === undefined ? value : { ...Object(valueAt(presets.balanced, group)), [name]: value };
    return { ...presets.balanced, [group]: inside };
  };

  /** A choice that names one parameter, with a value that the schema allows and `balanced` does not have. */
  const choices = policyParameters().map(({ path, values, minimum, maximum }) => {
    const candidates: unknown[] = [...(values ?? []), minimum, maximum, true, false, "small", ["small"], { small: 1 }, 100_000];
    const value = candidates.find(
      (each) => JSON.stringify(each) !== JSON.stringify(valueAt(presets.balanced, path)) && policySchema.safeParse(set(path, each)).success,
    );
    return { path, value, choice: nest(path, value) };
  });

  test.each(choices)("$path can be chosen alone", ({ path, value, choice }) => {
    expect(value).toBeDefined();
    expect(resolvePolicy(policyChoiceSchema.parse(choice))).toEqual(set(path, value));
  });

  test("is kept when a nearer level names another one", () => {
    const whole = resolvePolicy(chainChoices(...choices.map(({ choice }) => policyChoiceSchema.parse(choice))));
    for (const { path, value } of choices) expect([path, valueAt(whole, path)]).toEqual([path, value]);
  });
});
