/** A recorded call of a turn, as far as another policy's run can use it. */
import { FINISHED_OUTCOMES } from "../domain/call-totals";
import type { StoredEvent } from "../domain/events";
import { generatedOf, isCount } from "../domain/model-call";

export type CallEvent = StoredEvent & { readonly type: "ModelCallFinished" };

/** Whether a model answered, wholly or in part: what ended without a word and without a report cost nothing that is known. */
export const isAnswered = ({ usage, outcome }: CallEvent): boolean => usage !== null || FINISHED_OUTCOMES.includes(outcome);

export interface Counted {
  /** The provider's tokens for one estimated, as its report has it; null: it reported no count. */
  readonly perToken: number | null;
  /** Raw estimate of what it counted. */
  readonly estimate: number;
  readonly output: number;
}

export function countOf({ usage, estimate }: CallEvent): Counted {
  if (!usage || estimate <= 0 || !isCount(usage, estimate)) return { perToken: null, estimate, output: usage ? generatedOf(usage) : 0 };
  return { perToken: usage.input / estimate, estimate, output: generatedOf(usage) };
}
