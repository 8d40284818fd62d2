/** What a person does to a session's context: pins, a compaction, taking one back, starting over. Straight at its writer. */
import { limitsOf } from "../../src/app/build-request";
import { draftText } from "../../src/app/drafts";
import { draftInput } from "../../src/app/plan-session";
import type { ModelSpec } from "../../src/app/ports";
import { assumeWindow, fixedTokens, limitOf, scaleOf } from "../../src/context/budget";
import { draftByHand, fitsAfter } from "../../src/context/epoch-draft";
import { groupItems } from "../../src/context/groups";
import { policyOf } from "../../src/context/policy-choice";
import type { EpochOp, Overlay, RestoredView } from "../../src/domain/compaction-events";
import type { CompactionId } from "../../src/domain/ids";
import type { ItemMeta } from "../../src/domain/message";
import { ALL_POSITIONS, readItems } from "../../src/session/log/log-tables";
import { readViewBefore } from "../../src/session/log/views-before";
import type { SessionRuntime } from "../../src/session/runtime";

export function setPins(runtime: SessionRuntime, texts: readonly string[]): boolean {
  const drafted = texts.map((text) => draftText(text, runtime.deps.ids));
  const pins = drafted.flatMap(({ ref }) => (ref ? [ref] : []));
  const bodies = drafted.flatMap((draft) => draft.bodies);
  return runtime.execute({ type: "SetPins", at: runtime.deps.clock(), pins }, bodies).ok;
}

export interface ByHand {
  readonly keepRecent: number | null;
  readonly upTo: number | null;
  readonly instructions: string | null;
}

export function compactByHand(runtime: SessionRuntime, { keepRecent, upTo, instructions }: ByHand): boolean {
  const { clock, ids } = runtime.deps;
  const asked = draftText(instructions, ids);
  const options = { keep_recent: keepRecent, up_to: upTo, instructions: asked.ref };
  const command = { type: "RequestCompaction", at: clock(), compaction: ids.newId("cmp"), trigger: "manual", options } as const;
  return runtime.execute(command, asked.bodies).ok;
}

/** Takes the newest compaction back, if the view that it found would fit. */
export function revert(runtime: SessionRuntime, spec: ModelSpec): boolean {
  const reverts = runtime.state.compaction.committed.at(-1);
  const before = reverts && readViewBefore(runtime.deps.sql, reverts);
  if (!reverts || !before) return false;
  const items = before.shown.flatMap((range) => readRange(runtime, range)).filter((item) => !isTakenBack(runtime, item));
  const shown = new Set(items.map((item) => item.position));
  const reduced = before.reduced.filter((entry) => shown.has(entry.position));
  const restored: RestoredView = { overlays: before.overlays, items, reduced };
  return takeBack(runtime, spec, { op: { op: "revert", compaction: reverts, to: before.to, ...restored }, reverts });
}

/** Every summary goes: what fits of the originals comes back, the rest is left out. */
export function reset(runtime: SessionRuntime, spec: ModelSpec): boolean {
  const { state } = runtime;
  const to = state.next_position - 1;
  const all = readRange(runtime, { from: 1, to }).filter((item) => !isTakenBack(runtime, item));
  const room = roomFor(runtime, spec);
  const groups = groupItems(all, new Set());
  let used = 0;
  const tooOld = groups.findLastIndex((group) => {
    used += group.items.reduce((sum, item) => sum + item.tokens, 0);
    return used > room;
  });
  const left = groups.slice(0, tooOld + 1).flatMap((group) => group.items);
  const items = groups.slice(tooOld + 1).flatMap((group) => group.items);
  const id = runtime.deps.ids.newId("ovl");
  const overlays: Overlay[] =
    left.length === 0 ? [] : [{ id, kind: "dropped", from: 1, to: left.at(-1)?.position ?? 1, items: left.length, tokens: 0 }];
  return takeBack(runtime, spec, { op: { op: "reset", to, overlays, items, reduced: [] }, reverts: null });
}

function takeBack(runtime: SessionRuntime, spec: ModelSpec, by: { readonly op: EpochOp; readonly reverts: CompactionId | null }): boolean {
  const { state, deps } = runtime;
  if (!fitsAfter(state, [by.op], assumeWindow(limitsOf(spec), policyOf(state.settings.policy))).fits) return false;
  const change = draftByHand([by.op], draftInput(spec, { trigger: "manual" }, runtime.ports()));
  const at = deps.clock();
  const compaction = deps.ids.newId("cmp");
  if (by.reverts === null) return runtime.execute({ type: "ResetSummary", at, compaction, change }).ok;
  return runtime.execute({ type: "RevertCompaction", at, compaction, reverts: by.reverts, change }).ok;
}

function roomFor({ state }: SessionRuntime, spec: ModelSpec): number {
  const limit = limitOf(assumeWindow(limitsOf(spec), policyOf(state.settings.policy)));
  return limit === null ? Number.POSITIVE_INFINITY : (limit * 0.6) / scaleOf(state, spec.id) - fixedTokens(state);
}

const readRange = (runtime: SessionRuntime, range: { readonly from: number; readonly to: number }): ItemMeta[] =>
  readItems(runtime.deps.sql, { ...range, limit: ALL_POSITIONS, order: "asc" });

/** A cut-off reply that a retry took out of the view: it is neither shown nor stood in for. */
const isTakenBack = ({ state: { view } }: SessionRuntime, item: ItemMeta): boolean =>
  item.incomplete === true &&
  !view.items.some((known) => known.position === item.position) &&
  !view.overlays.some((overlay) => overlay.from <= item.position && item.position <= overlay.to);
