/**
 * A compaction that a person asks for: returned as a plan, done at once where no model is needed, otherwise requested from a worker.
 * Synchronous.
 */
import type { CompactPlan, Plan } from "../../context/plan";
import type { Policy } from "../../context/policy";
import { mergeChoices, namesInstructions } from "../../context/policy-choice";
import type { ShownPlan } from "../../contract/plan";
import { describeBreaker } from "../../domain/breaker";
import type { CompactionOptions } from "../../domain/compaction-events";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import type { CompactInput } from "../control-api";
import type { ModelSpec } from "../ports";
import { buildTextBody } from "../request/build-items";
import { applyRungs, toModelLimits } from "../request/build-request";
import { buildPolicy, readSessionPolicy } from "../request/session-policy";
import type { Outcome } from "../session-api";
import type { BodyText } from "../session-ports";
import { buildChosenNote, type PlannedNote } from "./note-change";
import { askedPolicy, type CompactionPorts, planSession, summarizes } from "./plan-session";

export type ByHand =
  | { readonly kind: "plan"; readonly plan: ShownPlan }
  | { readonly kind: "done" | "requested"; readonly id: CompactionId };

type Ports = Pick<CompactionPorts, "writer" | "content" | "clock" | "ids">;

export function compactByHand(spec: ModelSpec, input: CompactInput, ports: Ports): Outcome<ByHand> {
  const misfit = refuse(input, ports);
  if (misfit) return misfit;
  const { options, bodies } = toOptions(input, ports);
  const plan = planSession(spec, { trigger: "manual", options }, ports);
  const { state } = ports.writer;
  const shown: ShownPlan = { ...plan, breaker: describeBreaker(state.compaction) };
  if (input.dryRun) return ok({ kind: "plan", plan: shown });
  const { requested, draft } = state.compaction;
  if (requested) return err({ code: "compaction_running", compaction: requested.id });
  if (draft && options?.draft) return err({ code: "draft_open", compaction: draft.id });
  if (plan.kind === "cannot_fit") return err({ code: "cannot_fit", fit: plan.fit });
  // Only a summary by a model can be a draft. A plan without a model is done at once, or returned as a plan when a draft was asked for.
  const note = findNote(plan, askedPolicy(state, options));
  const asksModel = summarizes(plan) && note === null;
  if (plan.kind === "none" || (options?.draft && !asksModel)) return ok({ kind: "plan", plan: shown });
  // During a turn the view must not change: the compaction waits for the turn's end.
  if (!asksModel && !state.turn) return doAtOnce(plan, note, { spec, shown }, ports);
  const id = ports.ids.newId("cmp");
  const by = input.key === undefined ? {} : { key: input.key };
  const command = { type: "RequestCompaction", at: ports.clock(), compaction: id, trigger: "manual", options, ...by } as const;
  const asked = ports.writer.execute(command, bodies);
  return asked.ok ? ok({ kind: "requested", id }) : err(asked.error);
}

interface AtOnce {
  readonly spec: ModelSpec;
  readonly shown: ShownPlan;
}

/** Carries out a plan that asks no model. A note that would not make the request smaller is none. */
function doAtOnce(plan: CompactPlan, note: PlannedNote | null, { spec, shown }: AtOnce, ports: Ports): Outcome<ByHand> {
  const id = ports.ids.newId("cmp");
  const done = (isDone: boolean): Outcome<ByHand> => (isDone ? ok({ kind: "done", id }) : err({ code: "stale", reason: "epoch_moved" }));
  if (!note) return done(applyRungs(plan, { trigger: "manual", limits: toModelLimits(spec), compaction: id }, ports));
  const built = buildChosenNote(note, spec, ports);
  if (!built) return ok({ kind: "plan", plan: { kind: "none", reason: "nothing_older", next: plan.next, breaker: shown.breaker } });
  const command = { type: "ChangeEpoch", at: ports.clock(), compaction: id, trigger: "manual", change: built.change } as const;
  return done(ports.writer.execute(command, built.bodies).ok);
}

/** The plan, if the policy wants a note in place of its summary: no model writes one. */
function findNote(plan: Plan, { summary }: Policy): PlannedNote | null {
  const rung = plan.kind === "compact" ? plan.rungs.find((step) => step.rung === "summarize") : undefined;
  return plan.kind === "compact" && rung && summary.form === "note" ? { ...plan, rung } : null;
}

/** The policy whose rules for summaries the request asks for. */
export const readAskedPolicy = (input: CompactInput, ports: Ports): Policy =>
  askedPolicy(ports.writer.state, toOptions(input, ports).options);

/** Rejects a position that does not exist, and options that contradict each other. */
function refuse({ rebuild, keepRecent, upTo }: CompactInput, { writer }: Ports): Outcome<never> | null {
  const invalid = (field: string, detail: string): Outcome<never> => err({ code: "invalid", field, detail });
  const last = writer.state.next_position - 1;
  if (upTo !== null && upTo > last) return invalid("up_to", `no such position: the conversation ends at ${last}`);
  if (!rebuild || (keepRecent === null && upTo === null)) return null;
  return invalid(upTo === null ? "keep_recent" : "up_to", "a rebuild always covers exactly what the current summaries cover");
}

interface DraftedOptions {
  readonly options: CompactionOptions | null;
  readonly bodies: readonly BodyText[];
}

function toOptions(input: CompactInput, ports: Ports): DraftedOptions {
  const { keepRecent, upTo, instructions, draft, rebuild, model } = input;
  const { ref, bodies } = buildTextBody(instructions, ports.ids);
  const policy = toPolicyOptions(input, ports);
  const apart: Partial<CompactionOptions> = {
    ...(draft && { draft }),
    ...(rebuild && { rebuild }),
    ...(model !== undefined && { model }),
    ...policy.options,
  };
  if (keepRecent === null && upTo === null && ref === null && Object.keys(apart).length === 0) return { options: null, bodies: [] };
  return { options: { keep_recent: keepRecent, up_to: upTo, instructions: ref, ...apart }, bodies: [...bodies, ...policy.bodies] };
}

/**
 * The policy is merged over the session's, in the form in which settings store it. Instructions that it does not name are
 * the session's, which may change until the summary is made.
 */
function toPolicyOptions({ policy }: CompactInput, { ids, writer, content }: Ports) {
  if (policy === undefined) return { options: {}, bodies: [] };
  const built = buildPolicy(mergeChoices(readSessionPolicy(writer.state.settings, content), policy), ids);
  if (!namesInstructions(policy)) return { options: { policy: built.policy }, bodies: [] };
  return { options: { policy: built.policy, policy_instructions: built.instructions }, bodies: built.bodies };
}
