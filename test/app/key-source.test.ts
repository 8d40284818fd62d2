import { describe, expect, it } from "vitest";
import { findKeySource, isPaidByTenant, type KeySource } from "../../src/app/key-source";
import type { ModelSpec } from "../../src/app/ports";
import { PROVIDERS, type Provider } from "../../src/context/model-input";

const spec = (changes: Partial<ModelSpec>): ModelSpec => ({
  id: "m",
  provider: "openai",
  upstream_id: "m",
  base_url: null,
  context_window: null,
  max_output: 1,
  source: "tenant",
  ...changes,
});

const URL = "https://llm.example.com/v1";
const NONE: KeySource = { from: "none" };
const TENANT: KeySource = { from: "tenant", credential: "mine" };
const OPENAI: KeySource = { from: "deployment", key: "openai" };
const COMPATIBLE: KeySource = { from: "deployment", key: "openai-compatible" };

describe("who pays", () => {
  it.each<[string, Partial<ModelSpec>, boolean]>([
    ["with its own credential the tenant", { credential: "mine" }, true],
    ["at its own address the tenant", { base_url: URL }, true],
    ["at the provider's address without a credential the deployment", {}, false],
    ["for Workers AI the deployment", { provider: "workers-ai" }, false],
    ["for the deployment's models the deployment, wherever they are", { source: "deployment", base_url: URL }, false],
  ])("%s", (_, changes, tenant) => {
    expect(isPaidByTenant(spec(changes))).toBe(tenant);
  });
});

describe("who is called with which key", () => {
  it.each<[string, Partial<ModelSpec>, KeySource]>([
    ["the tenant's, with its credential, at the provider's address", { credential: "mine" }, TENANT],
    ["the tenant's, with its credential, at its own address", { credential: "mine", base_url: URL }, TENANT],
    ["the tenant's, without one, at the provider's address", {}, OPENAI],
    ["the tenant's, without one, at its own address", { base_url: URL }, NONE],
    ["the tenant's OpenAI-compatible one, without one", { provider: "openai-compatible", base_url: URL }, NONE],
    ["the tenant's OpenAI-compatible one, without an address", { provider: "openai-compatible" }, NONE],
    ["the deployment's, at the provider's address", { source: "deployment" }, OPENAI],
    ["the deployment's, at another address", { source: "deployment", base_url: URL }, OPENAI],
    ["the deployment's OpenAI-compatible one", { source: "deployment", provider: "openai-compatible", base_url: URL }, COMPATIBLE],
    ["the deployment's, whatever credential it names", { source: "deployment", credential: "mine" }, OPENAI],
    ["the embedded one, whatever credential it names", { provider: "embedded", credential: "mine" }, NONE],
    ["one of Workers AI, whatever credential it names", { provider: "workers-ai", credential: "mine" }, NONE],
  ])("%s", (_, changes, expected) => {
    expect(findKeySource(spec(changes))).toEqual(expected);
  });

  it.each<[Provider, KeySource]>([
    ["openai", OPENAI],
    ["openai-chat", OPENAI],
    ["anthropic", { from: "deployment", key: "anthropic" }],
    ["google", { from: "deployment", key: "google" }],
    ["openai-compatible", COMPATIBLE],
    ["embedded", NONE],
    ["workers-ai", NONE],
  ])("of the deployment's keys %s has its own", (provider, expected) => {
    expect(findKeySource(spec({ provider, source: "deployment", base_url: URL }))).toEqual(expected);
  });

  it.each(PROVIDERS)("a tenant's own address never sees a key of the deployment: %s", (provider) => {
    for (const credential of [undefined, "mine"]) {
      const model = spec({ provider, base_url: URL, ...(credential !== undefined && { credential }) });
      expect(findKeySource(model).from).not.toBe("deployment");
    }
  });

  it.each(PROVIDERS)("a model of the deployment never sees a tenant's credential: %s", (provider) => {
    for (const base_url of [null, URL]) {
      expect(findKeySource(spec({ provider, base_url, credential: "mine", source: "deployment" })).from).not.toBe("tenant");
    }
  });
});
