/** Refuses system prompts, tools, schemas of replies and pins that leave no room for a conversation: every request carries them, whatever is compacted. */

import type { ModelSpec } from "../../app/ports";
import { isWindowExact, toAssumedLimits } from "../../app/request/build-request";
import type { Outcome } from "../../app/session-api";
import { toRequestLimit } from "../../context/budget";
import { toPolicy } from "../../context/policy-choice";
import { PADDING } from "../../context/sizing";
import type { TextRef } from "../../domain/message";
import { err } from "../../lib/result";

interface FixedTexts {
  readonly system: TextRef | null;
  readonly tools: TextRef | null;
  /** Absent or null: none. */
  readonly generation?: TextRef | null | undefined;
  readonly pins: readonly TextRef[];
}

/** `policy` is the text that the settings store. */
interface Fixed extends FixedTexts {
  readonly policy: string;
}

/**
 * Checks before anything is stored. The refusal names the field that changed, or the heaviest when several may have. An
 * unknown window counts as what the policy assumes, as in every turn. What fits by its likely size is accepted where a request of that size
 * may be tried.
 */
export function refuseTooLarge(
  spec: ModelSpec,
  { policy, system, tools, generation = null, pins }: Fixed,
  changed?: keyof FixedTexts,
): Outcome<never> | null {
  const limit = toRequestLimit(toAssumedLimits(spec, toPolicy(policy)));
  if (limit === null) return null;
  const padding = isWindowExact(spec) ? 1 : PADDING;
  const weigh = (texts: readonly (TextRef | null)[]): number =>
    Math.ceil(texts.reduce((sum, text) => sum + (text?.tokens ?? 0), 0) * padding);
  const weights = { system: weigh([system]), tools: weigh([tools]), generation: weigh([generation]), pins: weigh(pins) };
  const all = weights.system + weights.tools + weights.generation + weights.pins;
  if (all < limit) return null;
  const fields = ["system", "tools", "generation", "pins"] as const;
  const field = changed ?? fields.reduce((most, next) => (weights[next] > weights[most] ? next : most));
  const detail = `about ${weights[field]} tokens of ${all} that every request carries, and ${spec.id} takes requests of ${limit}`;
  return err({ code: "invalid", field, detail });
}
