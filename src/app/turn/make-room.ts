/**
 * Makes the next request fit before a model call, while the turn waits. It waits for a running background compaction up to a bound, then
 * compacts inline under a higher lease token. When no summary is available, the guard drops the oldest groups
 * (docs/compaction-protocol.md).
 */

import { findExcess, toRequestLimit } from "../../context/budget";
import { isForced } from "../../context/cut";
import { mayApplyWithoutModel, mayMakeRoom } from "../../context/ladder";
import type { CompactPlan } from "../../context/plan";
import { planRefused } from "../../context/plan-refused";
import type { Policy } from "../../context/policy";
import { toPolicy } from "../../context/policy-choice";
import { toContentBytes } from "../../context/request-bytes";
import { Sizing } from "../../context/sizing";
import { type CompactionTrigger, isStandalone } from "../../domain/compaction-events";
import { isInTheWay } from "../../domain/decide-compaction";
import type { TurnFailure } from "../../domain/events";
import type { CompactionId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import type { Result } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import { applyDeferredResults, type DeferredResultPorts } from "../compaction/apply-deferred";
import { applyCompactionResult, isCurrentLease, type WaitingTurn } from "../compaction/apply-result";
import { failUnpaid, leaseCompaction } from "../compaction/lease-compaction";
import { type CompactionPorts, planSession, summarizes } from "../compaction/plan-session";
import { buildFallbackInTurn } from "../compaction/record-failure";
import { releaseLease } from "../compaction/release-lease";
import { summarize, waitAfter } from "../compaction/summarize";
import { resolveSummarizerCandidates, type SummarizerCandidates, withLessons } from "../compaction/summarizers";
import type { ModelSpec } from "../ports";
import { applyRungs, fitRequest, toAssumedLimits, toModelLimits } from "../request/build-request";
import { MOST_OBTAINED } from "../request/call-need";
import { RetryBudget } from "../request/retry";
import type { LeaseOutcome, SummaryOutcome } from "../session-api";
import type { SessionPorts } from "../session-ports";
import type { LiveTurn } from "./live-turn";

export type RoomPorts = SessionPorts & DeferredResultPorts;

/** How long inline work waits for a running background lease. */
export const WAIT_FOR_LEASE_MS = 5_000;
/** The most leases of one compaction: each part may need one, to be paid. Its deadline bounds it too. */
const MOST_PARTS = 50;
/** A person waits for the turn: after this time the guard takes over. */
const INLINE_MS = 60_000;

/** How often the turn plans: after each result of the background worker, of which few can be under way. */
const MOST_PLANS = 3;

/** After it the request fits by our measure, in the epoch that it returns, or the error reports why it cannot. `stopped`: the turn is over. */
export async function makeRoom(live: LiveTurn, spec: ModelSpec, ports: RoomPorts): Promise<Result<number, TurnFailure | "stopped">> {
  if (ports.writer.state.turn?.whole) return inEpoch(fitsWhole(spec, ports), ports);
  dropRefused(spec, ports);
  for (let plans = 0; plans < MOST_PLANS; plans++) {
    const within = toByteWindow(spec, ports.writer.state);
    const plan = planRoom(within, ports);
    if (!plan) break;
    const worked = await workOn(live, { plan, spec: within }, ports);
    if (!isCurrent(live, ports)) return { ok: false, error: "stopped" };
    if (worked === "own") break;
  }
  return inEpoch(fitRequest(ports, spec), ports);
}

const inEpoch = (fits: Result<null, TurnFailure>, { writer }: Pick<RoomPorts, "writer">): Result<number, TurnFailure> =>
  fits.ok ? { ok: true, value: writer.state.view.epoch } : fits;

/** `late`: a result of the background worker took effect in place of the plan. What came since it was asked for may still not fit. */
type Worked = "own" | "late";

async function workOn(live: LiveTurn, { plan, spec }: Clearing, ports: RoomPorts): Promise<Worked> {
  await yieldOnLongView(ports);
  const worked = summarizes(plan)
    ? await compactInline(live, { spec, trigger: plan.trigger }, ports)
    : mayApplyWithoutModel(plan)
      ? await clearInline(live, { plan, spec }, ports)
      : "own";
  await yieldOnLongView(ports);
  return worked;
}

interface Clearing {
  readonly plan: CompactPlan;
  readonly spec: ModelSpec;
}

/**
 * A request with too many bytes is compacted as one with too many tokens: the bound becomes a window, by the ratio of this content. The
 * guard then keeps the bound itself.
 */
function toByteWindow(spec: ModelSpec, state: SessionState): ModelSpec {
  const most = toContentBytes(toModelLimits(spec));
  const sizing = new Sizing(state, spec);
  const bytes = sizing.bytes();
  if (bytes <= most) return spec;
  const window = Math.floor((sizing.planned() * most) / bytes);
  return { ...spec, context_window: Math.min(window, spec.context_window ?? window) };
}

/** A whole conversation is measured as it was when it was admitted (`respond`), and nothing leaves it. Its tools may have added to it. */
function fitsWhole(spec: ModelSpec, { writer }: Pick<CompactionPorts, "writer">): Result<null, TurnFailure> {
  const { state } = writer;
  const fit = findExcess(state, toAssumedLimits(toByteWindow(spec, state), toPolicy(state.settings.policy)));
  return fit ? { ok: false, error: { kind: "cannot_fit", status: null, fit } } : { ok: true, value: null };
}

/** Drops the message that the previous turn refused as too large, before anything older leaves the view. */
function dropRefused(spec: ModelSpec, ports: CompactionPorts): void {
  const { state } = ports.writer;
  const limits = toModelLimits(spec);
  applyRungs(planRefused({ state, limits, policy: toPolicy(state.settings.policy) }), { trigger: "guard", limits }, ports);
}

/**
 * Clears tool results without a model. When the turn must have room, a result of the background worker is used first, because a summary
 * frees more than clearing.
 */
async function clearInline(live: LiveTurn, { plan, spec }: Clearing, ports: RoomPorts): Promise<Worked> {
  const candidates = isForced(plan.trigger) ? await resolveCandidatesByPolicy(spec, ports) : null;
  if (candidates && isCurrent(live, ports)) await useBackground(live, candidates, ports);
  if (!isCurrent(live, ports) || ports.writer.state.view.epoch !== plan.base_epoch) return "late";
  applyWithoutModel(plan, spec, ports);
  return "own";
}

/**
 * From this many items in the view on, each full pass over them is a step of its own, so that the object serves other requests in between.
 */
export const LONG_VIEW = 2_000;

/** Lets other requests run. The caller must read the state again, as after every await. */
async function yieldOnLongView({ writer, schedule }: Pick<RoomPorts, "writer" | "schedule">): Promise<void> {
  if (writer.state.view.items.length < LONG_VIEW) return;
  await giveWay(schedule);
}

const applyWithoutModel = (plan: CompactPlan, spec: ModelSpec, ports: CompactionPorts): boolean =>
  applyRungs(plan, { trigger: plan.trigger, limits: toModelLimits(spec) }, ports);

interface ForeseenRoom {
  /** The compaction by a model that would come first. Its summary cannot be predicted. */
  readonly first: CompactPlan | null;
  readonly fits: Result<null, TurnFailure>;
}

/** Predicts what `makeRoom` would do if no summary were available. It executes commands, so call it on a copy of the session. */
export function predictRoom(spec: ModelSpec, ports: CompactionPorts): ForeseenRoom {
  dropRefused(spec, ports);
  const plan = planRoom(toByteWindow(spec, ports.writer.state), ports);
  const first = plan && summarizes(plan) ? plan : null;
  if (first) {
    const { change, bodies } = buildFallbackInTurn(spec, ports);
    const command = { type: "ChangeEpoch", at: ports.clock(), compaction: ports.ids.newId("cmp"), trigger: "fallback" } as const;
    if (change) ports.writer.execute({ ...command, change }, bodies);
  } else if (plan && mayApplyWithoutModel(plan)) applyWithoutModel(plan, spec, ports);
  return { first, fits: fitRequest(ports, spec) };
}

export const isCurrent = ({ run }: LiveTurn, { writer }: Pick<SessionPorts, "writer">): boolean => {
  const { turn } = writer.state;
  return turn?.id === run.turn && turn.incarnation === run.incarnation && turn.phase === "generating";
};

/** The compaction plan that policy and window require before the next call. Null: none, and only the guard checks the request. */
function planRoom(spec: ModelSpec, ports: Pick<CompactionPorts, "writer" | "clock">): CompactPlan | null {
  const { state } = ports.writer;
  const policy = toPolicy(state.settings.policy);
  const trigger = roomTrigger(state, spec, policy);
  const plan = trigger && mayMakeRoom(policy, trigger) ? planSession(spec, { trigger }, ports) : null;
  if (plan?.kind !== "compact") return null;
  const { requested } = state.compaction;
  // A running draft or rebuild gives way only to a turn without room. For any other trigger no summary is requested while it runs.
  const waits = requested !== null && isStandalone(requested.options) && !isInTheWay(requested, plan.trigger);
  return waits && summarizes(plan) ? null : plan;
}

function roomTrigger(state: SessionState, spec: ModelSpec, policy: Policy): CompactionTrigger | null {
  const limit = toRequestLimit(toAssumedLimits(spec, policy));
  if (limit !== null && new Sizing(state, spec).planned() > limit) {
    const last = state.ratios[0]?.model ?? spec.id;
    // A fallback model that answered is no switch of the session's model.
    return last === spec.id || policy.fallback_models.includes(last) ? "inline" : "model_switch";
  }
  // A request that brings its conversation is compacted only where it does not fit: the next one brings all of it again.
  if (state.settings.throwaway) return null;
  const isFirst = (state.turn?.calls ?? 0) === 0;
  const { at } = policy.trigger;
  return at === "each_call" || (at === "before_turn" && isFirst) ? "threshold" : null;
}

interface Inline {
  readonly spec: ModelSpec;
  readonly trigger: CompactionTrigger;
}

/** Compacts while the turn waits. The view changes or stays as it was; a failing summariser never throws. */
export async function compactInline(live: LiveTurn, inline: Inline, ports: RoomPorts): Promise<Worked> {
  const { writer, clock } = ports;
  const { epoch } = writer.state.view;
  const isOver = (): boolean => !isCurrent(live, ports) || writer.state.view.epoch !== epoch;
  let candidates = await resolveCandidatesByPolicy(inline.spec, ports);
  if (isOver()) return "late";
  await useBackground(live, candidates, ports);
  if (isOver()) return "late";
  const deadline = clock() + INLINE_MS;
  const id = requestInline(inline, ports);
  await yieldOnLongView(ports);
  const budget = new RetryBudget();
  for (let parts = 0; id && !isOver() && clock() < deadline && parts < MOST_PARTS; parts++) {
    const leased = await leasePaid(live, { ...inline, candidates, id, isOver }, ports);
    if (!leased) break;
    const failed = await workOff(live, { candidates, id, leased, deadline }, ports);
    if (!failed) break;
    if (failed !== "unpaid" && failed.lesson) candidates = withLessons(candidates, ports.lessons);
    if (failed !== "unpaid") await waitAfter(failed, { budget, most: deadline - clock(), signal: live.abort.signal }, ports);
  }
  if (!isOver() && inline.trigger === "overflow") dropInline(inline, ports);
  return "own";
}

interface Leasing extends Inline {
  readonly candidates: SummarizerCandidates;
  readonly id: CompactionId;
  readonly isOver: () => boolean;
}

/** A lease whose call is paid. Null: there is nothing to do, or no budget pays for it. Nothing is awaited between paying and the lease. */
async function leasePaid(live: LiveTurn, { id, candidates, trigger, isOver }: Leasing, ports: RoomPorts): Promise<Work["leased"] | null> {
  for (let obtained = 0; obtained <= MOST_OBTAINED && !isOver(); obtained++) {
    const leased = leaseCompaction(id, candidates, ports, { inline: { trigger, incarnation: live.run.incarnation } });
    if (leased.kind !== "unpaid") return leased.kind === "leased" ? leased : null;
    const got = await ports.budgets.obtain(leased.need);
    if (got.ok) continue;
    if (!isOver() && got.error.code === "budget_exhausted") failUnpaid(id, candidates, { ...ports, inside: toTurnRun(live) });
    return null;
  }
  return null;
}

/**
 * The id of the compaction to work on: the one already requested, which the turn takes over, or a new one. Null when no model is to be
 * asked.
 */
function requestInline({ spec, trigger }: Inline, ports: RoomPorts): CompactionId | null {
  const { writer, clock, ids } = ports;
  const { requested } = writer.state.compaction;
  if (requested && !isStandalone(requested.options)) return requested.id;
  if (!summarizes(planSession(spec, { trigger }, ports))) return null;
  writer.execute({ type: "RequestCompaction", at: clock(), compaction: ids.newId("cmp"), trigger, options: null });
  const asked = writer.state.compaction.requested;
  // A draft or a rebuild goes on when the turn does not have to make room.
  return asked && !isStandalone(asked.options) ? asked.id : null;
}

/** Resolves the models by the session's own policy, not by the options that a person gave to a running compaction. */
const resolveCandidatesByPolicy = (spec: ModelSpec, ports: RoomPorts): Promise<SummarizerCandidates> =>
  resolveSummarizerCandidates(spec, ports, toPolicy(ports.writer.state.settings.policy));

const toTurnRun = (live: LiveTurn): WaitingTurn => live.run;

/**
 * Applies the background worker's result, now or when it arrives within `WAIT_FOR_LEASE_MS`. It takes effect inside the turn, because the
 * turn waits for it.
 */
async function useBackground(live: LiveTurn, candidates: SummarizerCandidates, ports: RoomPorts): Promise<void> {
  const { requested } = ports.writer.state.compaction;
  // A draft or a rebuild does not make room.
  if (requested && isStandalone(requested.options)) return;
  applyDeferredResults(candidates, ports, toTurnRun(live));
  const { lease } = ports.writer.state.compaction;
  if (!lease || lease.expires_at <= ports.clock()) return;
  await ports.held.arrival(WAIT_FOR_LEASE_MS);
  if (isCurrent(live, ports)) applyDeferredResults(candidates, ports, toTurnRun(live));
}

interface Work {
  readonly candidates: SummarizerCandidates;
  readonly id: CompactionId;
  readonly leased: Extract<LeaseOutcome, { kind: "leased" }>;
  readonly deadline: number;
}

/**
 * Summarises all parts of one lease, each within the policy's timeout and all within the deadline. Returns the failed outcome when one more
 * attempt is allowed, `unpaid` when the next part has to be paid first, else null.
 */
async function workOff(live: LiveTurn, work: Work, ports: RoomPorts): Promise<SummaryOutcome | "unpaid" | null> {
  const { candidates, id, leased, deadline } = work;
  const lease = { compaction: id, token: leased.token };
  let { part, timeoutMs } = leased;
  const mayRepeat = async (): Promise<boolean> =>
    (await ports.budgets.isPaid(part.request)) && isCurrent(live, ports) && isCurrentLease(lease, ports.writer.state);
  for (;;) {
    const left = Math.min(timeoutMs, deadline - ports.clock());
    const outcome = await summarize(part.request, { timeoutMs: left, signal: live.abort.signal, mayRepeat }, ports);
    await yieldOnLongView(ports);
    // The turn is over, so nothing waits for this summary.
    if (!isCurrent(live, ports)) {
      releaseLease({ ...lease, outcome, part: part.part }, ports);
      return null;
    }
    const applied = applyCompactionResult(
      { ...lease, outcome, part: part.part, next: part.next, inside: toTurnRun(live) },
      candidates,
      ports,
    );
    if (applied.next === "later") return "unpaid";
    if (applied.next !== "continue") return applied.next === "retry" ? outcome : null;
    if (ports.clock() >= deadline) {
      ports.budgets.release(applied.part.request.reservation ?? null);
      releaseLease({ ...lease, outcome: null, part: applied.part.part }, ports);
      return null;
    }
    ({ part, timeoutMs } = applied);
  }
}

/**
 * Drops the oldest groups, down to the emergency's share of the window. The provider refused a request that fits by our measure, so the
 * guard would drop nothing.
 */
function dropInline({ spec, trigger }: Inline, ports: RoomPorts): void {
  const plan = planSession(spec, { trigger }, ports);
  if (plan.kind !== "compact") return;
  applyRungs({ ...plan, rungs: plan.fallback.length > 0 ? plan.fallback : plan.rungs }, { trigger, limits: toModelLimits(spec) }, ports);
}
