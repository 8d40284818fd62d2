/**
 * Before a model call: the view is brought to where the request fits, while the turn waits. A running background
 * compaction is waited for, a while; then the turn does the work itself under a higher token; and when no summary can be
 * had, the guard drops what must go (docs/design.md §5, rules of the protocol).
 */
import { limitOf, plannedNext } from "../../context/budget";
import { isForced } from "../../context/cut";
import { isGentle, mayMakeRoom } from "../../context/ladder";
import type { CompactPlan } from "../../context/plan";
import type { Policy } from "../../context/policy";
import { policyOf } from "../../context/policy-choice";
import { planRefused } from "../../context/refused";
import { type CompactionTrigger, standsApart } from "../../domain/compaction-events";
import { isInTheWay } from "../../domain/decide-compaction";
import type { TurnFailure } from "../../domain/events";
import type { CompactionId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import type { Result } from "../../lib/result";
import { giveBack } from "../compaction/give-back";
import { leaseCompaction } from "../compaction/lease-compaction";
import { type CompactionPorts, planSession, summarizes } from "../compaction/plan-session";
import { draftFallbackInside } from "../compaction/record-failure";
import { type Inside, settleCompaction } from "../compaction/settle-compaction";
import { type HeldPorts, settleHeld } from "../compaction/settle-held";
import { summarize, waitAfter } from "../compaction/summarize";
import { type Cast, resolveCast } from "../compaction/summarizers";
import type { ModelSpec } from "../ports";
import { applyRungs, fitRequest, limitsOf, windowOf } from "../request/build-request";
import { Efforts } from "../request/retry";
import type { LeaseOutcome, SummaryOutcome } from "../session-api";
import type { SessionPorts } from "../session-ports";
import type { LiveTurn } from "./live-turn";

export type RoomPorts = SessionPorts & HeldPorts;

/** Inline work waits so long for a background lease that is running. */
export const WAIT_FOR_LEASE_MS = 5_000;
/** A person waits: after this long the guard takes over. */
const INLINE_MS = 60_000;

/** After it the request fits by our measure, or there is a report of why it cannot. `stopped`: the turn is over. */
export async function makeRoom(live: LiveTurn, spec: ModelSpec, ports: RoomPorts): Promise<Result<null, TurnFailure | "stopped">> {
  dropRefused(spec, ports);
  const plan = planRoom(spec, ports);
  if (plan) await breathe(ports);
  if (plan && summarizes(plan)) await compactInline(live, { spec, trigger: plan.trigger }, ports);
  else if (plan && isGentle(plan)) await clearInline(live, { plan, spec }, ports);
  if (plan) await breathe(ports);
  if (!isCurrent(live, ports)) return { ok: false, error: "stopped" };
  return fitRequest(ports, spec);
}

/** What was refused in the turn before goes before anything older does. */
function dropRefused(spec: ModelSpec, ports: CompactionPorts): void {
  const { state } = ports.writer;
  const limits = limitsOf(spec);
  applyRungs(planRefused({ state, limits, policy: policyOf(state.settings.policy) }), { trigger: "guard", limits }, ports);
}

/** A background worker that is at it has brought, or is about to bring, more than clearing does: it goes first, where the turn must have room. */
async function clearInline(live: LiveTurn, { plan, spec }: { plan: CompactPlan; spec: ModelSpec }, ports: RoomPorts): Promise<void> {
  const cast = isForced(plan.trigger) ? await castByPolicy(spec, ports) : null;
  if (cast && isCurrent(live, ports)) await useBackground(live, cast, ports);
  if (isCurrent(live, ports) && ports.writer.state.view.epoch === plan.base_epoch) takeGentle(plan, spec, ports);
}

/** Items in the view from which on each look at all of them is a step of its own: others are served in between. */
export const LONG_VIEW = 2_000;

/** After it everything may have changed: it is an await like any other. */
async function breathe({ writer, schedule }: Pick<RoomPorts, "writer" | "schedule">): Promise<void> {
  if (writer.state.view.items.length < LONG_VIEW) return;
  await new Promise<void>((resolve) => void schedule(0, resolve));
}

const takeGentle = (plan: CompactPlan, spec: ModelSpec, ports: CompactionPorts): boolean =>
  applyRungs(plan, { trigger: plan.trigger, limits: limitsOf(spec) }, ports);

interface ForeseenRoom {
  /** The compaction by a model that would come first: what it would write cannot be known. */
  readonly first: CompactPlan | null;
  readonly fits: Result<null, TurnFailure>;
}

/** What `makeRoom` would do if no summary could be had. Meant for a copy of the session. */
export function foreseeRoom(spec: ModelSpec, ports: CompactionPorts): ForeseenRoom {
  dropRefused(spec, ports);
  const plan = planRoom(spec, ports);
  const first = plan && summarizes(plan) ? plan : null;
  if (first) {
    const { change, bodies } = draftFallbackInside(spec, ports);
    const command = { type: "ChangeEpoch", at: ports.clock(), compaction: ports.ids.newId("cmp"), trigger: "fallback" } as const;
    if (change) ports.writer.execute({ ...command, change }, bodies);
  } else if (plan && isGentle(plan)) takeGentle(plan, spec, ports);
  return { first, fits: fitRequest(ports, spec) };
}

export const isCurrent = ({ run }: LiveTurn, { writer }: Pick<SessionPorts, "writer">): boolean => {
  const { turn } = writer.state;
  return turn?.id === run.turn && turn.incarnation === run.incarnation && turn.phase === "generating";
};

/** What the policy and the window ask for before the next call; null: the guard alone looks at it. */
function planRoom(spec: ModelSpec, ports: Pick<CompactionPorts, "writer" | "clock">): CompactPlan | null {
  const { state } = ports.writer;
  const policy = policyOf(state.settings.policy);
  const trigger = roomTrigger(state, spec, policy);
  const plan = trigger && mayMakeRoom(policy, trigger) ? planSession(spec, { trigger }, ports) : null;
  if (plan?.kind !== "compact") return null;
  const { requested } = state.compaction;
  // A draft or a rebuild that is being made gives way to a turn without room alone: for any other no summary will be asked for.
  const waits = requested !== null && standsApart(requested.options) && !isInTheWay(requested, plan.trigger);
  return waits && summarizes(plan) ? null : plan;
}

function roomTrigger(state: SessionState, spec: ModelSpec, policy: Policy): CompactionTrigger | null {
  const limit = limitOf(windowOf(spec, policy));
  if (limit !== null && plannedNext(state, spec.id) > limit) {
    const last = state.ratios[0]?.model ?? spec.id;
    // Who answered in its place was no switch of the session's model.
    return last === spec.id || policy.fallback_models.includes(last) ? "inline" : "model_switch";
  }
  const isFirst = (state.turn?.rounds ?? 0) === 0;
  const { at } = policy.trigger;
  return at === "each_call" || (at === "before_turn" && isFirst) ? "threshold" : null;
}

interface Inline {
  readonly spec: ModelSpec;
  readonly trigger: CompactionTrigger;
}

/** The view changes, or it stays as it was; a summariser that fails never throws. */
export async function compactInline(live: LiveTurn, inline: Inline, ports: RoomPorts): Promise<void> {
  const { writer, clock } = ports;
  const { epoch } = writer.state.view;
  const isOver = (): boolean => !isCurrent(live, ports) || writer.state.view.epoch !== epoch;
  const cast = await castByPolicy(inline.spec, ports);
  if (isOver()) return;
  await useBackground(live, cast, ports);
  if (isOver()) return;
  const deadline = clock() + INLINE_MS;
  const id = requestInline(inline, ports);
  await breathe(ports);
  const efforts = new Efforts();
  while (id && !isOver() && clock() < deadline) {
    const leased = leaseCompaction(id, cast, ports, { inline: { trigger: inline.trigger, incarnation: live.run.incarnation } });
    if (leased.kind !== "leased") break;
    const failed = await workOff(live, { cast, id, leased, deadline }, ports);
    if (!failed) break;
    await waitAfter(failed, { efforts, most: deadline - clock(), signal: live.abort.signal }, ports);
  }
  if (!isOver() && inline.trigger === "overflow") dropInline(inline, ports);
}

/** The compaction that was asked for already, which the turn makes its own, or a new one; null: no model is to be asked. */
function requestInline({ spec, trigger }: Inline, ports: RoomPorts): CompactionId | null {
  const { writer, clock, ids } = ports;
  const { requested } = writer.state.compaction;
  if (requested && !standsApart(requested.options)) return requested.id;
  if (!summarizes(planSession(spec, { trigger }, ports))) return null;
  writer.execute({ type: "RequestCompaction", at: clock(), compaction: ids.newId("cmp"), trigger, options: null });
  const asked = writer.state.compaction.requested;
  // What was asked for in words of its own goes on where the turn need not have room.
  return asked && !standsApart(asked.options) ? asked.id : null;
}

/** By the session's policy, whatever a person asked of a compaction under way. */
const castByPolicy = (spec: ModelSpec, ports: RoomPorts): Promise<Cast> =>
  resolveCast(spec, ports, policyOf(ports.writer.state.settings.policy));

const insideOf = (live: LiveTurn): Inside => live.run;

/** A background worker may have brought something, or be about to: it takes effect here, since the turn waits for it. */
async function useBackground(live: LiveTurn, cast: Cast, ports: RoomPorts): Promise<void> {
  const { requested } = ports.writer.state.compaction;
  // A draft or a rebuild makes no room.
  if (requested && standsApart(requested.options)) return;
  settleHeld(cast, ports, insideOf(live));
  const { lease } = ports.writer.state.compaction;
  if (!lease || lease.expires_at <= ports.clock()) return;
  await ports.held.arrival(WAIT_FOR_LEASE_MS);
  if (isCurrent(live, ports)) settleHeld(cast, ports, insideOf(live));
}

interface Work {
  readonly cast: Cast;
  readonly id: CompactionId;
  readonly leased: Extract<LeaseOutcome, { kind: "leased" }>;
  readonly deadline: number;
}

/** All parts of one lease, each within the policy's time and all within the deadline. What it returns failed, and one more attempt is allowed. */
async function workOff(live: LiveTurn, work: Work, ports: RoomPorts): Promise<SummaryOutcome | null> {
  const { cast, id, leased, deadline } = work;
  const lease = { compaction: id, token: leased.token };
  let { part, timeoutMs } = leased;
  for (;;) {
    const left = Math.min(timeoutMs, deadline - ports.clock());
    const outcome = await summarize(part.request, { timeoutMs: left, signal: live.abort.signal }, ports);
    await breathe(ports);
    // Nobody waits any more.
    if (!isCurrent(live, ports)) {
      giveBack({ ...lease, outcome, part: part.part }, ports);
      return null;
    }
    const settled = settleCompaction({ ...lease, outcome, part: part.part, next: part.next, inside: insideOf(live) }, cast, ports);
    if (settled.next !== "continue") return settled.next === "retry" ? outcome : null;
    if (ports.clock() >= deadline) {
      giveBack({ ...lease, outcome: null, part: settled.part.part }, ports);
      return null;
    }
    ({ part, timeoutMs } = settled);
  }
}

/** The provider refused what we thought would fit, so the guard will not: the oldest go, down to the emergency's share. */
function dropInline({ spec, trigger }: Inline, ports: RoomPorts): void {
  const plan = planSession(spec, { trigger }, ports);
  if (plan.kind !== "compact") return;
  applyRungs({ ...plan, rungs: plan.fallback.length > 0 ? plan.fallback : plan.rungs }, { trigger, limits: limitsOf(spec) }, ports);
}
