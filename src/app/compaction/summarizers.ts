/**
 * Decides which models write a session's summaries: those that its policy names, in order, each within its own window; otherwise the
 * session's model.
 */

import { toRequestLimit } from "../../context/budget";
import { INSTRUCTION_TOKENS } from "../../context/economy";
import { withQuirks } from "../../context/model-quirks";
import type { Policy } from "../../context/policy";
import { toSummaryCap } from "../../context/proposal";
import { PADDING } from "../../context/sizing";
import { CAP_TOLERANCE } from "../../context/summary-check";
import { attemptsUnder } from "../../domain/breaker";
import type { SummaryPlan } from "../../domain/compaction-events";
import type { RequestedCompaction } from "../../domain/compaction-work";
import { findInstructions } from "../../domain/standing-instructions";
import type { SessionState } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { toAssumedLimits } from "../request/build-request";
import { type ResolvePorts, resolveModel } from "../request/resolve-model";
import type { Lessons, SessionPorts } from "../session-ports";
import { policyUnderWay } from "./plan-session";

/** The session's model, for which the view is planned, and the summarisers: at least one. */
export interface SummarizerCandidates {
  readonly spec: ModelSpec;
  readonly summarizers: readonly [ModelSpec, ...ModelSpec[]];
}

/** The session's model as its only summariser. */
const toOwnModelCandidates = (spec: ModelSpec): SummarizerCandidates => ({ spec, summarizers: [spec] });

/**
 * Skips models that are unknown, unreachable or too small to read anything. When none is left, the session's model summarises. `policy`:
 * the one whose rules for summaries apply.
 */
export async function resolveSummarizerCandidates(
  spec: ModelSpec,
  ports: ResolvePorts & Pick<SessionPorts, "writer">,
  policy: Policy = policyUnderWay(ports.writer.state),
): Promise<SummarizerCandidates> {
  const asked = policy.summary.models.map(async (id) => (id === spec.id ? spec : await resolve(id, ports)));
  const known = (await Promise.all(asked)).filter((model) => model !== null);
  const [first, ...others] = known.filter((model) => canRead(model, spec, policy));
  return first ? { spec, summarizers: [first, ...others] } : toOwnModelCandidates(spec);
}

/** The candidates with what refusals have taught about them since they were looked up. */
export function withLessons({ spec, summarizers: [first, ...others] }: SummarizerCandidates, lessons: Lessons): SummarizerCandidates {
  const apply = (known: ModelSpec): ModelSpec => withQuirks(known, lessons.find(known.id));
  return { spec: apply(spec), summarizers: [apply(first), ...others.map(apply)] };
}

async function resolve(id: string, ports: ResolvePorts): Promise<ModelSpec | null> {
  const found = await resolveModel(id, ports);
  return found.ok ? found.value : null;
}

/**
 * The least that a summariser must be able to read beside its answer, in raw tokens: the instruction, as much again for the previous
 * summary, and some transcript.
 */
const LEAST_TO_READ = 2 * (INSTRUCTION_TOKENS + 200);

/** Raw tokens that the model can read at once beside its answer, as a summariser of the session. */
function readableTokens(model: ModelSpec, spec: ModelSpec, policy: Policy): number {
  const limit = toRequestLimit(toAssumedLimits(model, policy)) ?? Number.POSITIVE_INFINITY;
  return (limit - toWriterCap(model, spec, policy)) / PADDING;
}

/** Whether the model's window holds the least that a summariser of the session must read at once. */
export const canRead = (model: ModelSpec, spec: ModelSpec, policy: Policy): boolean => readableTokens(model, spec, policy) >= LEAST_TO_READ;

/**
 * The standing instructions as a plan names them. A summariser is not given them
 *
 * - after an answer that could not be used, and while the breaker is open: they may be the reason, and a summary without
 *   them is better than none;
 * - when they would leave less than half of what it can read to the conversation.
 */
export function planInstructions(
  { unusable, options }: RequestedCompaction,
  { settings, compaction }: SessionState,
  { spec, summarizer, policy }: Omit<Writing, "plan">,
): Pick<SummaryPlan, "instructions" | "instructions_left_out"> {
  const instructions = findInstructions(settings, options);
  if (!instructions) return {};
  const isSuspect = unusable === true || compaction.breaker !== null;
  const fits = instructions.tokens <= readableTokens(summarizer, spec, policy) / 2;
  return fits && !isSuspect ? { instructions } : { instructions_left_out: true };
}

/** The model of the next attempt. Probes of an open breaker ask the models in turn, because one of them may work again. */
export function nextSummarizer(
  { attempts }: RequestedCompaction,
  { compaction }: SessionState,
  candidates: SummarizerCandidates,
): ModelSpec {
  const { breaker, failures } = compaction;
  return summarizerAt(breaker === null ? attempts + 1 : (failures % candidates.summarizers.length) + 1, candidates);
}

/** Each attempt asks the next model; the last model is asked again. `attempt`: from 1. */
const summarizerAt = (attempt: number, { summarizers }: SummarizerCandidates): ModelSpec =>
  summarizers[Math.min(attempt, summarizers.length) - 1] ?? summarizers[0];

/** The model that continues a chunked summary: the one that made its last chunk, if it is still available. */
export const summarizerNamed = (id: string, attempt: number, candidates: SummarizerCandidates): ModelSpec =>
  candidates.summarizers.find((model) => model.id === id) ?? summarizerAt(attempt, candidates);

/** Attempts of the current compaction: the policy's number, and at least one for each model that it names. A breaker's probe has one. */
export const toAttemptLimit = (state: SessionState, { summarizers }: SummarizerCandidates): number =>
  attemptsUnder(state.compaction, Math.max(policyUnderWay(state).summary.attempts, summarizers.length));

/** The most tokens of the summary in the view. */
export const toModelSummaryCap = (spec: ModelSpec, policy: Policy): number => toSummaryCap(toAssumedLimits(spec, policy), policy);

/**
 * The most tokens of a summary that `model` writes for a session of `spec`: bounded by the cap of the view and by what the writer can
 * produce.
 */
const toWriterCap = (model: ModelSpec, spec: ModelSpec, policy: Policy): number => {
  const cap = toModelSummaryCap(spec, policy);
  return model.id === spec.id ? cap : Math.min(cap, model.max_output, Math.floor((model.context_window ?? Number.POSITIVE_INFINITY) / 4));
};

export interface Writing {
  readonly plan: SummaryPlan;
  /** The session's model, for whose view the summary is. */
  readonly spec: ModelSpec;
  /** The model that writes the summary. */
  readonly summarizer: ModelSpec;
  readonly policy: Policy;
}

/** Maximum tokens of one answer, as the prompt states it. The two stages of a split turn share one cap, because they become one summary. */
export function toAnswerCap({ plan: { mode, split, source }, spec, summarizer, policy }: Writing): number {
  const cap = toWriterCap(summarizer, spec, policy);
  return mode === "transcript" && split !== null && split > source.from
    ? Math.min(cap, Math.floor(toModelSummaryCap(spec, policy) / 2))
    : cap;
}

/**
 * The request's output limit. It exceeds the cap in the prompt: a model that writes a little more can still finish, and its text is
 * usable (`summary-check`).
 */
export const allowedOutput = (cap: number, { max_output }: Pick<ModelSpec, "max_output">): number =>
  Math.min(max_output, Math.ceil(cap * CAP_TOLERANCE));
