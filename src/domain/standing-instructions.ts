/**
 * The standing instructions for a session's summaries: what a client or an operator wants each of them to pay attention
 * to. Their text is a body; a plan names it, so that each part of a summary follows the same text.
 */
import type { CompactionFailure, CompactionOptions, SummaryPlan } from "./compaction-events";
import type { SessionSettings } from "./events";
import type { TextRef } from "./message";
import type { SummaryInstructions } from "./receipt";

/** A policy that is named for one compaction may bring its own. Otherwise the session's take precedence over its policy's. */
export function findInstructions(settings: SessionSettings, options: CompactionOptions | null): TextRef | null {
  const named = options?.policy_instructions;
  return named === undefined ? (settings.summary_instructions ?? settings.policy_instructions ?? null) : named;
}

/**
 * Failures of an answer that the summariser did give. Instructions that contradict the form, or that the model refuses,
 * end like this, and would end every attempt alike.
 */
const UNUSABLE: ReadonlySet<CompactionFailure> = new Set([
  "empty",
  "cut_off",
  "too_long",
  "not_smaller",
  "sections_missing",
  "refused",
] as const);

/**
 * Whether the instructions may be why an attempt failed. A turn's own request with an added instruction is refused
 * mostly because the model called one of its tools.
 */
export const mayBlameInstructions = (failure: CompactionFailure, { mode }: Pick<SummaryPlan, "mode">): boolean =>
  UNUSABLE.has(failure) && !(failure === "refused" && mode === "same_prefix");

/** What a receipt says of the instructions. Null when there were none. */
export function toSummaryInstructions(plan: Pick<SummaryPlan, "instructions" | "instructions_left_out">): SummaryInstructions | null {
  if (plan.instructions) return "applied";
  return plan.instructions_left_out ? "left_out" : null;
}
