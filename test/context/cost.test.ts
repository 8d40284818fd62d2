import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeCost, costField } from "../../src/context/cost";
import type { Prices } from "../../src/context/economy";
import type { CallUsage } from "../../src/domain/model-call";

const PRICES: Prices = { input: 3e-6, cache_write: 3.75e-6, cached: 3e-7, output: 1.5e-5 };
const usage = (change: Partial<CallUsage> = {}): CallUsage => ({ input: 1_000, output: 100, cached: 0, reasoning: 0, ...change });

describe("what a call cost", () => {
  test("is each token once, at the price of its kind", () => {
    expect(computeCost(usage({ cached: 600, cache_write: 300 }), PRICES)).toBe(0.0003 + 0.00018 + 0.001125 + 0.0015);
  });

  test("has thinking that is part of the output in it once", () => {
    expect(computeCost(usage({ reasoning: 100 }), PRICES)).toBe(computeCost(usage(), PRICES));
  });

  test("has thinking that was counted beside the output in it too", () => {
    expect(computeCost(usage({ reasoning: 400 }), PRICES)).toBe(computeCost(usage({ output: 500 }), PRICES));
  });

  test("is unknown without prices, and without a count", () => {
    expect(computeCost(usage(), null)).toBeNull();
    expect(computeCost(null, PRICES)).toBeNull();
  });

  test("is unknown where the parts of the input are more than the input", () => {
    expect(computeCost(usage({ cached: 700, cache_write: 301 }), PRICES)).toBeNull();
    expect(computeCost(usage({ cached: 700, cache_write: 300 }), PRICES)).not.toBeNull();
  });

  test("is nothing where every price is nothing", () => {
    expect(computeCost(usage({ cached: 10 }), { input: 0, cache_write: 0, cached: 0, output: 0 })).toBe(0);
  });

  test("lies between the cheapest and the dearest way to read and write so many tokens", () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, count, count, count, (cached, cache_write, uncached, output, reasoning) => {
        const cost = computeCost({ input: cached + cache_write + uncached, cached, cache_write, output, reasoning }, PRICES) ?? Number.NaN;
        const tokens = cached + cache_write + uncached;
        const written = (output + (reasoning > output ? reasoning : 0)) * PRICES.output;
        expect(cost).toBeGreaterThanOrEqual(tokens * PRICES.cached + written - 1e-9);
        expect(cost).toBeLessThanOrEqual(tokens * PRICES.cache_write + written + 1e-9);
      }),
    );
  });
});

describe("the field of a call", () => {
  test("is there where the cost is known, also where it is nothing", () => {
    expect(costField({ usage: usage(), estimate: 900 }, PRICES)).toEqual({ cost: 0.0045 });
    expect(costField({ usage: usage(), estimate: 900 }, { input: 0, cache_write: 0, cached: 0, output: 0 })).toEqual({ cost: 0 });
  });

  test("is nothing for a refused call, whether prices are known or not, unless it reports what it used", () => {
    expect(costField({ usage: null, estimate: 900, isFree: true }, PRICES)).toEqual({ cost: 0 });
    expect(costField({ usage: usage({ input: 0, output: 0 }), estimate: 900, isFree: true }, undefined)).toEqual({ cost: 0 });
    expect(costField({ usage: usage(), estimate: 900, isFree: true }, PRICES)).toEqual({ cost: 0.0045 });
    expect(costField({ usage: usage(), estimate: 900, isFree: true }, undefined)).toEqual({});
  });

  test.each([
    ["no prices", usage(), 900, undefined],
    ["no usage", null, 900, PRICES],
    ["zeros from a gateway that does not count", usage({ input: 0, output: 0 }), 900, PRICES],
    ["an input that cannot be all of the request", usage({ input: 100 }), 900, PRICES],
  ])("is absent with %s: unknown is never free", (_, reported, estimate, prices) => {
    expect(costField({ usage: reported, estimate }, prices)).toEqual({});
  });
});
