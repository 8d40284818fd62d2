import { expect, it } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { toModelLimits } from "../../src/app/request/build-request";

const spec: ModelSpec = {
  id: "m",
  provider: "openai",
  upstream_id: "m",
  base_url: null,
  context_window: null,
  max_output: 1,
  source: "tenant",
};
const prices = { input: 0.000_003, output: 0.000_015, cached: 0.000_000_3, cache_write: 0.000_003 };

it("a model's prices are planned with where they are known and not nothing", () => {
  expect(toModelLimits({ ...spec, prices }).prices).toEqual(prices);
  expect(toModelLimits(spec).prices).toBeNull();
  expect(toModelLimits({ ...spec, prices: { input: 0, output: 0, cached: 0, cache_write: 0 } }).prices).toBeNull();
});
