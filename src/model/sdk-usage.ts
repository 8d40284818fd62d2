/**
 * Converts usage from the AI SDK's shape, which is the same for every provider: `input` is the total including all cached
 * tokens, and a value that the provider did not report is undefined.
 */
import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { CallUsage } from "../domain/model-call";
import { asCount } from "./wire-chunk";

/** Null when usage was not reported, or not in valid numbers. */
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
