/** When and how far a conversation is compacted. One schema, validated at the edge; presets are values of it. */
import { z } from "zod";

export const policySchema = z.strictObject({
  /** Compaction starts when the next request would exceed this share of the window. */
  trigger_ratio: z.number().min(0.1).max(0.95),
  /** The newest messages, up to this share of the window, stay verbatim. */
  keep_ratio: z.number().min(0.01).max(0.9),
  /** Most tokens of a summary. */
  summary_max_tokens: z.int().min(64),
  /** Summariser calls before the oldest groups leave the view without a summary. */
  attempts: z.int().min(1).max(5),
  /** One summariser call may take this long, in milliseconds. */
  summary_timeout_ms: z.int().min(100),
  /** A tool result is cut at this many characters when it is recorded. */
  tool_result_max_chars: z.int().min(100),
  /** The guard, once it must drop, drops down to this share of what fits, so that it need not drop each turn. */
  guard_target_ratio: z.number().min(0.1).max(1),
});
export type Policy = z.infer<typeof policySchema>;

export const POLICY_NAMES = ["oneclaw"] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];

const presets: Readonly<Record<PolicyName, Policy>> = {
  /** RFC-011 §Constants and FEAT-011; FEAT-011 holds where they differ. */
  oneclaw: {
    trigger_ratio: 0.85,
    keep_ratio: 0.25,
    summary_max_tokens: 2_048,
    attempts: 2,
    summary_timeout_ms: 15_000,
    tool_result_max_chars: 30_000,
    guard_target_ratio: 0.75,
  },
};

/** What a tenant is made with, and what an unknown name stands for. */
export const DEFAULT_POLICY: PolicyName = "oneclaw";

/** The policy of that name; an unknown name (a log of another build) gets the default. */
export function policyOf(name: string): Policy {
  const known = POLICY_NAMES.find((preset) => preset === name);
  return presets[known ?? DEFAULT_POLICY];
}
