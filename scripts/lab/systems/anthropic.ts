/**
 * Anthropic's Messages API, context editing and compaction (documentation: "Context editing", `clear_tool_uses_20250919`,
 * and "Compaction", `compact_20260112`), both with their defaults: above 100,000 input tokens all but the newest 3 tool
 * results are replaced by a placeholder, in each request anew, for the client goes on sending all; above 150,000 the whole
 * conversation becomes a summary, and nothing before it is sent any more. The provider counts, so it counts exactly.
 */
import { type Ask, isResult, type Moment, madeUp, reduceResult, type Show, type System, type SystemMessage, scaled } from "./system.ts";

const CLEAR_TRIGGER = 100_000;
const KEPT_RESULTS = 3;
const COMPACT_TRIGGER = 150_000;
const CLEARED = "[Old tool result cleared]";

function decide({ messages, exact, window, maxOutput }: Moment): Ask | Show | null {
  if (exact > scaled(COMPACT_TRIGGER, window)) {
    const becomes = (summary: string): SystemMessage[] => [madeUp("user", `<summary>\n${summary}\n</summary>`)];
    return { kind: "summarise", reads: messages, form: "same_prefix", cap: maxOutput, trims: false, most: null, becomes };
  }
  if (exact <= scaled(CLEAR_TRIGGER, window)) return null;
  const results = messages.filter(isResult);
  const old = new Set(results.slice(0, Math.max(0, results.length - KEPT_RESULTS)).filter(({ shows }) => shows === null));
  if (old.size === 0) return null;
  return {
    kind: "show",
    isEpoch: true,
    messages: messages.map((message) => (old.has(message) ? reduceResult(message, CLEARED, 0) : message)),
  };
}

export const anthropic: System = {
  name: "anthropic clear + compact",
  source: "Anthropic API documentation: context editing, compaction",
  recovers: false,
  decide,
};
