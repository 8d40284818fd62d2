/** Builds a session's next request from the current view, for the model as the registry describes it. */
import { assumeWindow, type ModelLimits, toRequestLimit } from "../../context/budget";
import type { EpochChangeInput } from "../../context/epoch-change";
import { buildChangeFromRungs } from "../../context/epoch-change";
import type { GenerationField } from "../../context/generation";
import { fitGeneration } from "../../context/generation-support";
import { planGuard } from "../../context/guard";
import { findQuirks } from "../../context/model-quirks";
import type { CompactPlan, Plan } from "../../context/plan";
import type { Policy } from "../../context/policy";
import { toPolicy } from "../../context/policy-choice";
import { planResults } from "../../context/results-rung";
import { Sizing } from "../../context/sizing";
import { buildView } from "../../context/view";
import type { ModelCall } from "../../domain/commands";
import type { CompactionTrigger } from "../../domain/compaction-events";
import { addToSpend } from "../../domain/compaction-spend";
import type { TurnFailure } from "../../domain/events";
import type { CompactionId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import { err, ok, type Result } from "../../lib/result";
import type { ModelRequest, ModelSpec } from "../ports";
import type { SessionContent, SessionPorts } from "../session-ports";

export const toModelLimits = (spec: ModelSpec): ModelLimits => ({
  model: spec,
  window: spec.context_window,
  maxOutput: spec.max_output,
  // A model that costs nothing is planned by relative prices: with prices of zero, every compaction would seem worth it.
  prices: spec.prices && spec.prices.input > 0 ? spec.prices : null,
  bytes: findQuirks(spec).max_request_bytes,
});

/** The model's limits, with the policy's assumption in place of an unknown window. */
export const toAssumedLimits = (spec: ModelSpec, policy: Policy): ModelLimits => assumeWindow(toModelLimits(spec), policy);

/**
 * `maxOutput`: the most tokens of the reply, where the model was found to take less than it would be asked for; null: no cap, and the reply
 * may use what is left of the window.
 */
export const buildRequest = (content: SessionContent, spec: ModelSpec, maxOutput: number | null = null): ModelRequest =>
  buildFittedRequest(content, spec, { maxOutput, reservation: null, plain: false }).request;

interface FittedRequest {
  readonly request: ModelRequest;
  /** Generation settings that are set and that the request does not state, because the model cannot express them. */
  readonly leftOut: readonly GenerationField[];
}

interface Asking {
  readonly maxOutput: number | null;
  readonly reservation: number | null;
  /** Whether the conversation is rendered in the plainest way. */
  readonly plain: boolean;
}

export function buildFittedRequest(content: SessionContent, spec: ModelSpec, { maxOutput, reservation, plain }: Asking): FittedRequest {
  const prefix = readPrefix(content, spec);
  const { generation, leftOut } = fitGeneration(content.readGeneration(), {
    model: spec,
    tools: prefix.tools.map(({ name }) => name),
    continues: prefix.messages.at(-1)?.role === "tool",
  });
  const isStated = Object.keys(generation).length > 0;
  const paid = reservation === null ? {} : { reservation };
  const stated = { ...(isStated && { generation }), ...(plain && { plain }) };
  return { request: { ...prefix, purpose: "turn", maxOutput, ...stated, ...paid }, leftOut };
}

/** What a turn's request shares with a summary request that reads the same prefix. `upTo`: the last position to include. */
export function readPrefix(content: SessionContent, spec: ModelSpec, upTo?: number): Omit<ModelRequest, "purpose" | "maxOutput"> {
  const { system, messages, older } = buildView({ ...content.readView(upTo), model: spec.id });
  const cacheKey = content.readCacheKey();
  return { model: spec, system, messages, tools: content.readTools(), older, ...(cacheKey === null ? {} : { cacheKey }) };
}

/** A drop discards the anchor (the provider's last count), so the next measure is a padded estimate and may need another round. */
const GUARD_ROUNDS = 3;

/** Frees space without a model, before a model call. After it the request fits by our measure, or the error reports why it cannot. */
export function fitRequest(ports: ChangePorts, spec: ModelSpec): Result<null, TurnFailure> {
  const { writer } = ports;
  const limits = toModelLimits(spec);
  const policy = toPolicy(writer.state.settings.policy);
  applyRungs(planResults({ state: writer.state, limits, policy }), { trigger: "results", limits }, ports);
  for (let round = 0; round < GUARD_ROUNDS; round++) {
    const plan = planGuard({ state: writer.state, limits, policy });
    if (plan.kind === "none") return ok(null);
    if (plan.kind === "cannot_fit") {
      const isTried = plan.tight && isWindowExact(spec) && takesAll(plan.tight, { trigger: "guard", limits }, ports);
      return isTried ? ok(null) : err({ kind: "cannot_fit", status: null, fit: plan.fit });
    }
    if (!applyRungs(plan, { trigger: "guard", limits }, ports)) break;
  }
  const tokens = new Sizing(writer.state, spec).planned();
  const limit = toRequestLimit(toAssumedLimits(spec, policy)) ?? tokens;
  return tokens <= limit ? ok(null) : err({ kind: "cannot_fit", status: null, fit: { floor: tokens, limit, biggest: [] } });
}

/** Whether everything leaves that may, before a request is tried. */
const takesAll = (plan: CompactPlan, by: Applying, ports: ChangePorts): boolean => plan.rungs.length === 0 || applyRungs(plan, by, ports);

/**
 * Whether a request that does not fit by the upper bound of its estimate may be tried: the registry knows the window, and the endpoint
 * refuses what exceeds it.
 */
export const isWindowExact = (spec: ModelSpec): boolean => spec.context_window !== null && !findQuirks(spec).truncates_silently;

interface Applying {
  readonly trigger: CompactionTrigger;
  readonly limits: ModelLimits;
  /** The requested compaction that this commits; absent: a new one. */
  readonly compaction?: CompactionId;
}

/** Commits a plan that needs no model. False when there was nothing to do, or the view had changed. */
export function applyRungs(plan: Plan, by: Applying, ports: ChangePorts): boolean {
  if (plan.kind !== "compact") return false;
  const { writer, clock, ids } = ports;
  const { trigger, limits } = by;
  // A summary may have been attempted before it turned out that none is needed: the receipt then shows what that cost.
  const summarizer = by.compaction === writer.state.compaction.requested?.id ? toSummarizerReceipt(writer.state, null) : null;
  const change = buildChangeFromRungs(plan.rungs, toChangeInput({ trigger, limits, summarizer, economy: plan.economy }, ports));
  return writer.execute({ type: "ChangeEpoch", at: clock(), compaction: by.compaction ?? ids.newId("cmp"), trigger, change }).ok;
}

interface Drafting extends Pick<EpochChangeInput, "limits" | "trigger"> {
  readonly summarizer?: EpochChangeInput["summarizer"];
  readonly economy?: EpochChangeInput["economy"];
}

export type ChangePorts = Pick<SessionPorts, "writer" | "content" | "clock" | "ids">;

export const toChangeInput = (by: Drafting, { writer, content, clock, ids }: ChangePorts): EpochChangeInput => ({
  state: writer.state,
  limits: by.limits,
  trigger: by.trigger,
  newOverlay: () => ids.newId("ovl"),
  read: (item) => content.readParts(item),
  summarizer: by.summarizer ?? null,
  economy: by.economy ?? null,
  now: clock(),
});

/**
 * `call`: the call being judged, which is recorded in the same step; null: none. Returns null when no model was asked for this compaction.
 */
export function toSummarizerReceipt({ compaction: { requested } }: SessionState, call: ModelCall | null): EpochChangeInput["summarizer"] {
  if (!requested) return null;
  const spent = call ? addToSpend(requested.spent, call) : requested.spent;
  return requested.attempts > 0 || spent.model !== null ? { ...spent, attempts: requested.attempts } : null;
}
