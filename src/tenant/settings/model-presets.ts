/**
 * Known models by name, in tokens. The windows of older models come from the policies of earlier projects
 * (docs/policy.md, sources), with the exact figure where those differ, as for gemini-2.0-flash. All other figures come from the
 * providers' pages of November 2026. A figure that they round to three digits is rounded down here, so that an error
 * leads to compacting early.
 */
import type { ModelOverride } from "../../app/model-entry";
import type { ModelCapabilities } from "../../context/model-input";

interface KnownModel {
  readonly context_window: number;
  readonly max_output: number;
  /** Absent: unknown. */
  readonly capabilities?: ModelCapabilities;
}

interface ModelPreset extends KnownModel {
  readonly id: string;
}

/** Reads text and images, and calls tools. */
const SEEING: ModelCapabilities = { tools: true, images: true, files: false, reasoning: false };
/** Reads PDF files, too. */
const READING: ModelCapabilities = { tools: true, images: true, files: true, reasoning: false };
const THINKING: ModelCapabilities = { tools: true, images: true, files: true, reasoning: true };
const THINKING_IN_WORDS: ModelCapabilities = { tools: true, images: false, files: false, reasoning: true };
const THINKING_OF_IMAGES: ModelCapabilities = { tools: true, images: true, files: false, reasoning: true };

type Row = readonly [id: string, context_window: number, max_output: number, capabilities: ModelCapabilities];

const ROWS: readonly Row[] = [
  ["gpt-4o", 128_000, 16_384, READING],
  ["gpt-4o-mini", 128_000, 16_384, READING],
  ["gpt-4-turbo", 128_000, 4_096, SEEING],
  ["o1", 200_000, 100_000, THINKING],
  ["o3-mini", 200_000, 100_000, THINKING_IN_WORDS],
  ["claude-opus-4-5-20251101", 200_000, 64_000, THINKING],
  ["claude-sonnet-4-5-20250929", 200_000, 64_000, THINKING],
  ["claude-haiku-4-5-20251001", 200_000, 64_000, THINKING],
  ["claude-sonnet-4-20250514", 200_000, 64_000, THINKING],
  ["claude-opus-4-20250514", 200_000, 32_000, THINKING],
  ["claude-haiku-3-5-20241022", 200_000, 8_192, READING],
  ["gemini-2.0-flash", 1_048_576, 8_192, READING],
  ["gemini-2.5-pro", 1_048_576, 65_536, THINKING],
  ["gemini-2.5-pro-preview-05-06", 1_048_576, 65_536, THINKING],
  ["gpt-6-sol", 1_050_000, 128_000, THINKING],
  ["gpt-6-luna", 1_050_000, 128_000, THINKING],
  ["gpt-6-astra", 1_050_000, 128_000, THINKING],
  ["claude-opus-5-5", 1_000_000, 128_000, THINKING],
  ["claude-sonnet-5-5", 1_000_000, 128_000, THINKING],
  ["gemini-3.5-flash", 1_048_576, 65_536, THINKING],
  ["grok-4.3", 1_000_000, 131_072, THINKING_OF_IMAGES],
];

export const MODEL_PRESETS: readonly ModelPreset[] = ROWS.map(([id, context_window, max_output, capabilities]) => ({
  id,
  context_window,
  max_output,
  capabilities,
}));

/** The embedded model's figures, under whatever name it is registered. It reads text and tool results. */
export const EMBEDDED: KnownModel = {
  context_window: 32_000,
  max_output: 1_024,
  capabilities: { tools: true, images: false, files: false, reasoning: false },
};

/**
 * Families of models, by the beginning of the id, for ids that no preset names. The windows come from preset `yeoman` (docs/policy.md). The
 * max outputs are what every served model of the family can write, since a larger request is refused. Sources for
 * deepseek-chat differ, up to 1,000,000 tokens: the cautious figure of that preset holds until the tenant registers another.
 */
const FAMILIES: readonly (KnownModel & { readonly prefix: string })[] = [
  { prefix: "claude-", context_window: 200_000, max_output: 8_192 },
  { prefix: "grok-3", context_window: 131_072, max_output: 8_192 },
  { prefix: "deepseek-", context_window: 64_000, max_output: 8_192 },
];

/** Finds a model by its upstream id. Null when nothing is known. Figures in the registry take precedence over these. */
export function knownModel({ provider, upstream_id }: Pick<ModelOverride, "provider" | "upstream_id">): KnownModel | null {
  if (provider === "embedded") return EMBEDDED;
  const preset = MODEL_PRESETS.find(({ id }) => id === upstream_id);
  return preset ?? FAMILIES.find(({ prefix }) => upstream_id.startsWith(prefix)) ?? null;
}
