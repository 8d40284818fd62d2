import { describe, expect, it } from "vitest";
import type { ModelEntry, ModelOverride } from "../../src/app/model-entry";
import type { ProbeFailure } from "../../src/app/models/probe-limits";
import type { TenantApi } from "../../src/app/tenant-api";
import { err, ok } from "../../src/lib/result";
import { modelEntry, principal, readProblem, world } from "./support";

const compatible = { provider: "openai-compatible", base_url: "https://llm.example.com/v1", max_output: 1_000 };

/** The entries that the registry is asked to store. */
async function put(body: object) {
  const seen: ModelOverride[] = [];
  const putModel: TenantApi["putModel"] = async (_, id, model) => {
    seen.push(model);
    return ok(modelEntry({ id }));
  };
  const response = await world({ tenant: { putModel } }).call("PUT", "/v1/models/m", { body });
  return { response, said: seen[0] };
}

describe("putting a model", () => {
  it("stores the given fields, and no others", async () => {
    const { said } = await put({ provider: "anthropic", upstream_id: "claude-opus-5-5" });
    expect(said).toEqual({ provider: "anthropic", upstream_id: "claude-opus-5-5", base_url: null });
  });

  it("takes prices in US dollars per million tokens; the cache costs as input where it is not said", async () => {
    const { said } = await put({ ...compatible, prices: { input: 3, output: 15 } });
    expect(said?.prices).toEqual({ input: 0.000_003, output: 0.000_015, cached: 0.000_003, cache_write: 0.000_003 });
  });

  it("takes a window that is unknown, capabilities, a ratio and a credential", async () => {
    const more = {
      context_window: null,
      ratio: 1.2,
      credential: "mine",
      capabilities: { tools: true, images: false, files: false, reasoning: false },
    };
    const { said } = await put({ ...compatible, ...more });
    expect(said).toMatchObject(more);
  });

  it("takes a known endpoint, which names provider and address, and quirks over its own", async () => {
    expect((await put({ endpoint: "mistral", upstream_id: "mistral-large" })).said).toEqual({
      provider: "openai-compatible",
      upstream_id: "mistral-large",
      base_url: "https://api.mistral.ai/v1",
      endpoint: "mistral",
    });
    const own = { endpoint: "azure", base_url: "https://acme.openai.azure.com/openai/v1", quirks: { system: "developer" } };
    expect((await put(own)).said).toMatchObject({ ...own, provider: "openai-compatible" });
  });

  it.each([
    ["neither a provider nor an endpoint", { upstream_id: "m" }, "provider"],
    ["an endpoint whose address is the account's, without one", { endpoint: "azure" }, "base_url"],
    ["an endpoint that is not known", { endpoint: "acme" }, "endpoint"],
    ["a quirk that is not known", { ...compatible, quirks: { loud: true } }, "quirks.loud"],
    ["a quirk of chat completions at another provider", { provider: "anthropic", quirks: { system: "first" } }, "quirks.system"],
    ["a bound that holds no request", { ...compatible, quirks: { max_request_bytes: 10 } }, "quirks.max_request_bytes"],
    ["openai-compatible without an address", { provider: "openai-compatible" }, "base_url"],
    ["embedded with one", { provider: "embedded", base_url: "https://llm.example.com" }, "base_url"],
    ["workers-ai with one", { provider: "workers-ai", base_url: "https://llm.example.com" }, "base_url"],
    ["embedded with a credential", { provider: "embedded", credential: "mine" }, "credential"],
    ["a provider that is not there", { provider: "acme" }, "provider"],
    ["a ratio that no model has", { provider: "openai", ratio: 3 }, "ratio"],
    ["a price below nothing", { provider: "openai", prices: { input: -1, output: 1 } }, "prices.input"],
    ["half of the prices", { provider: "openai", prices: { input: 1 } }, "prices.output"],
    ["half of the capabilities", { provider: "openai", capabilities: { tools: true } }, "capabilities.images"],
    ["a window for no conversation", { provider: "openai", context_window: 12 }, "context_window"],
    ["a key in the place of its name", { provider: "openai", credential: "sk-this is no name" }, "credential"],
  ])("is refused for %s", async (_, body, field) => {
    const { response, said } = await put(body);
    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((error) => error.field)).toContain(field);
    expect(said).toBeUndefined();
  });

  it.each(["openai", "openai-chat", "anthropic", "google"])("of %s needs no address, and may have one", async (provider) => {
    expect((await put({ provider })).response.status).toBe(200);
    expect((await put({ provider, base_url: "https://proxy.example.com/v1" })).said).toMatchObject({
      base_url: "https://proxy.example.com/v1",
    });
  });
});

