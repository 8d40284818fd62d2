import { describe, expect, it } from "vitest";
import { EMBEDDED, knownModel, MODEL_PRESETS } from "../../src/tenant/settings/model-presets";

const known = (upstream_id: string) => knownModel({ provider: "openai-compatible", upstream_id });

describe("known limits", () => {
  it.each([
    ["gpt-4o", 128_000, 16_384],
    ["gpt-4o-mini", 128_000, 16_384],
    ["gpt-4-turbo", 128_000, 4_096],
    ["o1", 200_000, 100_000],
    ["o3-mini", 200_000, 100_000],
    ["claude-opus-4-5-20251101", 200_000, 64_000],
    ["claude-sonnet-4-5-20250929", 200_000, 64_000],
    ["claude-haiku-4-5-20251001", 200_000, 64_000],
    ["claude-sonnet-4-20250514", 200_000, 64_000],
    ["claude-opus-4-20250514", 200_000, 32_000],
    ["claude-haiku-3-5-20241022", 200_000, 8_192],
    ["gemini-2.0-flash", 1_048_576, 8_192],
    ["gemini-2.5-pro", 1_048_576, 65_536],
    ["gemini-2.5-pro-preview-05-06", 1_048_576, 65_536],
  ])("%s has its exact window and its provider's maximum output", (id, context_window, max_output) => {
    expect(known(id)).toMatchObject({ context_window, max_output });
  });

  it.each([
    ["gpt-6-sol", 1_050_000],
    ["gpt-6-luna", 1_050_000],
    ["gpt-6-astra", 1_050_000],
    ["claude-opus-5-5", 1_000_000],
    ["claude-sonnet-5-5", 1_000_000],
    ["gemini-3.5-flash", 1_048_576],
    ["grok-4.3", 1_000_000],
  ])("%s, of today, has the window of its provider's page", (id, context_window) => {
    expect(known(id)).toMatchObject({ context_window });
  });

  it.each([
    ["claude-anything", 200_000],
    ["grok-3", 131_072],
    ["grok-3-mini", 131_072],
    ["deepseek-chat", 64_000],
  ])("%s matches the prefix of its family, with a maximum output that every model of the family supports", (id, context_window) => {
    expect(known(id)).toEqual({ prefix: expect.any(String), context_window, max_output: 8_192 });
  });

  it("a model known by name goes before its family", () => {
    expect(known("claude-opus-5-5")?.context_window).toBe(1_000_000);
  });

  it.each(["", "unknown", "gpt-4o-audio", "my-claude-copy", "toString"])("nothing is known of %j", (id) => {
    expect(known(id)).toBeNull();
  });

  it("the embedded model has its own, whatever it is called", () => {
    expect(knownModel({ provider: "embedded", upstream_id: "gpt-4o" })).toBe(EMBEDDED);
  });

  it("a reply is smaller than the window, and both are whole numbers", () => {
    for (const { context_window, max_output } of MODEL_PRESETS) {
      expect(Number.isInteger(context_window) && Number.isInteger(max_output) && max_output < context_window).toBe(true);
    }
  });

  it("no model is listed twice", () => {
    expect(new Set(MODEL_PRESETS.map((preset) => preset.id)).size).toBe(MODEL_PRESETS.length);
  });
});
