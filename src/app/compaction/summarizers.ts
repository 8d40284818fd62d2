/** Who writes a session's summaries: the models that its policy names, in order, each in its own window; else the session's model. */

import { limitOf, PADDING } from "../../context/budget";
import { INSTRUCTION_TOKENS } from "../../context/economy";
import type { Policy } from "../../context/policy";
import { summaryCap } from "../../context/proposal";
import { CAP_TOLERANCE } from "../../context/summary-check";
import { attemptsUnder } from "../../domain/breaker";
import type { SummaryPlan } from "../../domain/compaction-events";
import type { RequestedCompaction, SessionState } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { windowOf } from "../request/build-request";
import { type ResolvePorts, resolveModel } from "../request/resolve-model";
import type { SessionPorts } from "../session-ports";
import { policyUnderWay } from "./plan-session";

/** The session's model, for which the view is planned, and who summarises: one at least. */
export interface Cast {
  readonly spec: ModelSpec;
  readonly summarizers: readonly [ModelSpec, ...ModelSpec[]];
}

/** The session's model alone. */
const castOf = (spec: ModelSpec): Cast => ({ spec, summarizers: [spec] });

/** What is unknown, out of reach or too small to read anything is passed over; with none left it is the session's model. `policy`: whose summaries they are. */
export async function resolveCast(
  spec: ModelSpec,
  ports: ResolvePorts & Pick<SessionPorts, "writer">,
  policy: Policy = policyUnderWay(ports.writer.state),
): Promise<Cast> {
  const asked = policy.summary.models.map(async (id) => (id === spec.id ? spec : await resolve(id, ports)));
  const known = (await Promise.all(asked)).filter((model) => model !== null);
  const [first, ...others] = known.filter((model) => canRead(model, spec, policy));
  return first ? { spec, summarizers: [first, ...others] } : castOf(spec);
}

async function resolve(id: string, ports: ResolvePorts): Promise<ModelSpec | null> {
  const found = await resolveModel(id, ports);
  return found.ok ? found.value : null;
}

/** Raw tokens beside the answer: what it is told, as much again of the summary so far, and something to read. */
const LEAST_TO_READ = 2 * (INSTRUCTION_TOKENS + 200);

/** Whether its window holds what a summariser of the session must read at once. */
export function canRead(model: ModelSpec, spec: ModelSpec, policy: Policy): boolean {
  const limit = limitOf(windowOf(model, policy));
  return limit === null || (limit - capFor(model, spec, policy)) / PADDING >= LEAST_TO_READ;
}

/** The model of the next attempt. A breaker's probes take turns: one of several models may be well again. */
export function nextSummarizer({ attempts }: RequestedCompaction, { compaction }: SessionState, cast: Cast): ModelSpec {
  const { breaker, failures } = compaction;
  return summarizerAt(breaker === null ? attempts + 1 : (failures % cast.summarizers.length) + 1, cast);
}

/** Each attempt asks the next one; the last one is asked again. `attempt`: from 1. */
const summarizerAt = (attempt: number, { summarizers }: Cast): ModelSpec =>
  summarizers[Math.min(attempt, summarizers.length) - 1] ?? summarizers[0];

/** Who goes on with a fold: whoever made its last part. */
export const summarizerNamed = (id: string, attempt: number, cast: Cast): ModelSpec =>
  cast.summarizers.find((model) => model.id === id) ?? summarizerAt(attempt, cast);

/** Attempts of the compaction under way: as many as the policy says, and one of each model that it names; of a breaker's probe one. */
export const attemptsOf = (state: SessionState, { summarizers }: Cast): number =>
  attemptsUnder(state.compaction, Math.max(policyUnderWay(state).summary.attempts, summarizers.length));

/** Most tokens of the summary that stands in the view. */
export const capOf = (spec: ModelSpec, policy: Policy): number => summaryCap(windowOf(spec, policy), policy);

/** Most tokens of a summary that `model` writes for a session of `spec`: what stands in the view, and what the writer can. */
const capFor = (model: ModelSpec, spec: ModelSpec, policy: Policy): number => {
  const cap = capOf(spec, policy);
  return model.id === spec.id ? cap : Math.min(cap, model.max_output, Math.floor((model.context_window ?? Number.POSITIVE_INFINITY) / 4));
};

export interface Writing {
  readonly plan: SummaryPlan;
  /** The session's model, for whose view it is. */
  readonly spec: ModelSpec;
  /** Who writes it. */
  readonly summarizer: ModelSpec;
  readonly policy: Policy;
}

/** Most tokens of one answer, as its writer is told: the two stages of a split turn are one summary in the end. */
export function answerCapOf({ plan: { mode, split, source }, spec, summarizer, policy }: Writing): number {
  const cap = capFor(summarizer, spec, policy);
  return mode === "transcript" && split !== null && split > source.from ? Math.min(cap, Math.floor(capOf(spec, policy) / 2)) : cap;
}

/** What the request allows: who writes a little more than it was told comes to its end, and what it wrote is worth having (`summary-check`). */
export const allowedOutput = (cap: number, { max_output }: Pick<ModelSpec, "max_output">): number =>
  Math.min(max_output, Math.ceil(cap * CAP_TOLERANCE));
