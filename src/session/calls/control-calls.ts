/** Changes of the view by hand: compact, revert, reset the summary. */
import type { CallNeed } from "../../app/call-charge";
import { type ByHand, compactByHand, readAskedPolicy } from "../../app/compaction/compact-by-hand";
import { measureNextCall } from "../../app/compaction/lease-compaction";
import { resetSummary, revertCompaction } from "../../app/compaction/revert-reset";
import { canRead, resolveSummarizerCandidates, type SummarizerCandidates } from "../../app/compaction/summarizers";
import type { CompactInput, CompactOutcome, ControlApi } from "../../app/control-api";
import type { ModelSpec } from "../../app/ports";
import { resolveModel } from "../../app/request/resolve-model";
import { readSessionPolicy } from "../../app/request/session-policy";
import type * as api from "../../app/session-api";
import { mergeChoices, toPolicy } from "../../context/policy-choice";
import type { CompactionView } from "../../contract/compaction";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { createSessionPast } from "../log/session-past";
import type { Step } from "../log/store";
import type { Session } from "../session";
import { isRepeated, obtainOrRefuse } from "./admit-turn";
import { refusePolicy } from "./lifecycle-calls";
import { refusal } from "./model-refusal";
import { transactOnce } from "./once";
import { showCompaction } from "./read-calls";

type InputOf<M extends keyof ControlApi> = Parameters<ControlApi[M]>[1];

export async function resolveSessionModel(session: Session): Promise<api.Outcome<ModelSpec>> {
  const { model } = session.state.settings;
  const found = await resolveModel(model, session.ports());
  if (session.state.lifecycle === "erased") return err({ code: "session_erased" });
  return found.ok ? found : err(refusal(found.error, model));
}

export const toCompactionPorts = (session: Session, writer: Step) => ({
  writer,
  content: session.content,
  clock: session.deps.clock,
  ids: session.deps.ids,
  past: createSessionPast(session.deps.sql, writer.state),
});

export async function compactSession(session: Session, input: InputOf<"compact">): Promise<api.Outcome<api.Once<CompactOutcome>>> {
  const spec = await resolveSessionModel(session);
  if (!spec.ok) return spec;
  const { idempotency, ...asked } = input;
  const refused = await refuseAsked(session, asked, spec.value);
  if (refused) return refused;
  const unpaid = asked.dryRun || isRepeated(session, { idempotency }) ? null : await refuseUnpaidSummary(session, asked, spec.value);
  if (unpaid) return unpaid;
  // A dry run stores nothing, and so no idempotency key.
  const key = asked.dryRun ? null : idempotency;
  const done = transactOnce<ByHand>(session, key, (step) => compactByHand(spec.value, asked, toCompactionPorts(session, step)));
  if (!done.ok) return done;
  if (done.value.kind === "plan") return ok(done.value);
  const { kind, id, replayed } = done.value;
  const shown = showCompaction(session, id);
  return shown.ok ? ok({ kind, compaction: shown.value, replayed }) : shown;
}

/** Null: no budget counts it, no model is asked for it, or its first call can be paid. What was granted stays in the wallet for the worker. */
async function refuseUnpaidSummary(session: Session, asked: CompactInput, spec: ModelSpec): Promise<api.Outcome<never> | null> {
  const ports = session.ports();
  if (!ports.budgets.applies("compaction")) return null;
  const candidates = await resolveSummarizerCandidates(spec, ports, readAskedPolicy(asked, ports));
  if (session.state.lifecycle === "erased") return err({ code: "session_erased" });
  const need = measureAsked(session, asked, candidates);
  return need && obtainOrRefuse(session, need);
}

/** Carries what was measured out of the transaction, which it undoes. */
class Measured extends Error {
  readonly need: CallNeed | null;

  constructor(need: CallNeed | null) {
    super("measured");
    this.need = need;
  }
}

/** Requests the compaction and plans its first call, and undoes both. Null: it is refused for another reason, or asks no model. */
function measureAsked(session: Session, asked: CompactInput, candidates: SummarizerCandidates): CallNeed | null {
  try {
    session.transact((step): api.Outcome<never> => {
      const ports = toCompactionPorts(session, step);
      const done = compactByHand(candidates.spec, asked, ports);
      const isRequested = done.ok && done.value.kind === "requested";
      throw new Measured(isRequested ? measureNextCall(done.value.id, candidates, { ...ports, log: session.deps.log }) : null);
    });
  } catch (error) {
    if (error instanceof Measured) return error.need;
    throw error;
  }
  return null;
}

/**
 * Checks the model and policy that are named for this compaction alone: the model must exist and have a window that can
 * read something, and the policy must not contradict itself.
 */
async function refuseAsked(
  session: Session,
  { model, policy }: Pick<CompactInput, "model" | "policy">,
  spec: ModelSpec,
): Promise<api.Outcome<never> | null> {
  const { settings } = session.state;
  const misfit = policy === undefined ? null : refusePolicy(mergeChoices(readSessionPolicy(settings, session.content), policy), policy);
  if (misfit || model === undefined || model === spec.id) return misfit;
  const found = await resolveModel(model, session.ports());
  if (session.state.lifecycle === "erased") return err({ code: "session_erased" });
  if (!found.ok) return err(refusal(found.error, model));
  if (canRead(found.value, spec, toPolicy(settings.policy))) return null;
  return err({ code: "invalid", field: "model", detail: "its window is too small to write this summary" });
}

export async function revertFor(
  session: Session,
  { compaction: id, idempotency }: InputOf<"revertCompaction">,
): Promise<api.Outcome<api.Once<{ readonly compaction: CompactionView }>>> {
  const known = showCompaction(session, id);
  if (!known.ok) return known;
  const spec = await resolveSessionModel(session);
  if (!spec.ok) return spec;
  const done = transactOnce<{ by: CompactionId }>(session, idempotency, (step) => {
    const reverted = revertCompaction(id, spec.value, toCompactionPorts(session, step));
    return reverted.ok ? ok({ by: reverted.value }) : reverted;
  });
  if (!done.ok) return done;
  const shown = showCompaction(session, id);
  return shown.ok ? ok({ compaction: shown.value, replayed: done.value.replayed }) : shown;
}

export async function resetFor(session: Session): Promise<api.Outcome<CompactionView | null>> {
  const spec = await resolveSessionModel(session);
  if (!spec.ok) return spec;
  const reset = session.transact((step) => resetSummary(spec.value, toCompactionPorts(session, step)));
  if (!reset.ok) return reset;
  return reset.value === null ? ok(null) : showCompaction(session, reset.value);
}
