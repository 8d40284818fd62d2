/** A compaction that a person asks for: shown as a plan, done at once where no model is needed, else asked for. Synchronous. */
import type { Plan } from "../../context/plan";
import type { CompactionOptions } from "../../domain/compaction-events";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import type { CompactInput } from "../control-views";
import { draftText } from "../drafts";
import type { ModelSpec } from "../ports";
import type { Outcome } from "../session-api";
import type { BodyText } from "../session-ports";
import { applyRungs, limitsOf } from "./build-request";
import { type CompactionPorts, planSession, summarizes } from "./plan-session";

export type ByHand = { readonly kind: "plan"; readonly plan: Plan } | { readonly kind: "done" | "requested"; readonly id: CompactionId };

type Ports = Pick<CompactionPorts, "writer" | "content" | "clock" | "ids">;

export function compactByHand(spec: ModelSpec, input: CompactInput, ports: Ports): Outcome<ByHand> {
  const { state } = ports.writer;
  const last = state.next_position - 1;
  if (input.upTo !== null && input.upTo > last)
    return err({ code: "invalid", field: "up_to", detail: `no such position: the conversation ends at ${last}` });
  const { options, bodies } = toOptions(input, ports);
  const plan = planSession(spec, { trigger: "manual", options }, ports);
  if (input.dryRun) return ok({ kind: "plan", plan });
  const { requested } = state.compaction;
  if (requested) return err({ code: "compaction_running", compaction: requested.id });
  if (plan.kind === "cannot_fit") return err({ code: "cannot_fit", fit: plan.fit });
  if (plan.kind === "none") return ok({ kind: "plan", plan });
  const id = ports.ids.newId("cmp");
  // Inside a turn the view is the turn's: the change waits for its end.
  if (!summarizes(plan) && !state.turn) {
    const changed = applyRungs(plan, { trigger: "manual", limits: limitsOf(spec), compaction: id }, ports);
    return changed ? ok({ kind: "done", id }) : err({ code: "stale", reason: "epoch_moved" });
  }
  const asked = ports.writer.execute({ type: "RequestCompaction", at: ports.clock(), compaction: id, trigger: "manual", options }, bodies);
  return asked.ok ? ok({ kind: "requested", id }) : err(asked.error);
}

interface DraftedOptions {
  readonly options: CompactionOptions | null;
  readonly bodies: readonly BodyText[];
}

function toOptions({ keepRecent, upTo, instructions }: CompactInput, { ids }: Ports): DraftedOptions {
  const { ref, bodies } = draftText(instructions, ids);
  if (keepRecent === null && upTo === null && ref === null) return { options: null, bodies: [] };
  return { options: { keep_recent: keepRecent, up_to: upTo, instructions: ref }, bodies };
}
