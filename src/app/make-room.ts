/**
 * Before a model call: the view is brought to where the request fits, while the turn waits. A running background
 * compaction is waited for, a while; then the turn does the work itself under a higher token; and when no summary can be
 * had, the guard drops what must go (docs/design.md §5, rules of the protocol).
 */
import { assumeWindow, limitOf, measureNext } from "../context/budget";
import { policyOf } from "../context/policy-choice";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { TurnFailure } from "../domain/events";
import type { Result } from "../lib/result";
import { applyRungs, fitRequest, limitsOf } from "./build-request";
import type { HeldOutcomes } from "./held-outcomes";
import { leaseCompaction } from "./lease-compaction";
import type { LiveTurn } from "./live-turn";
import { planSession } from "./plan-session";
import type { ModelSpec } from "./ports";
import { summarizes } from "./request-compaction";
import type { SettleOutcome } from "./session-api";
import type { SessionPorts } from "./session-ports";
import { settleCompaction } from "./settle-compaction";
import { summarize } from "./summarize";

export interface RoomPorts extends SessionPorts {
  readonly held: HeldOutcomes;
}

/** Inline work waits so long for a background lease that is running. */
const WAIT_FOR_LEASE_MS = 5_000;
/** A person waits: after this long the guard takes over. */
const INLINE_MS = 60_000;

/** After it the request fits by our measure, or there is a report of why it cannot. `stopped`: the turn is over. */
export async function makeRoom(live: LiveTurn, spec: ModelSpec, ports: RoomPorts): Promise<Result<null, TurnFailure | "stopped">> {
  const trigger = roomTrigger(spec, ports);
  if (trigger) await compactInline(live, { spec, trigger }, ports);
  if (!isCurrent(live, ports)) return { ok: false, error: "stopped" };
  return fitRequest(ports, spec);
}

export const isCurrent = ({ run }: LiveTurn, { writer }: Pick<SessionPorts, "writer">): boolean => {
  const { turn } = writer.state;
  return turn?.id === run.turn && turn.incarnation === run.incarnation && turn.phase === "generating";
};

/** Why the view must change before the next call; null: it need not. */
function roomTrigger(spec: ModelSpec, { writer, clock }: RoomPorts): CompactionTrigger | null {
  const { state } = writer;
  const policy = policyOf(state.settings.policy);
  if (policy.summary.form === "none") return null;
  const limit = limitOf(assumeWindow(limitsOf(spec), policy));
  if (limit !== null && measureNext(state, spec.id).tokens > limit)
    return asksAnotherModel(state.ratio.model, spec) ? "model_switch" : "inline";
  const first = (state.turn?.rounds ?? 0) === 0;
  const looks = policy.trigger.at === "each_call" || (policy.trigger.at === "before_turn" && first);
  if (!looks) return null;
  const plan = planSession(spec, { trigger: "threshold" }, { writer, clock });
  return plan.kind === "compact" && summarizes(plan) ? plan.trigger : null;
}

const asksAnotherModel = (last: string, spec: ModelSpec): boolean => last !== "" && last !== spec.id;

export interface Inline {
  readonly spec: ModelSpec;
  readonly trigger: CompactionTrigger;
}

/** True: the view changed. Never throws for a failed summariser. */
export async function compactInline(live: LiveTurn, inline: Inline, ports: RoomPorts): Promise<boolean> {
  const { epoch } = ports.writer.state.view;
  const moved = (): boolean => !isCurrent(live, ports) || ports.writer.state.view.epoch !== epoch;
  await waitForLease(live, inline.spec, ports);
  if (moved()) return ports.writer.state.view.epoch !== epoch;
  const deadline = ports.clock() + INLINE_MS;
  const id = requestInline(inline, ports);
  while (id && !moved() && ports.clock() < deadline) {
    const leased = leaseCompaction(id, inline.spec, ports, { inline: inline.trigger });
    if (leased.kind !== "leased") break;
    const settled = await workOff(live, { ...inline, id, leased, deadline }, ports);
    if (settled !== "retry") break;
  }
  if (!moved() && inline.trigger === "overflow") dropInline(inline, ports);
  return ports.writer.state.view.epoch !== epoch;
}

function requestInline({ spec, trigger }: Inline, ports: RoomPorts): Parameters<typeof leaseCompaction>[0] | null {
  const { writer, clock, ids } = ports;
  const { requested } = writer.state.compaction;
  if (requested) return requested.id;
  if (!summarizes(planSession(spec, { trigger }, ports))) return null;
  writer.execute({ type: "RequestCompaction", at: clock(), compaction: ids.newId("cmp"), trigger, options: null });
  return writer.state.compaction.requested?.id ?? null;
}

/** A background worker may be about to finish: what it brings takes effect here, since the turn waits for it. */
async function waitForLease(live: LiveTurn, spec: ModelSpec, ports: RoomPorts): Promise<void> {
  const { lease } = ports.writer.state.compaction;
  if (!lease || lease.expires_at <= ports.clock()) return;
  await ports.held.arrival(WAIT_FOR_LEASE_MS);
  if (!isCurrent(live, ports)) return;
  for (const held of ports.held.take(() => true)) settleCompaction({ ...held, next: null, inside: live.run }, spec, ports);
}

interface Work extends Inline {
  readonly id: Parameters<typeof leaseCompaction>[0];
  readonly leased: Extract<ReturnType<typeof leaseCompaction>, { kind: "leased" }>;
  readonly deadline: number;
}

async function workOff(live: LiveTurn, { spec, id, leased, deadline }: Work, ports: RoomPorts): Promise<SettleOutcome["next"]> {
  let { part, timeoutMs } = leased;
  for (;;) {
    const left = Math.min(timeoutMs, deadline - ports.clock());
    const outcome = await summarize(part.request, { timeoutMs: Math.max(1, left), signal: live.abort.signal }, ports);
    if (!isCurrent(live, ports)) return "done";
    const settled = settleCompaction({ compaction: id, token: leased.token, outcome, next: part.next, inside: live.run }, spec, ports);
    if (settled.next !== "continue") return settled.next;
    if (ports.clock() >= deadline) return "done";
    ({ part, timeoutMs } = settled);
  }
}

/** The provider refused what we thought would fit, so the guard will not: the oldest go, down to the emergency's share. */
function dropInline({ spec, trigger }: Inline, ports: RoomPorts): void {
  const plan = planSession(spec, { trigger }, ports);
  if (plan.kind !== "compact") return;
  applyRungs({ ...plan, rungs: plan.fallback.length > 0 ? plan.fallback : plan.rungs }, { trigger, limits: limitsOf(spec) }, ports);
}
