/** Changes of the view by hand: compact, revert, reset the summary, set pins. */
import { type ByHand, compactByHand } from "../../app/compaction/compact-by-hand";
import { resetSummary, revertCompaction } from "../../app/compaction/revert-reset";
import { canRead } from "../../app/compaction/summarizers";
import type { CompactInput, CompactOutcome, ControlApi } from "../../app/control-api";
import type { ModelSpec } from "../../app/ports";
import { buildTextBody } from "../../app/request/build-items";
import { resolveModel } from "../../app/request/resolve-model";
import { readSessionPolicy } from "../../app/request/session-policy";
import type * as api from "../../app/session-api";
import { mergeChoices, toPolicy } from "../../context/policy-choice";
import type { CompactionView } from "../../contract/compaction";
import type { SessionDescription } from "../../contract/session";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { createSessionPast } from "../log/session-past";
import type { Step } from "../log/store";
import type { Session } from "../session";
import { refusePolicy } from "./lifecycle-calls";
import { refusal } from "./model-refusal";
import { transactOnce } from "./once";
import { describeSession, showCompaction } from "./read-calls";
import { refuseTooLarge } from "./refuse-too-large";

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
  // A dry run stores nothing, and so no idempotency key.
  const key = asked.dryRun ? null : idempotency;
  const done = transactOnce<ByHand>(session, key, (step) => compactByHand(spec.value, asked, toCompactionPorts(session, step)));
  if (!done.ok) return done;
  if (done.value.kind === "plan") return ok(done.value);
  const { kind, id, replayed } = done.value;
  const shown = showCompaction(session, id);
  return shown.ok ? ok({ kind, compaction: shown.value, replayed }) : shown;
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

/** Sets the pins. The same pins in the same order change nothing: a change costs the provider's cache. */
export async function setPins(session: Session, pins: InputOf<"setPins">): Promise<api.Outcome<SessionDescription>> {
  // An empty list fits every model.
  const spec = pins.length > 0 ? await resolveSessionModel(session) : null;
  if (spec && !spec.ok) return spec;
  const { state, content, deps } = session;
  const present = state.pins.map((pin) => content.readRefText(pin));
  if (present.length === pins.length && pins.every((text, index) => text === present[index])) return describeSession(session);
  const drafted = pins.map((text) => buildTextBody(text, deps.ids));
  const refs = drafted.flatMap(({ ref }) => (ref ? [ref] : []));
  const tooLarge = spec && refuseTooLarge(spec.value, { ...state.settings, pins: refs }, "pins");
  if (tooLarge) return tooLarge;
  const bodies = drafted.flatMap((text) => text.bodies);
  const set = session.execute({ type: "SetPins", at: deps.clock(), pins: refs }, bodies);
  return set.ok ? describeSession(session) : err(set.error);
}
