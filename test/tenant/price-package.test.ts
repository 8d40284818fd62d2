import { describe, expect, it } from "vitest";
import type { ModelOverride } from "../../src/app/model-entry";
import { perMillion, toPerMillion, toPerToken } from "../../src/context/price-units";
import { buildFindPrices, loadPrices } from "../../src/tenant/settings/price-package";

const NOW = Date.UTC(2026, 10, 22);
const find = await loadPrices(() => NOW);
const of = (provider: ModelOverride["provider"], upstream_id: string, base_url: string | null = null) => {
  const prices = find({ provider, upstream_id, base_url });
  return prices && toPerMillion(prices);
};

describe("the price of a model for which none is set", () => {
  it.each<[string, ModelOverride["provider"], string]>([
    ["Responses", "openai", "gpt-4o"],
    ["chat completions", "openai-chat", "gpt-4o"],
  ])("is what its provider asks: OpenAI by %s", (_, provider, id) => {
    expect(of(provider, id)).toEqual({ input: 2.5, output: 10, cached: 1.25, cache_write: 2.5 });
  });

  it("tells writing the cache from reading it where the provider does", () => {
    const prices = of("anthropic", "claude-sonnet-4-5-20250929");
    expect(prices?.cache_write).toBeGreaterThan(prices?.input ?? Number.POSITIVE_INFINITY);
    expect(prices?.cached).toBeLessThan(prices?.input ?? 0);
  });

  it("is the lowest tier's where it grows with the request", () => {
    expect(of("google", "gemini-2.5-pro")).toMatchObject({ input: 1.25, output: 10 });
  });

  it("is known of sellers by their address", () => {
    expect(of("openai-compatible", "grok-3", "https://api.x.ai/v1")).toMatchObject({ input: 3, output: 15 });
    expect(of("openai-compatible", "deepseek-chat", "https://api.deepseek.com/v1")).not.toBeNull();
  });

  it.each<[string, ModelOverride["provider"], string, string | null]>([
    ["of a name that the package does not have", "openai", "my-own", null],
    ["at a custom address, whatever a model of its name costs elsewhere", "openai-compatible", "gpt-4o", "https://llm.example.com/v1"],
    ["behind a proxy to the provider", "openai", "gpt-4o", "https://proxy.example.com/v1"],
    ["of the embedded model", "embedded", "gpt-4o", null],
  ])("is unknown, never 0: %s", (_, provider, id, base_url) => {
    expect(of(provider, id, base_url)).toBeNull();
  });

  it("is unknown where the package says a part of it, or throws", () => {
    const model = { provider: "openai", upstream_id: "m", base_url: null } as const;
    const found = (model_price: Record<string, number>) => ({ model_price });
    expect(
      buildFindPrices(
        () => found({ input_mtok: 1 }),
        () => NOW,
      )(model),
    ).toBeNull();
    expect(
      buildFindPrices(
        () => found({}),
        () => NOW,
      )(model),
    ).toBeNull();
    const failing = () => {
      throw new Error("an unknown unit");
    };
    expect(buildFindPrices(failing, () => NOW)(model)).toBeNull();
  });
});

describe("the package", () => {
  it("is asked again after ten minutes, since some prices change with the hour", () => {
    let [at, asked] = [0, 0];
    const find = buildFindPrices(
      () => {
        asked += 1;
        return { model_price: { input_mtok: asked, output_mtok: 1 } };
      },
      () => at,
    );
    const inputAt = (time: number): number | undefined => {
      at = time;
      const prices = find({ provider: "openai", upstream_id: "m", base_url: null });
      return prices?.input && perMillion(prices.input);
    };
    expect([inputAt(0), inputAt(599_999), inputAt(600_000)]).toEqual([1, 1, 2]);
  });
});

describe("the units of prices", () => {
  it.each([0, 0.15, 0.075, 2.5, 3, 3.75, 0.000_1, 75, 99_999.999])("%d US dollars per million are the same again", (price) => {
    const prices = { input: price, output: price, cached: price, cache_write: price };
    expect(toPerMillion(toPerToken(prices))).toEqual(prices);
    expect(perMillion(toPerToken(prices).input)).toBe(price);
  });
});
