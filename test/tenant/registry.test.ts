import { describe, expect, it } from "vitest";
import { ZodError } from "zod";
import type { DeploymentKeys } from "../../src/app/key-source";
import type { ModelOverride } from "../../src/app/model-entry";
import type { Prices } from "../../src/context/economy";
import type { FindPrices } from "../../src/tenant/settings/describe-model";
import { buildDeploymentModels, createRegistry, MAX_MODELS } from "../../src/tenant/settings/registry";
import { createMigratedSql } from "./memory-sql";

const UNPRICED: FindPrices = () => null;
const PRICES: Prices = { input: 0.000_003, output: 0.000_015, cached: 0.000_000_3, cache_write: 0.000_003_75 };

function model(changes: Partial<ModelOverride> = {}): ModelOverride {
  return {
    provider: "openai-compatible",
    upstream_id: "mine",
    base_url: "https://api.example.com/v1",
    context_window: 128_000,
    max_output: 4_096,
    ...changes,
  };
}

/** The entry of a model of that name, with the given fields only. */
const named = (upstream_id: string, changes: Partial<ModelOverride> = {}): ModelOverride => ({
  provider: "openai",
  upstream_id,
  base_url: null,
  ...changes,
});

const NO_KEYS: DeploymentKeys = { openai: undefined, anthropic: undefined, google: undefined, "openai-compatible": undefined };

interface Given {
  readonly models?: Record<string, ModelOverride>;
  readonly credentials?: readonly string[];
  readonly keys?: Partial<DeploymentKeys>;
  readonly now?: () => number;
}

function given({ models = {}, credentials = [], keys = {}, now = () => 0 }: Given = {}) {
  const known = new Set(credentials);
  const deployment = buildDeploymentModels(models);
  const sql = createMigratedSql();
  /** An entry that no request can make. */
  const sayFree = (id: string): void =>
    void sql.rows("UPDATE models SET price_input = 0, price_output = 0, price_cached = 0, price_cache_write = 0 WHERE id = ?", id);
  const registry = createRegistry({ sql, deployment, credentials: known, deploymentKeys: { ...NO_KEYS, ...keys }, now });
  return {
    ...registry,
    known,
    sayFree,
    resolve: (id: string) => registry.resolve(id, UNPRICED),
    show: (id: string) => registry.find(id, UNPRICED),
  };
}

describe("the models of a tenant", () => {
  it("the embedded one is there without any configuration", () => {
    expect(given().list(UNPRICED)).toMatchObject([
      { id: "embedded", provider: "embedded", base_url: null, context_window: 32_000, max_output: 1_024, source: "deployment" },
    ]);
  });

  it("the deployment can change the limits of the embedded one, one by one", () => {
    const { resolve } = given({ models: { embedded: named("embedded", { provider: "embedded", context_window: 8_000 }) } });
    expect(resolve("embedded")).toMatchObject({ context_window: 8_000, max_output: 1_024 });
  });

  it("the tenant's own goes before the deployment's, and is marked as the tenant's", () => {
    const registry = given({ models: { fast: model() } });
    registry.put("fast", model({ base_url: "https://mine.example.com", context_window: null }));
    expect(registry.resolve("fast")).toEqual({
      ...model({ base_url: "https://mine.example.com", context_window: null }),
      id: "fast",
      source: "tenant",
    });
    expect(registry.list(UNPRICED).map((spec) => [spec.id, spec.source])).toEqual([
      ["embedded", "deployment"],
      ["fast", "tenant"],
    ]);
  });

  it("is stored with all its given fields", () => {
    const registry = given({ credentials: ["mine"] });
    const said = model({
      capabilities: { tools: true, images: false, files: false, reasoning: true },
      ratio: 1.25,
      prices: PRICES,
      credential: "mine",
    });
    registry.put("m", said);
    expect(registry.resolve("m")).toEqual({ ...said, id: "m", source: "tenant" });
  });

  it("putting a model again replaces all of it", () => {
    const registry = given();
    registry.put("m", model({ ratio: 1.5, prices: PRICES }));
    registry.put("m", model({ upstream_id: "other", base_url: null, context_window: null, max_output: 1 }));
    expect(registry.resolve("m")).toEqual({
      ...model({ upstream_id: "other", base_url: null, context_window: null, max_output: 1 }),
      id: "m",
      source: "tenant",
    });
  });

  it("removing the tenant's own shows the deployment's again", () => {
    const registry = given({ models: { fast: model() } });
    registry.put("fast", model({ context_window: 4_096 }));
    expect(registry.remove("fast")).toEqual({ ok: true, value: null });
    expect(registry.resolve("fast")).toMatchObject({ context_window: 128_000, source: "deployment" });
  });

  it("the deployment's own cannot be removed by a tenant", () => {
    const registry = given({ models: { fast: model() } });
    expect(registry.remove("fast")).toEqual({ ok: false, error: { code: "model_not_own", model: "fast" } });
    expect(registry.remove("nope")).toEqual({ ok: false, error: { code: "model_not_found", model: "nope" } });
    expect(registry.resolve("fast")).not.toBeNull();
  });

  it.each(["nope", "", "__proto__", "toString", "' OR 1=1 --"])("there is no model %j", (id) => {
    expect(given({ models: { fast: model() } }).resolve(id)).toBeNull();
  });
});

