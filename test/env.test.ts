import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../src/context/model-input";
import { type Env, parseConfig, readDeploymentKeys, readPeppers } from "../src/env";

const configured = (change: Partial<Env>) => parseConfig({ KEY_PEPPER: "a-pepper-for-tests-only", ...change } as Env);

describe("the deployment's configuration", () => {
  test("has a default policy of its own", () => {
    expect(configured({}).POLICY).toBe("balanced");
  });

  test("takes a policy by name, or as JSON that says what differs", () => {
    expect(configured({ POLICY: "oneclaw" }).POLICY).toBe("oneclaw");
    expect(configured({ POLICY: '{"preset":"opal","keep":{"ratio":0.3}}' }).POLICY).toEqual({ preset: "opal", keep: { ratio: 0.3 } });
  });

  test.each([
    ["an unknown name", "yolo", /POLICY: must be one of /],
    ["a value out of bounds", '{"keep":{"ratio":7}}', /POLICY: keep\.ratio/],
    ["values that contradict each other", '{"keep":{"ratio":0.9}}', /POLICY: keep\.ratio/],
  ])("that is wrong says so at once, with the variable's and the parameter's name: %s", (_, POLICY, said) => {
    expect(() => configured({ POLICY })).toThrow(said);
  });
});

describe("the peppers", () => {
  const other = "another-pepper-of-tests";

  test("are one where no rotation is under way", () => {
    expect(readPeppers(configured({}))).toEqual({ current: "a-pepper-for-tests-only", previous: null });
    const over = configured({ KEY_PEPPER_PREVIOUS: "", KEY_PEPPER_PREVIOUS_UNTIL: "2026-12-01T00:00:00Z" });
    expect(readPeppers(over).previous).toBeNull();
  });

  test.each([
    ["2026-12-01T00:00:00Z", Date.UTC(2026, 11, 1)],
    ["2026-12-01T02:00:00.000+02:00", Date.UTC(2026, 11, 1)],
  ])("may be two, with an end of the other one: %s", (KEY_PEPPER_PREVIOUS_UNTIL, until) => {
    const config = configured({ KEY_PEPPER_PREVIOUS: other, KEY_PEPPER_PREVIOUS_UNTIL });

    expect(readPeppers(config).previous).toEqual({ pepper: other, until });
  });

  test.each([
    ["without an end", { KEY_PEPPER_PREVIOUS: other }, /KEY_PEPPER_PREVIOUS_UNTIL/],
    ["with an end without a time zone", { KEY_PEPPER_PREVIOUS: other, KEY_PEPPER_PREVIOUS_UNTIL: "2026-12-01T00:00:00" }, /_UNTIL/],
    ["with a number for an end", { KEY_PEPPER_PREVIOUS: other, KEY_PEPPER_PREVIOUS_UNTIL: "1795000000000" }, /_UNTIL/],
    ["that is short", { KEY_PEPPER_PREVIOUS: "short", KEY_PEPPER_PREVIOUS_UNTIL: "2026-12-01T00:00:00Z" }, /KEY_PEPPER_PREVIOUS/],
  ])("are refused with another one %s, which no error repeats", (_, variables, said) => {
    expect(() => configured(variables)).toThrow(said);
    expect(() => configured(variables)).not.toThrow(other);
  });
});

describe("the deployment's models", () => {
  test("are not left out in silence, whatever they are named", () => {
    expect(() => configured({ MODELS: '{"__proto__": {"provider": "openai"}}' })).toThrow(/__proto__/);
  });

  const models = (entry: object) => configured({ MODELS: JSON.stringify({ m: entry }) }).MODELS;

  test.each(PROVIDERS)("may be of %s", (provider) => {
    const base_url = provider === "openai-compatible" ? "https://llm.example.com/v1" : null;
    expect(models({ provider, upstream_id: "x", base_url })).toEqual({ m: { provider, upstream_id: "x", base_url } });
  });

  test("have the same figures as a tenant's, with prices in US dollars per million tokens", () => {
    const said = {
      context_window: null,
      max_output: 9,
      ratio: 1.5,
      capabilities: { tools: true, images: false, files: false, reasoning: false },
    };
    expect(models({ provider: "openai", upstream_id: "x", ...said, prices: { input: 2, output: 8, cached: 1 } })).toEqual({
      m: {
        provider: "openai",
        upstream_id: "x",
        base_url: null,
        ...said,
        prices: { input: 0.000_002, output: 0.000_008, cached: 0.000_001, cache_write: 0.000_002 },
      },
    });
  });

  test.each([
    ["no credential of a tenant", { provider: "openai", upstream_id: "x", credential: "mine" }],
    ["no base URL where none is used", { provider: "embedded", upstream_id: "x", base_url: "https://llm.example.com" }],
    ["a base URL where one is needed", { provider: "openai-compatible", upstream_id: "x" }],
  ])("have %s", (_, entry) => {
    expect(() => models(entry)).toThrow();
  });
});

test.each(["", "my model", "模型", "m".repeat(129)])("a model of the deployment is called as sessions can name it, and not %j", (id) => {
  const MODELS = JSON.stringify({ [id]: { provider: "embedded", upstream_id: "x" } });
  expect(() => configured({ MODELS })).toThrow(/letters, digits/);
});

describe("the deployment's keys", () => {
  test("that are set and empty are not set", () => {
    expect(readDeploymentKeys(configured({ OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "sk-ant" }))).toEqual({
      openai: undefined,
      anthropic: "sk-ant",
      google: undefined,
      "openai-compatible": undefined,
    });
  });

  test("for credentials that are wrong are not quoted", () => {
    expect(configured({}).CREDENTIALS_KEYS).toEqual([]);
    expect(() => configured({ CREDENTIALS_KEYS: "k1:c2VjcmV0" })).toThrow(/not 32 bytes[\s\S]*CREDENTIALS_KEYS/);
    expect(() => configured({ CREDENTIALS_KEYS: "k1:c2VjcmV0" })).not.toThrow(/c2VjcmV0/);
  });
});
