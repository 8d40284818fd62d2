/** Handing a compaction's plan out, under a lease, to whoever asks the summariser: a queue worker, or the turn that waits. */
import { limitOf, measureNext } from "../context/budget";
import { INSTRUCTION_TOKENS } from "../context/economy";
import type { SummarizeRung } from "../context/plan";
import { policyOf } from "../context/policy-choice";
import { summaryCap } from "../context/proposal";
import type { CompactionPlanRef } from "../domain/commands";
import type { CompactionFailure, CompactionTrigger } from "../domain/compaction-events";
import type { CompactionId } from "../domain/ids";
import { applyRungs, limitsOf } from "./build-request";
import { leaseUntil } from "./lease-until";
import { type CompactionPorts, planSession } from "./plan-session";
import type { ModelSpec } from "./ports";
import { recordFailure } from "./record-failure";
import type { LeaseOutcome } from "./session-api";
import { buildSummaryPart } from "./summary-request";

/** `inline`: a turn waits for it, and a running lease is taken over (docs/design.md §5). */
export interface Leasing {
  readonly inline: CompactionTrigger | null;
}

/** Hands the plan out under a lease, or says why there is nothing to do. */
export function leaseCompaction(
  compaction: CompactionId,
  spec: ModelSpec | null,
  ports: CompactionPorts,
  { inline }: Leasing = { inline: null },
): LeaseOutcome {
  const { writer, clock } = ports;
  const { requested, lease } = writer.state.compaction;
  if (requested?.id !== compaction) return { kind: "nothing", reason: "over" };
  if (lease && lease.expires_at > clock() && !inline) return { kind: "held", until: lease.expires_at };
  const policy = policyOf(writer.state.settings.policy);
  if (!spec) return giveUp(compaction, "unknown_model", ports);
  if (requested.attempts >= policy.summary.attempts && !inline) return failLast(compaction, spec, ports);
  const trigger = inline ?? requested.trigger;
  const plan = planSession(spec, { trigger, options: requested.options }, ports);
  if (plan.kind !== "compact") return giveUp(compaction, "nothing_to_do", ports);
  const rung = plan.rungs.find((step) => step.rung === "summarize");
  if (!rung) {
    // Between turns only: inside one, the guard does what needs no model.
    if (!writer.state.turn) applyRungs(plan, { trigger: plan.trigger, limits: limitsOf(spec), compaction }, ports);
    return { kind: "nothing", reason: "no_model_needed" };
  }
  // By the guard's own measure, whatever the policy counts with: this request has to fit.
  const { tokens } = measureNext(writer.state, spec.id);
  const room = summaryCap(limitsOf(spec), policy) + INSTRUCTION_TOKENS + (requested.options?.instructions?.tokens ?? 0);
  const mode = modeOf(rung, { attempts: requested.attempts, next: tokens, spec, room });
  const ref: CompactionPlanRef = { base_epoch: writer.state.view.epoch, ...planOf(rung), mode };
  const attemptLimit = inline ? requested.attempts + 1 : policy.summary.attempts;
  const expiresAt = leaseUntil(clock(), policy.summary.timeout_ms);
  const leased = writer.execute({
    type: "LeaseCompaction",
    at: clock(),
    compaction,
    plan: ref,
    expiresAt,
    attemptLimit,
    takeOver: inline !== null,
  });
  const token = leased.ok ? writer.state.compaction.lease?.token : undefined;
  if (token === undefined) return { kind: "nothing", reason: "moved" };
  const part = buildSummaryPart({ plan: ref, state: writer.state, spec, content: ports.content });
  return { kind: "leased", token, part, timeoutMs: policy.summary.timeout_ms };
}

const planOf = ({
  range,
  source,
  replaces,
  keeps,
  merge,
  generation,
  split,
}: SummarizeRung): Omit<CompactionPlanRef, "base_epoch" | "mode"> => ({
  range,
  source,
  replaces,
  keeps,
  merge,
  generation,
  split,
});

/** After a failure, and where the request as it stands leaves no room for the answer, a transcript is asked for. */
function modeOf(
  rung: SummarizeRung,
  by: { readonly attempts: number; readonly next: number; readonly spec: ModelSpec; readonly room: number },
): SummarizeRung["mode"] {
  const limit = limitOf(limitsOf(by.spec)) ?? 0;
  return by.attempts === 0 && by.next + by.room <= limit ? rung.mode : "transcript";
}

function giveUp(compaction: CompactionId, failure: CompactionFailure, { writer, clock }: CompactionPorts): LeaseOutcome {
  writer.execute({ type: "FailCompaction", at: clock(), compaction, token: null, failure, attemptLimit: 1, call: null, fallback: null });
  return { kind: "nothing", reason: failure };
}

/** Every attempt's lease ran out: the fallback is due, and there is nobody left to report it. */
function failLast(compaction: CompactionId, spec: ModelSpec, ports: CompactionPorts): LeaseOutcome {
  const token = ports.writer.state.compaction.lease?.token ?? null;
  recordFailure({ compaction, token, failure: "lease_expired", call: null, inside: null }, spec, ports);
  return { kind: "nothing", reason: "lease_expired" };
}
