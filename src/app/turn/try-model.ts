/**
 * Asks one model until it answers or its failure cannot be remedied. A request that is too long shrinks the view, a reply that is too long
 * shrinks its cap, and a transient failure is waited out. Each remedy is bounded, and only used before the model has sent anything.
 */
import { isBarred, isForcedChoice } from "../../context/generation-support";
import { withQuirks } from "../../context/model-quirks";
import type { ModelCall } from "../../domain/commands";
import type { TurnFailure } from "../../domain/events";
import type { FinishReason } from "../../domain/model-call";
import { readsPlainly } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { buildFittedRequest } from "../request/build-request";
import { MOST_OBTAINED, toTurnNeed, toUnpaidKind } from "../request/call-need";
import { mayBeHistory, type SentFailure, toLesson } from "../request/lessons";
import { askedLength, isOfModel, SHRINKS, shrinkCap } from "../request/reply-caps";
import { resolveModel } from "../request/resolve-model";
import type { RetryBudget } from "../request/retry";
import { waitFor } from "../wait";
import { askModel } from "./ask-model";
import { fitsCandidate, type ModelCandidate } from "./candidates";
import type { LiveTurn } from "./live-turn";
import { isCurrent, makeRoom, type RoomPorts } from "./make-room";
import { type AnswerFailure, type FailedCall, MAX_OVERFLOW_RECOVERIES, recoverFromOverflow } from "./recover-overflow";

/**
 * `over`: the turn has ended. `passed_over`: the view does not fit this model, or it cannot express a setting that shapes the result, and
 * it was not asked.
 */
export type AttemptResult =
  | { readonly kind: "answered"; readonly finish: FinishReason; readonly call: ModelCall }
  | FailedAttempt
  | { readonly kind: "passed_over" }
  | { readonly kind: "over" };

export interface FailedAttempt extends AnswerFailure {
  readonly kind: "failed";
  /** The model sent nothing, so another model may be asked in its place. */
  readonly silent: boolean;
}

const OVER: AttemptResult = { kind: "over" };
const PASSED_OVER: AttemptResult = { kind: "passed_over" };

/** What was tried with one model so far. */
interface OneModel {
  spec: ModelSpec;
  readonly isOwn: boolean;
  /** The most tokens of the reply; null: no cap, and the reply may use what is left of the window. */
  cap: number | null;
  /** The cap that the last request named, in tokens; null: none. */
  asked: number | null;
  calls: number;
  shrinks: number;
  /** How often the history was compacted because of a refusal. */
  recoveries: number;
  /** How often a refusal taught something about the endpoint. */
  lessons: number;
  /** The epoch in which a refusal led to the plainest rendering. Null: none did. */
  plainIn: number | null;
  /** How often it asked for what a call needs. */
  obtained: number;
}

/** `budget`: what the answer has cost so far, over all models. */
export async function tryModel(
  live: LiveTurn,
  { id, isOwn, budget }: ModelCandidate & { budget: RetryBudget },
  ports: RoomPorts,
): Promise<AttemptResult> {
  const resolved = await resolveModel(id, ports);
  if (!isCurrent(live, ports)) return OVER;
  if (!resolved.ok) return notAsked({ kind: resolved.error, status: null });
  const spec = resolved.value;
  // The settings were accepted for this model, so either the registry has changed since, or it is a fallback model.
  if (isBarred(ports.content.readGeneration(), spec)) return isOwn ? notAsked({ kind: "invalid_param", status: null }) : PASSED_OVER;
  const cap = ports.replyCaps.get(spec.id) ?? null;
  const one: OneModel = { spec, isOwn, cap, asked: null, calls: 0, shrinks: 0, recoveries: 0, lessons: 0, plainIn: null, obtained: 0 };
  return askUntilAnswered(live, { one, budget }, ports);
}

interface Answering {
  readonly one: OneModel;
  readonly budget: RetryBudget;
}

