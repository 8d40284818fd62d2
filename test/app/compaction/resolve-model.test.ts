import { describe, expect, test } from "vitest";
import type { Log, ModelDirectory, ModelSpec } from "../../../src/app/ports";
import { resolveModel } from "../../../src/app/request/resolve-model";

const silent: Log = { info() {}, warn() {}, error() {} };
const spec: ModelSpec = {
  id: "m",
  provider: "embedded",
  upstream_id: "m",
  base_url: null,
  context_window: null,
  max_output: 10,
  source: "deployment",
};

/** A timer that fires when the test says so, and that knows whether it was cancelled. */
function timer() {
  let ring = (): void => {};
  const state = { cancelled: false };
  const schedule = (_ms: number, work: () => void) => {
    ring = work;
    return () => {
      state.cancelled = true;
    };
  };
  return { schedule, state, ring: () => ring() };
}

const look = (resolve: ModelDirectory["resolve"], { schedule } = timer()) =>
  resolveModel("m", { models: { resolve }, schedule, log: silent });

describe("a model is looked up", () => {
  test("and found, and the timer does not outlive the look-up", async () => {
    const clock = timer();
    expect(await look(async () => spec, clock)).toEqual({ ok: true, value: spec });
    expect(clock.state.cancelled).toBe(true);
  });

  test("in vain: a model that the tenant does not have differs from a failed look-up", async () => {
    expect(await look(async () => null)).toEqual({ ok: false, error: "unknown_model" });
    expect(await look(async () => Promise.reject(new Error("down")))).toEqual({ ok: false, error: "unavailable" });
  });

  test("within a bound: a registry that never answers does not block for ever", async () => {
    const clock = timer();
    const found = look(() => new Promise<null>(() => {}), clock);
    clock.ring();
    expect(await found).toEqual({ ok: false, error: "unavailable" });
  });
});
