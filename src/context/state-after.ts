/** The state as it would be after a change of its view, to be measured before the change is committed. */
import type { CompactionTrigger, EpochOp, Receipt } from "../domain/compaction-events";
import { evolve } from "../domain/evolve";
import type { SessionState } from "../domain/state";

const UNMEASURED: Receipt = {
  tokens_before: 0,
  tokens_after: 0,
  items_before: 0,
  items_after: 0,
  model: null,
  usage: null,
  ms: 0,
  economy: null,
  rungs: [],
  mode: null,
  attempts: 0,
  breaker_open: false,
  dropped_items: 0,
};

/** Applies the operations to a copy of the state. */
export function stateAfter(state: SessionState, ops: readonly EpochOp[], trigger: CompactionTrigger): SessionState {
  const { epoch } = state.view;
  const change = {
    type: "EpochChanged",
    base_epoch: epoch,
    epoch: epoch + 1,
    trigger,
    compaction: null,
    ops,
    receipt: UNMEASURED,
  } as const;
  return evolve(state, { ...change, seq: state.seq + 1, at: state.updated_at });
}
