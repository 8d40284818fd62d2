/** Usage as the AI SDK reports it for every provider: `input` the total with all of the cache, what a provider did not say undefined. */
import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { CallUsage } from "../domain/model-call";
import { asCount } from "./wire-chunk";

/** Null: not reported, or not in numbers that can be. */
export function toCallUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): CallUsage | null {
  const input = asCount(inputTokens.total);
  const output = asCount(outputTokens.total);
  if (input === null || output === null) return null;
  const written = asCount(inputTokens.cacheWrite);
  return {
    input,
    output,
    cached: asCount(inputTokens.cacheRead) ?? 0,
    reasoning: asCount(outputTokens.reasoning) ?? 0,
    ...(written === null ? {} : { cache_write: written }),
  };
}
