/** What the next request holds, exactly: the same code builds it that sends it. */

import { buildRequest, limitsOf } from "../app/build-request";
import { draftItem } from "../app/drafts";
import type { ModelRequest, ModelSpec } from "../app/ports";
import type * as api from "../app/session-api";
import { fixedTokens, itemTokens, limitOf, measureNext, PADDING, reserveOf, scaleOf } from "../context/budget";
import { estimateParts } from "../context/item-tokens";
import { buildView } from "../context/view";
import type { Part } from "../domain/message";
import { err, ok } from "../lib/result";
import { resolveQuietly } from "./read-calls";
import type { SessionRuntime } from "./runtime";

export async function showContext(runtime: SessionRuntime, content: readonly Part[] | null): Promise<api.Outcome<api.ContextReport>> {
  const spec = await resolveQuietly(runtime);
  const { state } = runtime;
  if (!spec) return err({ code: "unknown_model", model: state.settings.model });
  const extra = content ? estimateParts(content) : 0;
  const total = measureNext(state, spec.id, extra);
  const request = await runtime.deps.model.render(nextRequest(runtime, spec, content));
  const limits = limitsOf(spec);
  return ok({
    model: spec.id,
    policy: state.settings.policy,
    epoch: state.view.epoch,
    context_window: spec.context_window,
    limit: limitOf(limits),
    reserve: spec.context_window === null ? null : reserveOf(limits),
    total,
    parts: partsOf(runtime, spec),
    request,
  });
}

/** The request as it would be sent, with a message more at its end. */
function nextRequest(runtime: SessionRuntime, spec: ModelSpec, content: readonly Part[] | null): ModelRequest {
  const request = buildRequest(runtime.content, spec);
  if (!content) return request;
  const { ids, clock } = runtime.deps;
  const { draft } = draftItem({ kind: "user", parts: content, turn: null, at: clock() }, ids);
  const meta = { ...draft, position: runtime.state.next_position };
  const view = runtime.content.readView();
  const { system, messages } = buildView({ ...view, entries: [...view.entries, { meta, parts: content }] });
  return { ...request, system, messages };
}

/** Scaled by what the session has taught; unlike the plan's figures, not padded. */
function partsOf(runtime: SessionRuntime, spec: ModelSpec): api.ContextPart[] {
  const { state } = runtime;
  const scale = scaleOf(state, spec.id) / PADDING;
  const part = (name: api.ContextPart["part"], tokens: number, position: number | null = null): api.ContextPart => ({
    part: name,
    position,
    tokens: Math.ceil(tokens * scale),
    source: "estimated",
  });
  const tools = (state.turn?.tools ?? state.settings.tools)?.tokens ?? 0;
  return [
    part("system", fixedTokens(state) - tools),
    part("tools", tools),
    ...state.view.overlays.map((overlay) => part(overlay.kind, overlay.tokens, overlay.from)),
    ...state.view.items.map((item) => part("message", itemTokens(state, item), item.position)),
  ];
}
