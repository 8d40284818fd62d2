import { describe, expect, it, vi } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { createLookUpCache, LAST_ANSWER_MS, LOOK_UP_TTL_MS } from "../../src/tenant/look-ups/look-up-cache";
import { createTestClock } from "./support";

function spec(changes: Partial<ModelSpec> = {}): ModelSpec {
  return {
    id: "m",
    provider: "embedded",
    upstream_id: "m",
    base_url: null,
    context_window: 8_000,
    max_output: 1_024,
    source: "tenant",
    ...changes,
  };
}

function given() {
  const clock = createTestClock();
  const resolveModel = vi.fn<(id: string) => Promise<ModelSpec | null>>(async () => spec());
  return { clock, resolveModel, directory: { resolve: createLookUpCache({ ask: resolveModel, now: clock.now }) } };
}

describe("looking up a model", () => {
  it("asks the tenant once within the time that an answer holds", async () => {
    const { clock, resolveModel, directory } = given();
    await directory.resolve("m");
    clock.advance(LOOK_UP_TTL_MS - 1);
    expect(await directory.resolve("m")).toEqual(spec());
    expect(resolveModel).toHaveBeenCalledTimes(1);
  });

  it("sees a change when that time is over", async () => {
    const { clock, resolveModel, directory } = given();
    await directory.resolve("m");
    resolveModel.mockResolvedValue(spec({ context_window: 4_000 }));
    clock.advance(LOOK_UP_TTL_MS);
    expect((await directory.resolve("m"))?.context_window).toBe(4_000);
  });

  it("goes on with the last known answer while the tenant is out of reach, and asks again now and then", async () => {
    const { clock, resolveModel, directory } = given();
    await directory.resolve("m");
    resolveModel.mockRejectedValue(new Error("unreachable"));
    clock.advance(LAST_ANSWER_MS - 1);
    expect(await directory.resolve("m")).toEqual(spec());
    expect(await directory.resolve("m")).toEqual(spec());
    expect(resolveModel).toHaveBeenCalledTimes(2);
    resolveModel.mockResolvedValue(spec({ context_window: 4_000 }));
    clock.advance(5_000);
    expect((await directory.resolve("m"))?.context_window).toBe(4_000);
  });

  it("throws for a model that was seen an hour ago while the tenant is out of reach", async () => {
    const { clock, resolveModel, directory } = given();
    await directory.resolve("m");
    resolveModel.mockRejectedValue(new Error("unreachable"));
    clock.advance(LAST_ANSWER_MS);
    await expect(directory.resolve("m")).rejects.toThrow("unreachable");
  });

  it("throws for a model never seen while the tenant is out of reach", async () => {
    const { resolveModel, directory } = given();
    resolveModel.mockRejectedValue(new Error("unreachable"));
    await expect(directory.resolve("m")).rejects.toThrow("unreachable");
  });

  it("finds a model in the moment after it was unknown", async () => {
    const { resolveModel, directory } = given();
    resolveModel.mockResolvedValueOnce(null);
    expect(await directory.resolve("m")).toBeNull();
    expect(await directory.resolve("m")).toEqual(spec());
  });

  it("a model that was removed is not brought back by a failure", async () => {
    const { clock, resolveModel, directory } = given();
    await directory.resolve("m");
    clock.advance(LOOK_UP_TTL_MS);
    resolveModel.mockResolvedValueOnce(null);
    await directory.resolve("m");
    resolveModel.mockRejectedValue(new Error("unreachable"));
    await expect(directory.resolve("m")).rejects.toThrow("unreachable");
  });
});
