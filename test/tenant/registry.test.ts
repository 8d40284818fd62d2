import { describe, expect, it } from "vitest";
import type { ModelOverride } from "../../src/app/tenant-api";
import { buildDeploymentModels, createRegistry, MAX_MODELS } from "../../src/tenant/registry";
import { createMigratedSql } from "./memory-sql";

function model(changes: Partial<ModelOverride> = {}): ModelOverride {
  return {
    provider: "openai-compatible",
    upstream_id: "gpt-4o",
    base_url: "https://api.example.com/v1",
    context_window: 128_000,
    max_output: 4_096,
    ...changes,
  };
}

function given(models: Record<string, ModelOverride> = {}) {
  return createRegistry(createMigratedSql(), buildDeploymentModels(models));
}

describe("the models of a tenant", () => {
  it("the embedded one is there without any configuration", () => {
    expect(given().list()).toEqual([
      {
        id: "embedded",
        provider: "embedded",
        upstream_id: "embedded",
        base_url: null,
        context_window: 32_000,
        max_output: 1_024,
        source: "deployment",
      },
    ]);
  });

  it("the deployment can change the limits of the embedded one", () => {
    const registry = given({ embedded: model({ provider: "embedded", base_url: null, context_window: 8_000 }) });
    expect(registry.resolve("embedded")?.context_window).toBe(8_000);
  });

  it("the tenant's own goes before the deployment's, and is marked as the tenant's", () => {
    const registry = given({ fast: model() });
    registry.put("fast", model({ base_url: "https://mine.example.com", context_window: null }));
    expect(registry.resolve("fast")).toEqual({
      ...model({ base_url: "https://mine.example.com", context_window: null }),
      id: "fast",
      source: "tenant",
    });
    expect(registry.list().map((spec) => [spec.id, spec.source])).toEqual([
      ["embedded", "deployment"],
      ["fast", "tenant"],
    ]);
  });

  it("putting a model again replaces all of it", () => {
    const registry = given();
    registry.put("m", model());
    registry.put("m", model({ upstream_id: "other", base_url: null, context_window: null, max_output: 1 }));
    expect(registry.resolve("m")).toMatchObject({ upstream_id: "other", base_url: null, context_window: null, max_output: 1 });
  });

  it("removing the tenant's own shows the deployment's again", () => {
    const registry = given({ fast: model() });
    registry.put("fast", model({ context_window: 4_096 }));
    expect(registry.remove("fast")).toEqual({ ok: true, value: null });
    expect(registry.resolve("fast")).toMatchObject({ context_window: 128_000, source: "deployment" });
  });

  it("the deployment's own cannot be removed by a tenant", () => {
    const registry = given({ fast: model() });
    expect(registry.remove("fast")).toEqual({ ok: false, error: { code: "model_not_found", model: "fast" } });
    expect(registry.resolve("fast")).not.toBeNull();
  });

  it.each(["nope", "", "__proto__", "toString", "' OR 1=1 --"])("there is no model %j", (id) => {
    expect(given({ fast: model() }).resolve(id)).toBeNull();
  });
});

describe("the number of a tenant's own models", () => {
  it("is bounded; one that is there can still be changed, and the deployment's do not count", () => {
    const registry = given({ fast: model() });
    for (let n = 1; n <= MAX_MODELS; n++) expect(registry.put(`m${n}`, model()).ok).toBe(true);

    expect(registry.put("one-more", model())).toEqual({ ok: false, error: { code: "model_limit", limit: MAX_MODELS } });
    expect(registry.put("fast", model())).toMatchObject({ ok: false });
    expect(registry.put("m1", model({ max_output: 7 }))).toMatchObject({ ok: true, value: { max_output: 7 } });
    registry.remove("m2");
    expect(registry.put("one-more", model()).ok).toBe(true);
  });
});