async function askUntilAnswered(live: LiveTurn, { one, budget }: Answering, ports: RoomPorts): Promise<AttemptResult> {
  for (;;) {
    one.spec = withQuirks(one.spec, ports.lessons.find(one.spec.id));
    const room = await findRoom(live, one, ports);
    if (typeof room !== "number") return room;
    // Another request may have ended the turn while this one was awaited, or changed what every request carries.
    if (!isCurrent(live, ports)) return OVER;
    if (room !== ports.writer.state.view.epoch) continue;
    // A summary's refusal may have taught something meanwhile.
    one.spec = withQuirks(one.spec, ports.lessons.find(one.spec.id));
    const paid = payFor(one, ports);
    const next = paid.kind === "short" ? await obtain(live, one, ports) : await askPaid(live, { one, budget, paid }, ports);
    if (next !== "again") return next;
  }
}

interface Paid extends Answering {
  readonly paid: { readonly reservation: number | null };
}

async function askPaid(live: LiveTurn, { one, budget, paid }: Paid, ports: RoomPorts): Promise<AttemptResult | "again"> {
  const asking = { spec: one.spec, maxOutput: one.asked, plain: isPlain(one, ports), ...paid };
  const { outcome, call, silent } = await askModel(live, asking, ports);
  if (outcome.kind === "finished") return { kind: "answered", finish: outcome.finish, call };
  const { refusal } = outcome;
  const failed = { failure: outcome.failure, call, ...(outcome.excerpt !== undefined && { excerpt: outcome.excerpt }) };
  return silent ? recoverCall(live, { failed, refusal, one, budget }, ports) : toFailedAttempt(failed, silent);
}

const isPlain = ({ plainIn, spec }: OneModel, { writer: { state } }: RoomPorts): boolean =>
  plainIn === state.view.epoch || readsPlainly(state, spec.id);

/** Chooses the length of the reply, and reserves what the call may cost. A call that a budget counts names a length. */
function payFor(one: OneModel, ports: RoomPorts): ReturnType<RoomPorts["budgets"]["hold"]> {
  const { spec } = one;
  const { state } = ports.writer;
  const most = ports.content.readGeneration().max_output_tokens;
  const found = one.cap ?? (ports.budgets.applies("turn") ? spec.max_output : null);
  one.asked = askedLength(found, { spec, state, most });
  return ports.budgets.hold(toTurnNeed(state, spec, one.asked));
}

/** Asks for what the call needs. `again`: it may be reserved now, and room must be found again, because time has passed. */
async function obtain(live: LiveTurn, one: OneModel, ports: RoomPorts): Promise<AttemptResult | "again"> {
  const got = one.obtained++ < MOST_OBTAINED ? await ports.budgets.obtain(toTurnNeed(ports.writer.state, one.spec, one.asked)) : null;
  if (!isCurrent(live, ports)) return OVER;
  if (got?.ok) return "again";
  return notAsked({ kind: got ? toUnpaidKind(got.error) : "unavailable", status: null });
}

const toFailedAttempt = (failed: AnswerFailure, silent: boolean): FailedAttempt => ({ kind: "failed", ...failed, silent });
const notAsked = (failure: TurnFailure): FailedAttempt => toFailedAttempt({ failure, call: null }, true);

/** The epoch in which the request fits. Room is made only for the session's own model; a fallback model takes the view as it is. */
async function findRoom(live: LiveTurn, { spec, isOwn }: OneModel, ports: RoomPorts): Promise<AttemptResult | number> {
  if (!isOwn) return fitsCandidate(ports.writer.state, spec) ? ports.writer.state.view.epoch : PASSED_OVER;
  const room = await makeRoom(live, spec, ports);
  if (room.ok) return room.value;
  return room.error === "stopped" ? OVER : notAsked(room.error);
}

interface CallToRecover {
  readonly failed: FailedCall;
  readonly refusal: SentFailure;
  readonly one: OneModel;
  readonly budget: RetryBudget;
}

