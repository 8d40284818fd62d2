/** What only Anthropic says in its own way: how much to think, one call at most, and the schema of the reply. */
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { ModelRequest } from "../app/ports";
import type { Effort } from "../context/generation";
import { readClaudeModel } from "../context/model-families";
import { findParallel, findStrictness } from "./generation-options";
import type { SdkMessage } from "./sdk-prompt";

type Options = Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "reasoning" | "providerOptions">;

interface Built {
  readonly prompt: readonly SdkMessage[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** The most tokens of the reply with its thinking. */
  readonly cap: number;
}

export function toClaudeOptions(request: ModelRequest, built: Built): Options {
  const isSingle = findParallel(request, built.tools) === false;
  const own = {
    ...(isSingle && { disableParallelToolUse: true }),
    // Without it, the package would ask for a call of an invented tool where it takes a schema for a difficult one.
    ...(findStrictness(request) !== null && { structuredOutputMode: "outputFormat" }),
  };
  const { thinking, ...rest } = toThinking(request, built);
  const anthropic = { ...own, ...(thinking && { thinking }) };
  return { ...rest, ...(Object.keys(anthropic).length > 0 && { providerOptions: { anthropic } }) };
}

/** The share of the cap that a model may think. */
const SHARES: Readonly<Record<Exclude<Effort, "none">, number>> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8 };
/** The fewest tokens of thinking that Anthropic takes. */
const LEAST_BUDGET = 1_024;

interface Thinking extends Pick<Options, "maxOutputTokens" | "reasoning"> {
  readonly thinking?: { readonly type: "enabled"; readonly budgetTokens: number };
}

/**
 * A model that thinks by a number of tokens counts them into `max_tokens`, which the package adds up. So the cap is divided here, and
 * request and cap together stay within the window. A cap that leaves no room for thinking is kept, and the model answers at once.
 */
function toThinking({ generation, model }: ModelRequest, { prompt, cap }: Built): Thinking {
  const effort = generation?.reasoning?.effort;
  if (effort === undefined) return {};
  if (effort === "none" || readClaudeModel(model.upstream_id).thinking === "adaptive") return { reasoning: effort };
  const budgetTokens = Math.max(LEAST_BUDGET, Math.floor(cap * SHARES[effort]));
  if (budgetTokens >= cap || !mayThink(prompt)) return {};
  return { maxOutputTokens: cap - budgetTokens, thinking: { type: "enabled", budgetTokens } };
}

/** While calls are being answered, the reply that made them must begin with its thinking, or thinking must be off. */
function mayThink(prompt: readonly SdkMessage[]): boolean {
  if (prompt.at(-1)?.role !== "tool") return true;
  const called = prompt.findLast(({ role }) => role === "assistant");
  return called?.role === "assistant" && called.content[0]?.type === "reasoning";
}
