/** The most that a model call may use, by the measures that also decide whether a request fits (docs/measuring.md). */

import { toRequestLimit } from "../../context/budget";
import { estimateParts } from "../../context/item-tokens";
import { toPolicy } from "../../context/policy-choice";
import { Sizing, toEstimate, toUpperBound } from "../../context/sizing";
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "../../context/tokens";
import type { SessionState } from "../../domain/state";
import { assertNever } from "../../lib/assert-never";
import type { BudgetRefusal } from "../budget-ports";
import type { CallNeed } from "../call-charge";
import type { ModelRequest, ModelSpec } from "../ports";
import { toAssumedLimits } from "./build-request";

/** `cap`: the most tokens of the reply, as the request names it. Null: the model's own maximum. */
export const toTurnNeed = (state: SessionState, spec: ModelSpec, cap: number | null): CallNeed => ({
  purpose: "turn",
  input: new Sizing(state, spec).planned(),
  output: cap ?? spec.max_output,
  prices: spec.prices,
});

/** As the turn's first call will be, with `added` raw tokens more in the view. What does not fit is compacted before it. */
export function toFirstNeed(
  state: SessionState,
  spec: ModelSpec,
  { added, cap }: { readonly added: number; readonly cap: number },
): CallNeed {
  const limit = toRequestLimit(toAssumedLimits(spec, toPolicy(state.settings.policy))) ?? Number.POSITIVE_INFINITY;
  const input = new Sizing(state, spec).planned({ extra: added });
  return { ...toTurnNeed(state, spec, cap), input: Math.min(input, limit) };
}

/** Raw estimate, without tools. */
export const estimateRequest = ({ system, messages }: ModelRequest): number =>
  messages.reduce((sum, message) => sum + estimateParts(message.parts), estimateTokens(system ?? ""));

/** For a request that is built already, by its own text. */
export function toRequestNeed(request: ModelRequest, state: SessionState): CallNeed {
  const { model, purpose, tools, messages, maxOutput } = request;
  const raw =
    estimateRequest(request) + messages.length * MESSAGE_OVERHEAD_TOKENS + (tools.length > 0 ? estimateTokens(JSON.stringify(tools)) : 0);
  const input = Math.max(toUpperBound(toEstimate(raw)), Math.ceil(raw * new Sizing(state, model).padded));
  return { purpose, input, output: maxOutput ?? model.max_output, prices: model.prices };
}

/** How a call that may not be made is counted among failures. */
export function toUnpaidKind({ code }: BudgetRefusal): "budget" | "unavailable" {
  switch (code) {
    case "budget_exhausted":
      return "budget";
    case "budgets_unavailable":
      return "unavailable";
    default:
      return assertNever(code);
  }
}

/** How often one call asks for what it needs. Other calls of the session may take what it was granted. */
export const MOST_OBTAINED = 3;
