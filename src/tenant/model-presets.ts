/**
 * Context windows, in tokens, of models that are known by name. RFC-011 "Preset Model Context Window Sizes", FEAT-011
 * "Pre-seeded Model Context Window Sizes", ADR 097 "Model context-window registry". Where ADR 097 rounds
 * (gemini-2.0-flash: 1,000,000) the exact figure of the other two stands. `2026-11`: the providers' pages of that
 * month; a figure that they give to three digits only is rounded down, so that it errs towards compacting early.
 */
export type PresetSource = "RFC-011" | "FEAT-011" | "ADR 097" | "2026-11";

export interface ModelPreset {
  readonly id: string;
  readonly context_window: number;
  readonly sources: readonly PresetSource[];
}

export const MODEL_PRESETS: readonly ModelPreset[] = [
  { id: "gpt-4o", context_window: 128_000, sources: ["RFC-011", "FEAT-011", "ADR 097"] },
  { id: "gpt-4o-mini", context_window: 128_000, sources: ["RFC-011", "FEAT-011"] },
  { id: "gpt-4-turbo", context_window: 128_000, sources: ["FEAT-011", "ADR 097"] },
  { id: "o1", context_window: 200_000, sources: ["RFC-011"] },
  { id: "o3-mini", context_window: 200_000, sources: ["RFC-011"] },
  { id: "claude-opus-4-5-20251101", context_window: 200_000, sources: ["RFC-011"] },
  { id: "claude-sonnet-4-5-20250929", context_window: 200_000, sources: ["RFC-011"] },
  { id: "claude-haiku-4-5-20251001", context_window: 200_000, sources: ["RFC-011"] },
  { id: "claude-sonnet-4-20250514", context_window: 200_000, sources: ["FEAT-011"] },
  { id: "claude-opus-4-20250514", context_window: 200_000, sources: ["FEAT-011"] },
  { id: "claude-haiku-3-5-20241022", context_window: 200_000, sources: ["FEAT-011"] },
  { id: "gemini-2.0-flash", context_window: 1_048_576, sources: ["RFC-011", "FEAT-011"] },
  { id: "gemini-2.5-pro", context_window: 1_048_576, sources: ["RFC-011"] },
  { id: "gemini-2.5-pro-preview-05-06", context_window: 1_048_576, sources: ["FEAT-011"] },
  { id: "gpt-6-sol", context_window: 1_000_000, sources: ["2026-11"] },
  { id: "gpt-6-luna", context_window: 1_000_000, sources: ["2026-11"] },
  { id: "gpt-6-astra", context_window: 1_000_000, sources: ["2026-11"] },
  { id: "claude-opus-5-5", context_window: 1_000_000, sources: ["2026-11"] },
  { id: "claude-sonnet-5-5", context_window: 1_000_000, sources: ["2026-11"] },
  { id: "gemini-3.5-flash", context_window: 1_000_000, sources: ["2026-11"] },
  { id: "grok-4.3", context_window: 1_000_000, sources: ["2026-11"] },
];

/** The stand-in's own, whatever it is called. */
export const EMBEDDED_WINDOW = 32_000;

/** ADR 097's patterns, for ids that no preset names: what the id starts with. */
const FAMILIES: readonly { readonly prefix: string; readonly context_window: number }[] = [
  { prefix: "claude-", context_window: 200_000 },
  { prefix: "grok-3", context_window: 131_072 },
  { prefix: "deepseek-", context_window: 64_000 },
];

/** The window in tokens of a model known by its provider's name; null: unknown. What the registry says goes before it. */
export function knownWindow(modelId: string): number | null {
  const named = MODEL_PRESETS.find((preset) => preset.id === modelId) ?? FAMILIES.find((family) => modelId.startsWith(family.prefix));
  return named?.context_window ?? null;
}
