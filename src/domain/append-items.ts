import type { ItemMeta } from "./message";
import type { SessionState } from "./state";
import { appendToView } from "./view";

/** The state with `items` at the end of the conversation. */
export function appendItems(state: SessionState, items: readonly ItemMeta[]): SessionState {
  const last = items.at(-1);
  if (!last) return state;
  const view = appendToView(state.view, items);
  const { quiet_until } = state.compaction;
  // Once it has grown so far after a revert, the soft trigger is back for good.
  const waited = quiet_until !== null && view.tokens >= quiet_until;
  return {
    ...state,
    next_position: last.position + 1,
    messages: state.messages + items.filter(isMessage).length,
    view,
    compaction: waited ? { ...state.compaction, quiet_until: null } : state.compaction,
  };
}

const isMessage = (item: ItemMeta): boolean => item.kind !== "tool_call" && item.kind !== "tool_result";
