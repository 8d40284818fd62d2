/** A recorded call of a turn, as the run of another policy can use it. */
import { FINISHED_OUTCOMES } from "../domain/call-totals";
import type { StoredEvent } from "../domain/events";
import { isCount, toGeneratedTokens } from "../domain/model-call";

export type CallEvent = StoredEvent & { readonly type: "ModelCallFinished" };

/** True when a model answered, wholly or in part. A call that ended without text and without a report has no known cost. */
export const isAnswered = ({ usage, outcome }: CallEvent): boolean => usage !== null || FINISHED_OUTCOMES.includes(outcome);

export interface Counted {
  /** The provider's tokens per estimated token, by its report; null when it reported no valid count. */
  readonly perToken: number | null;
  /** The raw estimate of what the provider counted. */
  readonly estimate: number;
  readonly output: number;
}

export function countCallTokens({ usage, estimate }: CallEvent): Counted {
  if (!usage || estimate <= 0 || !isCount(usage, estimate))
    return { perToken: null, estimate, output: usage ? toGeneratedTokens(usage) : 0 };
  return { perToken: usage.input / estimate, estimate, output: toGeneratedTokens(usage) };
}
