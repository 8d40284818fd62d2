import type { ItemMeta } from "./message";
import type { SessionState } from "./state";
import { appendToView } from "./view";

/** The state with `items` at the end of the conversation. */
export function appendItems(state: SessionState, items: readonly ItemMeta[]): SessionState {
  const last = items.at(-1);
  if (!last) return state;
  return {
    ...state,
    next_position: last.position + 1,
    messages: state.messages + items.filter(isMessage).length,
    view: appendToView(state.view, items),
  };
}

const isMessage = (item: ItemMeta): boolean => item.kind !== "tool_call" && item.kind !== "tool_result";
