/**
 * Builds the operation that takes a compaction back and shows again what had left the view. Pure: the caller passes the
 * earlier view and the record.
 */
import type { CoveredRange, EpochOp, Overlay, Reduced } from "../domain/compaction-events";
import type { CompactionId, OverlayId } from "../domain/ids";
import type { ItemMeta } from "../domain/message";
import { fixedTokens, isRecallOffered, RECALL_TOOL_TOKENS, type SessionState } from "../domain/state";
import { assumeWindow, type ModelLimits, toRequestLimit, toSizing } from "./budget";
import { startsGroup } from "./groups";
import type { Policy } from "./policy";

/**
 * Maximum size of the items that come back, as UTF-16 units of their JSON. They travel in one event, which is one row,
 * and this is well below the platform's 2 MB.
 */
export const MAX_RESTORED_UNITS = 1_000_000;

/** The view before a compaction. */
export interface ViewBefore {
  readonly overlays: readonly Overlay[];
  /** Positions of the items that it showed. */
  readonly shown: readonly CoveredRange[];
  readonly reduced: readonly Reduced[];
  /** Its last position. Items after it were added later. */
  readonly to: number;
}

type RevertOp = Extract<EpochOp, { op: "revert" }>;
type ResetOp = Extract<EpochOp, { op: "reset" }>;

/** Restores the view before a compaction. `items`: those of `before.shown` that were not taken back since, in order. */
export function buildRevertOp(compaction: CompactionId, before: ViewBefore, items: readonly ItemMeta[]): RevertOp {
  const shown = new Set(items.map((item) => item.position));
  const reduced = before.reduced.filter((entry) => shown.has(entry.position));
  return { op: "revert", compaction, to: before.to, overlays: before.overlays, items, reduced };
}

interface ResetInput {
  readonly state: SessionState;
  readonly limits: ModelLimits;
  readonly policy: Policy;
  /** The whole conversation, newest first, without what a retry took back. Read only as far as needed. */
  readonly history: Iterable<ItemMeta>;
  readonly newOverlay: () => OverlayId;
}

/** Removes the summaries. The newest of what they covered comes back, up to the guard's target. The rest is trimmed. */
export function buildResetOp(input: ResetInput): ResetOp {
  const { overlays, items, reduced } = input.state.view;
  const to = overlays.reduce((last, overlay) => Math.max(last, overlay.to), 0);
  const { back, whole } = restoreGroups(input);
  const covered = overlays.reduce((sum, overlay) => sum + overlay.items, 0);
  const from = overlays.reduce((first, overlay) => Math.min(first, overlay.from), to);
  const rest: Overlay = {
    id: input.newOverlay(),
    kind: "dropped",
    from,
    to: (back[0]?.position ?? to + 1) - 1,
    items: Math.max(1, covered - back.length),
    tokens: 0,
  };
  return {
    op: "reset",
    to,
    overlays: whole ? [] : [rest],
    items: [...items.filter((item) => item.position <= to), ...back].sort((a, b) => a.position - b.position),
    reduced: reduced.filter((entry) => entry.position <= to),
  };
}

interface Back {
  /** In order of position. */
  readonly back: readonly ItemMeta[];
  /** Everything came back. */
  readonly whole: boolean;
}

/**
 * Collects whole groups, newest first, while they fit. If all come back, `memory_query` is no longer offered, and its
 * weight is additional room.
 */
function restoreGroups({ state, limits, policy, history }: ResetInput): Back {
  const shown = new Set(state.view.items.map((item) => item.position));
  let room = computeRoom(state, limits, policy);
  let units = MAX_RESTORED_UNITS;
  const spare = isRecallOffered(state) && state.view.reduced.length === 0 ? RECALL_TOOL_TOKENS : 0;
  const back: ItemMeta[] = [];
  let fitting = 0;
  let group: ItemMeta[] = [];
  for (const [item, older] of withNext(history)) {
    if (!shown.has(item.position)) {
      group.unshift(item);
      room -= item.tokens;
      units -= JSON.stringify(item).length;
    }
    if (room < -spare || units < 0) return { back: back.slice(back.length - fitting), whole: false };
    if (!startsGroup(item, older)) continue;
    back.unshift(...group);
    group = [];
    if (room >= 0) fitting = back.length;
  }
  return { back, whole: true };
}

/** Raw tokens that may come back beside what is shown already. */
function computeRoom(state: SessionState, limits: ModelLimits, policy: Policy): number {
  const limit = toRequestLimit(assumeWindow(limits, policy));
  if (limit === null) return Number.POSITIVE_INFINITY;
  const sizing = toSizing({ state, limits });
  const stays = state.view.items.reduce((sum, item) => sum + sizing.item(item), fixedTokens(state));
  return (limit * policy.guard_target_ratio) / sizing.padded - stays;
}

/** Pairs each value with the next one. */
function* withNext<T>(values: Iterable<T>): Iterable<[T, T | undefined]> {
  let held: { readonly value: T } | null = null;
  for (const value of values) {
    if (held) yield [held.value, value];
    held = { value };
  }
  if (held) yield [held.value, undefined];
}
