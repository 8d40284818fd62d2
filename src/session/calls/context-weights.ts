/** The limits of a request and the weights of its parts, for the next request and for past ones. */

import type { ModelSpec } from "../../app/ports";
import { toAssumedLimits } from "../../app/request/build-request";
import { toReplyReserve, toRequestLimit } from "../../context/budget";
import { toPolicy } from "../../context/policy-choice";
import { Sizing } from "../../context/sizing";
import type { ContextPart, ContextWeights } from "../../contract/context";
import { fixedTokens, offeredTools, type SessionState } from "../../domain/state";

export function weighContext(state: SessionState, spec: ModelSpec): ContextWeights {
  const sizing = new Sizing(state, spec);
  const limits = toAssumedLimits(spec, toPolicy(state.settings.policy));
  return {
    context_window: spec.context_window,
    assumed_window: spec.context_window === null ? limits.window : null,
    limit: toRequestLimit(limits),
    reserve: limits.window === null ? null : toReplyReserve(limits),
    total: sizing.next(),
    parts: listParts(sizing),
  };
}

/** The weight of each part, scaled by the session's learned ratio. Unlike the plan's figures it is not padded. */
function listParts(sizing: Sizing): ContextPart[] {
  const { state, ratio } = sizing;
  const part = (name: ContextPart["part"], tokens: number, position: number | null = null): ContextPart => ({
    part: name,
    position,
    tokens: Math.ceil(tokens * ratio),
    source: "estimated",
    error_bound: Math.ceil(sizing.errorIn(tokens * ratio)),
  });
  const tools = offeredTools(state)?.tokens ?? 0;
  const pins = state.pins.reduce((sum, pin) => sum + pin.tokens, 0);
  return [
    part("system", fixedTokens(state) - tools - pins),
    part("tools", tools),
    ...(pins > 0 ? [part("pins", pins)] : []),
    ...state.view.overlays.map((overlay) => part(overlay.kind, overlay.tokens, overlay.from)),
    ...state.view.items.map((item) => part("message", sizing.item(item), item.position)),
  ];
}
