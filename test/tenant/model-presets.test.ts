import { describe, expect, it } from "vitest";
import { knownWindow, MODEL_PRESETS } from "../../src/tenant/model-presets";

describe("known windows", () => {
  it.each([
    ["gpt-4o", 128_000],
    ["o1", 200_000],
    ["gemini-2.0-flash", 1_048_576],
    ["claude-haiku-3-5-20241022", 200_000],
  ])("%s has the window that RFC-011 or FEAT-011 gives it", (id, window) => {
    expect(knownWindow(id)).toBe(window);
  });

  it.each([
    ["claude-anything", 200_000],
    ["grok-3-mini", 131_072],
    ["deepseek-chat", 64_000],
  ])("%s falls under a pattern of ADR 097", (id, window) => {
    expect(knownWindow(id)).toBe(window);
  });

  it("a model known by name goes before its family", () => {
    expect(knownWindow("claude-opus-5-5")).toBe(1_000_000);
  });

  it.each(["", "unknown", "gpt-4o-audio", "my-claude-copy", "toString"])("the window of %j is unknown", (id) => {
    expect(knownWindow(id)).toBeNull();
  });

  it("no model is listed twice", () => {
    expect(new Set(MODEL_PRESETS.map((preset) => preset.id)).size).toBe(MODEL_PRESETS.length);
  });
});