describe("a key that is held to some models", () => {
  const held = () =>
    world({
      principal: { ...principal(), restriction: { models: ["m"], end_users: null, metadata: null } },
      tenant: {
        listModels: async () => ok(["m", "other"].map((id) => modelEntry({ id }))),
        getModel: async (id) => ok(modelEntry({ id })),
      },
    });

  it("lists and reads those alone", async () => {
    const { call } = held();

    const listed: { data: { id: string }[] } = await (await call("GET", "/v1/models")).json();
    expect(listed.data.map(({ id }) => id)).toEqual(["m"]);
    expect((await call("GET", "/v1/models/m")).status).toBe(200);
    expect((await readProblem(await call("GET", "/v1/models/other"))).type).toBe("urn:longhand:problem:model_not_found");
  });
});

describe("a model as it is shown", () => {
  const show = async (entry: Partial<ModelEntry>) => {
    const { call } = world({ tenant: { getModel: async () => ok(modelEntry(entry)) } });
    return (await call("GET", "/v1/models/m")).json();
  };

  it("has every figure, where it comes from, and prices per million tokens", async () => {
    const entry = modelEntry({
      context_window: 128_000,
      prices: { input: 0.000_000_15, output: 0.000_000_6, cached: 0.000_000_075, cache_write: 0.000_000_15 },
      figures: { context_window: "preset", max_output: "tenant", capabilities: "unknown", ratio: "unknown", prices: "prices_package" },
      suggestions: [{ figure: "context_window", tokens: 100_000, source: "provider_error", at: 7 }],
      credential: "mine",
    });
    expect(await show(entry)).toEqual({
      id: "m",
      object: "model",
      type: "model",
      display_name: "m",
      created: 0,
      owned_by: "openai-compatible",
      provider: "openai-compatible",
      upstream_id: "m",
      base_url: null,
      context_window: 128_000,
      max_output: 1_000,
      capabilities: null,
      ratio: null,
      prices: { input: 0.15, output: 0.6, cached: 0.075, cache_write: 0.15 },
      credential: "mine",
      endpoint: null,
      quirks: [],
      source: "tenant",
      sources: entry.figures,
      warnings: [],
      suggestions: entry.suggestions,
    });
  });

  it.each<[string, Partial<ModelEntry>, string]>([
    ["an unknown window", { context_window: null }, "context_window is unknown"],
    [
      "an unknown max output",
      { context_window: 9_000, figures: { ...modelEntry().figures, max_output: "unknown" } },
      "max_output is unknown",
    ],
    [
      "a credential that is gone",
      { context_window: 9_000, credential: "gone", credential_missing: true },
      "credential named here does not exist",
    ],
    ["a key that the deployment does not have", { context_window: 9_000, key_missing: true }, "the deployment has no key"],
  ])("warns of %s", async (_, entry, warning) => {
    expect(await show(entry)).toMatchObject({ warnings: [expect.stringContaining(warning)] });
  });

  it("that is not there is unknown", async () => {
    const response = await world().call("GET", "/v1/models/nope");
    expect([response.status, (await readProblem(response)).errors]).toEqual([404, [{ field: "model_id", detail: "no such model" }]]);
  });
});

describe("asking the provider for a model's limits", () => {
  it("keeps them as suggestions", async () => {
    const kept: unknown[] = [];
    const { call } = world({
      tenant: {
        getModel: async () => ok(modelEntry()),
        suggestLimit: async (suggested) => {
          kept.push(suggested);
          return ok([]);
        },
      },
      deps: { probeLimits: async () => ok({ context_window: 32_768 }) },
    });

    expect((await call("POST", "/v1/models/m/probe")).status).toBe(200);
    expect(kept).toEqual([{ model: "m", context_window: 32_768, source: "provider_endpoint" }]);
  });

  it("goes to no address that the deployment does not allow any more", async () => {
    let asked = 0;
    const probeLimits = async () => {
      asked += 1;
      return ok({ context_window: 1 });
    };
    const getModel = async () => ok(modelEntry({ base_url: "http://169.254.169.254/v1" }));
    const response = await world({ tenant: { getModel }, deps: { probeLimits } }).call("POST", "/v1/models/m/probe");

    expect([response.status, asked]).toEqual([400, 0]);
    expect((await readProblem(response)).errors).toMatchObject([{ field: "base_url" }]);
  });

  it.each<[ProbeFailure["reason"], number]>([
    ["unsupported", 422],
    ["unreachable", 502],
    ["refused", 502],
    ["malformed", 502],
    ["unknown_model", 422],
    ["no_limits", 422],
  ])("that comes to nothing says why: %s", async (reason, status) => {
    const { call } = world({
      tenant: { getModel: async () => ok(modelEntry()) },
      deps: { probeLimits: async () => err({ reason, status: 418 }) },
    });

    const response = await call("POST", "/v1/models/m/probe");

    expect(response.status).toBe(status);
    expect(await readProblem(response)).toMatchObject({ reason, provider_status: 418 });
  });
});