/** Remedies a call that failed before its first output. `again`: ask the same model again; otherwise how the attempt ended. */
async function recoverCall(
  live: LiveTurn,
  { failed, refusal, one, budget }: CallToRecover,
  ports: RoomPorts,
): Promise<AttemptResult | "again"> {
  const { failure, call } = failed;
  if (failure.kind === "overflow" && one.isOwn) {
    const ended = await recoverFromOverflow(live, { refused: failed, spec: one.spec, recoveries: one.recoveries++ }, ports);
    return ended ? toFailedAttempt(ended, true) : "again";
  }
  budget.failed(call.estimate, call.ms);
  one.calls += 1;
  const isChanged =
    !budget.isSpent && (shrink(failure, one, ports) || learn(refusal, one, ports) || (await makePlainer(refusal, one, ports)));
  if (!isCurrent(live, ports)) return OVER;
  const wait = isChanged ? 0 : budget.nextWait(failure, { calls: one.calls, random: ports.random });
  if (wait === null) return toFailedAttempt(failed, true);
  if (!recordFailedCall(live, call, ports)) return OVER;
  ports.log.warn("model_retry", { turn: live.run.turn, model: one.spec.id, kind: failure.kind, wait });
  if (wait === 0) return "again";
  ports.showWaiting(live.run.turn, { model: one.spec.id, reason: failure.kind, wait_ms: wait });
  await waitFor(wait, live.abort.signal, ports.schedule);
  return isCurrent(live, ports) ? "again" : OVER;
}

/** Lowers the reply's cap, never the history. False when the cap was not the cause, or cannot shrink any more. */
function shrink(failure: TurnFailure, one: OneModel, { replyCaps, writer }: RoomPorts): boolean {
  if (failure.kind !== "output_cap" || one.shrinks === SHRINKS) return false;
  const cap = shrinkCap(failure, one.asked ?? one.spec.max_output);
  if (cap === null) return false;
  one.shrinks += 1;
  one.cap = cap;
  if (isOfModel(cap, { spec: one.spec, state: writer.state })) replyCaps.set(one.spec.id, cap);
  return true;
}

/** How many refusals of one answer may teach something about the endpoint. */
const MOST_LESSONS = 4;

/** Changes what the request is built by. False when the refusal teaches nothing new, or would change what the client asked for. */
function learn(refusal: SentFailure, one: OneModel, { lessons, content, writer }: RoomPorts): boolean {
  const { tool_choice } = content.readGeneration();
  if (refusal.refused === "tool_choice" && tool_choice !== undefined && isForcedChoice(tool_choice)) return false;
  const lesson = toLesson(one.spec, refusal);
  if (!lesson) return false;
  const isLess = lesson.max_request_bytes !== undefined;
  lessons.note(one.spec.id, lesson);
  if (isLess && (one.recoveries++ === MAX_OVERFLOW_RECOVERIES || writer.state.turn?.whole)) return false;
  if (one.lessons++ === MOST_LESSONS) return false;
  return true;
}

/**
 * Renders the conversation in the plainest way, where the provider may have refused the usual one because of its history. False when that
 * would send the same.
 */
async function makePlainer(refusal: SentFailure, one: OneModel, ports: RoomPorts): Promise<boolean> {
  if (isPlain(one, ports) || !mayBeHistory(refusal)) return false;
  const { content, model, lessons } = ports;
  // The refusal may have taught something that alone was no reason to ask again.
  const spec = withQuirks(one.spec, lessons.find(one.spec.id));
  const { epoch } = ports.writer.state.view;
  const asking = { maxOutput: one.asked, reservation: null };
  const [usual, plain] = await Promise.all(
    [false, true].map((isPlain) => model.render(buildFittedRequest(content, spec, { ...asking, plain: isPlain }).request)),
  );
  if (usual?.body === plain?.body) return false;
  one.plainIn = epoch;
  return true;
}

/** Records a failed call in the ledger before the next call is made. `call` null: none was made. False when the turn is over. */
export function recordFailedCall(live: LiveTurn, call: ModelCall | null, ports: RoomPorts): boolean {
  const goesOn = call ? ports.writer.execute({ type: "RecordCall", at: ports.clock(), ...live.run, call }).ok : isCurrent(live, ports);
  live.call = null;
  return goesOn;
}
