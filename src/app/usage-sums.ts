/** Totals of model calls in the form that clients see. When no call has a known cost, `cost` is null, not 0. */

import type { UsageSums } from "../contract/model-call";
import type { CallTotals } from "../domain/call-totals";

export function toSums({ calls, failed, cost, unpriced, ...tokens }: CallTotals): UsageSums {
  const known = calls === 0 || unpriced < calls;
  return { calls, failed_calls: failed, ...tokens, cost: known ? cost : null, unpriced_calls: unpriced, cost_complete: unpriced === 0 };
}