describe("a figure", () => {
  it("that the tenant says is the tenant's, and what it does not say is the preset's", () => {
    const registry = given();
    registry.put("m", named("gpt-4o", { max_output: 2_000, ratio: 1.1 }));
    expect(registry.show("m")).toMatchObject({
      context_window: 128_000,
      max_output: 2_000,
      ratio: 1.1,
      capabilities: { tools: true, images: true },
      figures: { context_window: "preset", max_output: "tenant", capabilities: "preset", ratio: "tenant", prices: "unknown" },
    });
  });

  it("that the deployment says is the deployment's", () => {
    const registry = given({ models: { m: named("gpt-4o", { context_window: 64_000 }) } });
    expect(registry.show("m")).toMatchObject({ context_window: 64_000, figures: { context_window: "deployment", max_output: "preset" } });
  });

  it("that is set to unknown stays unknown, whatever a preset says", () => {
    const registry = given();
    registry.put("m", named("gpt-4o", { context_window: null }));
    expect(registry.show("m")).toMatchObject({ context_window: null, figures: { context_window: "tenant" } });
  });

  it("that has no source is unknown", () => {
    const registry = given();
    registry.put("m", named("my-own", { max_output: 1_000 }));
    expect(registry.show("m")).toMatchObject({
      context_window: null,
      figures: { context_window: "unknown", capabilities: "unknown", ratio: "unknown", prices: "unknown" },
    });
    expect(registry.resolve("m")).not.toHaveProperty("prices");
  });

  it("of price comes from the package if none is set, and never replaces a set price", () => {
    const registry = given({ models: { d: named("gpt-4o", { prices: PRICES }) } });
    const cheap: FindPrices = () => ({ input: 1, output: 1, cached: 1, cache_write: 1 });
    registry.put("m", named("gpt-4o-mini"));
    expect(registry.find("m", cheap)).toMatchObject({ prices: { input: 1 }, figures: { prices: "prices_package" } });
    expect(registry.find("d", cheap)).toMatchObject({ prices: PRICES, figures: { prices: "deployment" } });
  });
});

describe("a price", () => {
  const FREE = { input: 0, output: 0, cached: 0, cache_write: 0 };
  const published: FindPrices = () => ({ input: 1, output: 1, cached: 1, cache_write: 1 });

  it.each([
    ["at the provider's own address, without a credential", named("gpt-4o", { prices: FREE })],
    ["on Workers AI", named("gpt-4o", { provider: "workers-ai", max_output: 1_000, prices: FREE })],
    ["of the embedded model", named("embedded", { provider: "embedded", prices: FREE })],
  ])("that a tenant says is refused where the deployment pays: %s", (_, said) => {
    expect(given().put("m", said)).toMatchObject({ ok: false, error: { code: "invalid", field: "prices" } });
  });

  it.each([
    ["with its own credential", named("gpt-4o", { prices: PRICES, credential: "mine" })],
    ["at its own address", named("gpt-4o", { prices: PRICES, base_url: "https://llm.example.com/v1" })],
  ])("that a tenant says holds for calls %s", (_, said) => {
    const registry = given({ credentials: ["mine"] });
    registry.put("m", said);
    expect(registry.find("m", published)).toMatchObject({ prices: PRICES, figures: { prices: "tenant" } });
  });

  it("of a call with the deployment's key is the deployment's, whatever the tenant calls the model and whatever it once said", () => {
    const registry = given({ models: { d: named("gpt-4o", { prices: PRICES }) }, credentials: ["mine"] });
    registry.put("m", named("gpt-4o"));
    expect(registry.find("m", published)).toMatchObject({ prices: PRICES, figures: { prices: "deployment" } });
    registry.sayFree("m");
    expect(registry.find("m", published)).toMatchObject({ prices: PRICES, figures: { prices: "deployment" } });
    registry.put("other", named("gpt-4o-mini"));
    registry.sayFree("other");
    expect(registry.find("other", published)).toMatchObject({ prices: { input: 1 }, figures: { prices: "prices_package" } });
  });
});

describe("a max output", () => {
  it("is needed where nothing is known of the model's name", () => {
    expect(given().put("m", named("my-own"))).toMatchObject({ ok: false, error: { code: "invalid", field: "max_output" } });
  });

  it("that the deployment's variable lacks is reported with the variable's and the model's name", () => {
    expect(() => buildDeploymentModels({ m: named("my-own") })).toThrow(ZodError);
    expect(() => buildDeploymentModels({ m: named("my-own") })).toThrow(/"MODELS",\s*"m",\s*"max_output"/);
  });
});

