/**
 * Goes back in a conversation: the session continues on a new branch, and the old branch stays in the record. The step back and the edited
 * message are one command, so an edit is never half done. Synchronous.
 */
import { startsGroup } from "../../context/groups";
import { MAX_RESTORED_UNITS } from "../../context/revert-reset";
import { viewAt } from "../../context/rewind";
import { isAmong, rangesWithin, toRanges, withRange } from "../../domain/branch";
import type { RewindHistory } from "../../domain/commands";
import type { CoveredRange, Overlay } from "../../domain/compaction-events";
import type { BranchLine } from "../../domain/events";
import type { ItemMeta } from "../../domain/message";
import { isAnswerOwed, type SessionState } from "../../domain/state";
import { toDropped } from "../../domain/view";
import { err, ok } from "../../lib/result";
import type { Outcome } from "../session-api";
import type { SessionPast } from "../session-past";
import type { SessionPorts } from "../session-ports";

export type BranchPorts = Pick<SessionPorts, "writer" | "clock"> & { readonly past: SessionPast };

/**
 * Returns the new branch's number. `to`: the last position to keep, 0 for none. Refused inside a response with its calls and results, which
 * is never split. `field`: what the client calls the place.
 */
export function goBack(
  to: number,
  then: RewindHistory["then"],
  { writer, clock, past, field = "to" }: BranchPorts & { readonly field?: string },
): Outcome<number> {
  const { state } = writer;
  const misplaced = refuseCut({ field, position: to }, state, past);
  if (misplaced) return misplaced;
  const { line, items } = lineAt(to, state, past);
  if (JSON.stringify(items).length > MAX_RESTORED_UNITS) return err({ code: "too_many_items", items: items.length });
  const rewound = writer.execute({ type: "RewindHistory", at: clock(), to, items, line, then });
  return rewound.ok ? ok(line.branch) : err(rewound.error);
}

/** A position at which the conversation is to end. */
interface Cut {
  /** What the client calls it. */
  readonly field: string;
  readonly position: number;
  /** It may be behind calls, whose results are not taken along. Absent: false. */
  readonly isBeforeResults?: boolean;
}

/** Why the conversation cannot end at this position, as an error for the field that named it. Null when it can end there. */
export function refuseCut(
  { field, position: to, isBeforeResults = false }: Cut,
  { branch, next_position }: SessionState,
  past: SessionPast,
): Outcome<never> | null {
  const refuse = (detail: string): Outcome<never> => err({ code: "invalid", field, detail });
  if (to >= next_position) return refuse(`no such position: the conversation ends at ${next_position - 1}`);
  if (to > 0 && isAmong(branch.elsewhere, to)) return refuse("it is on another branch");
  const [last, next] = [past.newestUpTo(to), past.nextAfter(to)];
  if (!next || startsGroup(next, last ?? undefined)) return null;
  if (isBeforeResults && next.kind === "tool_result") return null;
  return refuse(`it is inside a response with its calls and results, which stays together: ${next.position} belongs to it, too`);
}

export interface LineAt {
  readonly line: BranchLine;
  /** Items that come back into the view. */
  readonly items: readonly ItemMeta[];
  /** All positions that the view then shows. */
  readonly shown: readonly CoveredRange[];
}

/**
 * The branch that ends at `to`, as the model would read it. A question that may be answered from there is shown: one at its end, or one
 * that a retry would answer. `isCopy`: the branch is copied into another session, where no turn can be retried.
 */
export function lineAt(to: number, state: SessionState, past: SessionPast, { isCopy = false } = {}): LineAt {
  const last = state.next_position - 1;
  const elsewhere = withRange(state.branch.elsewhere, { from: to + 1, to: last });
  const newest = past.newestUpTo(to);
  const last_turn = newest?.turn && newest.kind !== "user" ? past.turn(newest.turn) : null;
  const isAsked = newest?.kind === "user" || (!isCopy && isAnswerOwed({ turn: null, last_turn }));
  const mustShow = isAsked ? (past.newestQuestionUpTo(to)?.position ?? null) : null;
  const { overlays, reduced, shown, continues } = viewAt({ state, to, elsewhere, earlier: past.earlierViews(to), mustShow });
  const left = rangesWithin(state.branch.elsewhere, { from: to + 1, to: last });
  const taken_back = upTo(state.branch.taken_back, to);
  const at = { branch: state.branch.count + 1, elsewhere, taken_back, messages: state.messages - past.countMessages(left) };
  const seen = { overlays, reduced };
  const wanted = past.itemsAt(shown);
  return toLine({ ...at, last_turn, continues }, { ...seen, wanted }, { state, past });
}

const upTo = (ranges: readonly CoveredRange[], last: number): readonly CoveredRange[] =>
  ranges.flatMap(({ from, to }) => (from <= last ? [{ from, to: Math.min(to, last) }] : []));

interface SeenThen {
  readonly overlays: readonly Overlay[];
  readonly reduced: BranchLine["reduced"];
  /** The items that the view then shows. */
  readonly wanted: readonly ItemMeta[];
}

/** Keeps items that the view has already, and returns the others to be restored. */
export function toLine(
  by: Omit<BranchLine, "overlays" | "reduced" | "keeps">,
  { overlays, reduced, wanted }: SeenThen,
  { state, past }: { readonly state: SessionState; readonly past: SessionPast },
): LineAt {
  const present = new Set(state.view.items.map(({ position }) => position));
  const keeps = toRanges(wanted.flatMap(({ position }) => (present.has(position) ? [position] : [])));
  const items = wanted.filter(({ position }) => !present.has(position));
  const positions = wanted.map(({ position }) => position);
  const [known, shown] = [new Set(positions), toRanges(positions)];
  const standing = overlays.map((overlay) => (overlay.kind === "summary" && past.isPurged(overlay.id) ? toDropped(overlay) : overlay));
  return { line: { ...by, overlays: standing, reduced: reduced.filter(({ position }) => known.has(position)), keeps }, items, shown };
}
