/** The next request of a session: the view as it stands, for the model as the registry knows it. */
import { limitOf, type ModelLimits, measureNext } from "../context/budget";
import { draftFromRungs } from "../context/epoch-draft";
import { planGuard } from "../context/guard";
import { policyOf } from "../context/policy";
import { buildView } from "../context/view";
import type { TurnFailure } from "../domain/events";
import { err, ok, type Result } from "../lib/result";
import type { ModelRequest, ModelSpec } from "./ports";
import type { SessionContent, SessionPorts } from "./session-ports";

export const limitsOf = (spec: ModelSpec): ModelLimits => ({ model: spec.id, window: spec.context_window, maxOutput: spec.max_output });

export function buildRequest(content: SessionContent, spec: ModelSpec): ModelRequest {
  const view = buildView(content.readView());
  return { model: spec, purpose: "turn", system: view.system, messages: view.messages, tools: content.readTools(), maxOutput: null };
}

/** Dropping voids the anchor, and the next measure is a padded estimate: it may take a second look. */
const GUARD_ROUNDS = 3;

/** The guard before a model call: after it, the request fits by our measure, or there is a report of why it cannot. */
export function fitRequest(ports: Pick<SessionPorts, "writer" | "clock" | "ids">, spec: ModelSpec): Result<null, TurnFailure> {
  const { writer, clock, ids } = ports;
  for (let round = 0; round < GUARD_ROUNDS; round++) {
    const { state } = writer;
    const plan = planGuard({ state, limits: limitsOf(spec), policy: policyOf(state.settings.policy) });
    if (plan.kind === "none") return ok(null);
    if (plan.kind === "cannot_fit") return err({ kind: "cannot_fit", status: null, fit: plan.fit });
    const input = { state, model: spec.id, trigger: "guard" as const, newOverlay: () => ids.newId("ovl"), summarizer: null };
    const change = draftFromRungs(plan.rungs, input);
    const changed = writer.execute({ type: "ChangeEpoch", at: clock(), compaction: ids.newId("cmp"), trigger: "guard", change });
    if (!changed.ok) break;
  }
  const { tokens } = measureNext(writer.state, spec.id);
  const limit = limitOf(limitsOf(spec)) ?? tokens;
  return tokens <= limit ? ok(null) : err({ kind: "cannot_fit", status: null, fit: { floor: tokens, limit, biggest: [] } });
}
