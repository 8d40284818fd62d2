/** Continues a branch that was left, with the view that it had then. Synchronous. */
import { MAX_RESTORED_UNITS } from "../../context/revert-reset";
import { withRange } from "../../domain/branch";
import type { SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import type { Outcome } from "../session-api";
import type { SessionPast } from "../session-past";
import { type BranchPorts, type LineAt, toLine } from "./go-back";

/** Switching to the current branch changes nothing. */
export function switchBranch(branch: number, { writer, clock, past }: BranchPorts): Outcome<number> {
  const { state } = writer;
  if (branch === state.branch.number) return ok(branch);
  const there = lineThere(branch, state, past);
  if (!there) return err({ code: "branch_not_found", branch });
  const { line, items } = there;
  if (JSON.stringify(items).length > MAX_RESTORED_UNITS) return err({ code: "too_many_items", items: items.length });
  const switched = writer.execute({ type: "SwitchBranch", at: clock(), items, line });
  return switched.ok ? ok(branch) : err(switched.error);
}

/** A branch that was left, as it would be the current one. Null: there is none. Items that were added since belong to other branches. */
export function lineThere(branch: number, state: SessionState, past: SessionPast): Pick<LineAt, "line" | "items"> | null {
  const left = past.leftBranch(branch);
  if (!left) return null;
  const elsewhere = withRange(left.elsewhere, { from: left.view.to + 1, to: state.next_position - 1 });
  const { messages, last_turn, view, taken_back } = left;
  return toLine(
    { branch, elsewhere, taken_back, messages, last_turn, continues: false },
    { ...view, wanted: past.everyItemAt(view.shown) },
    { state, past },
  );
}