describe("a credential that a model names", () => {
  it("must be there when the model is put", () => {
    const registry = given({ credentials: ["mine"] });
    expect(registry.put("m", model({ credential: "yours" }))).toMatchObject({ ok: false, error: { code: "invalid", field: "credential" } });
    expect(registry.put("m", model({ credential: "mine" })).ok).toBe(true);
    expect(registry.listModelsWith("mine")).toEqual(["m"]);
  });

  it("and is deleted later is reported", () => {
    const registry = given({ credentials: ["mine"] });
    registry.put("m", model({ credential: "mine" }));
    expect(registry.show("m")).toMatchObject({ credential: "mine", credential_missing: false });
    registry.known.delete("mine");
    expect(registry.show("m")).toMatchObject({ credential: "mine", credential_missing: true });
  });
});

describe("a key of the deployment's that a model needs", () => {
  it.each<[string, Partial<ModelOverride>, Partial<DeploymentKeys>, boolean]>([
    ["is missing where there is none", {}, {}, true],
    ["is there", {}, { openai: "sk-1" }, false],
    ["is not another provider's", {}, { anthropic: "sk-1" }, true],
    ["is not looked for beside a credential", { credential: "mine" }, {}, false],
    ["is not looked for at an address of its own", { base_url: "https://llm.example.com/v1" }, {}, false],
  ])("%s", (_, changes, keys, key_missing) => {
    const registry = given({ credentials: ["mine"], keys });
    registry.put("m", named("gpt-4o-mini", changes));
    expect(registry.show("m")).toMatchObject({ key_missing });
  });
});

describe("a suggested limit", () => {
  const suggested = { model: "m", context_window: 100_000, max_output: 8_192, source: "provider_error" } as const;

  it("is shown with its source and time, and changes nothing", () => {
    const registry = given();
    registry.put("m", model());
    expect(registry.suggest(suggested, 7).ok).toBe(true);
    expect(registry.show("m")).toMatchObject({
      context_window: 128_000,
      max_output: 4_096,
      suggestions: [
        { figure: "context_window", tokens: 100_000, source: "provider_error", at: 7 },
        { figure: "max_output", tokens: 8_192, source: "provider_error", at: 7 },
      ],
    });
  });

  it("is reported again: the newest of each source is kept", () => {
    const registry = given();
    registry.put("m", model());
    registry.suggest(suggested, 7);
    registry.suggest({ model: "m", context_window: 90_000, source: "provider_error" }, 8);
    registry.suggest({ model: "m", context_window: 95_000, source: "provider_endpoint" }, 9);
    expect(registry.show("m")?.suggestions).toEqual([
      { figure: "context_window", tokens: 95_000, source: "provider_endpoint", at: 9 },
      { figure: "context_window", tokens: 90_000, source: "provider_error", at: 8 },
      { figure: "max_output", tokens: 8_192, source: "provider_error", at: 7 },
    ]);
  });

  it("that a put adopted is shown no more", () => {
    const registry = given();
    registry.put("m", model());
    registry.suggest(suggested, 7);
    registry.put("m", model({ context_window: 100_000 }));
    expect(registry.show("m")).toMatchObject({ context_window: 100_000, suggestions: [{ figure: "max_output" }] });
  });

  it("is deleted when the id is given to another model or removed", () => {
    const registry = given();
    registry.put("m", model());
    registry.suggest(suggested, 7);
    registry.put("m", model({ upstream_id: "another" }));
    expect(registry.show("m")?.suggestions).toEqual([]);
    registry.suggest(suggested, 8);
    registry.remove("m");
    registry.put("m", model({ upstream_id: "another" }));
    expect(registry.show("m")?.suggestions).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 12, 2e9])("of %d tokens is none", (context_window) => {
    const registry = given();
    registry.put("m", model());
    registry.suggest({ model: "m", context_window, source: "provider_error" }, 7);
    expect(registry.show("m")?.suggestions).toEqual([]);
  });

  it("for a model that the tenant does not have is refused", () => {
    expect(given().suggest(suggested, 7)).toEqual({ ok: false, error: { code: "model_not_found", model: "m" } });
  });
});

describe("the number of a tenant's own models", () => {
  it("is bounded; one that is there can still be changed, and the deployment's do not count", () => {
    const registry = given({ models: { fast: model() } });
    for (let n = 1; n <= MAX_MODELS; n++) expect(registry.put(`m${n}`, model()).ok).toBe(true);

    expect(registry.put("one-more", model())).toEqual({ ok: false, error: { code: "model_limit", limit: MAX_MODELS } });
    expect(registry.put("fast", model())).toMatchObject({ ok: false });
    expect(registry.put("m1", model({ max_output: 7 })).ok).toBe(true);
    expect(registry.resolve("m1")).toMatchObject({ max_output: 7 });
    registry.remove("m2");
    expect(registry.put("one-more", model()).ok).toBe(true);
  });
});
