/** Continues a branch that was left, with the view that it had then. Synchronous. */
import { MAX_RESTORED_UNITS } from "../../context/revert-reset";
import { withRange } from "../../domain/branch";
import { err, ok } from "../../lib/result";
import type { Outcome } from "../session-api";
import { type BranchPorts, toLine } from "./go-back";

/** Items that were added since it was left belong to other branches. Switching to the current branch changes nothing. */
export function switchBranch(branch: number, { writer, clock, past }: BranchPorts): Outcome<number> {
  const { state } = writer;
  if (branch === state.branch.number) return ok(branch);
  const left = past.leftBranch(branch);
  if (!left) return err({ code: "branch_not_found", branch });
  const elsewhere = withRange(left.elsewhere, { from: left.view.to + 1, to: state.next_position - 1 });
  const { messages, last_turn, view, taken_back = state.branch.taken_back } = left;
  const { line, items } = toLine(
    { branch, elsewhere, taken_back, messages, last_turn, continues: false },
    { ...view, wanted: past.everyItemAt(view.shown) },
    { state, past },
  );
  if (JSON.stringify(items).length > MAX_RESTORED_UNITS) return err({ code: "too_many_items", items: items.length });
  const switched = writer.execute({ type: "SwitchBranch", at: clock(), items, line });
  return switched.ok ? ok(branch) : err(switched.error);
}
