import { growBreaker } from "./breaker";
import type { ItemMeta } from "./message";
import type { SessionState } from "./state";
import { appendToView } from "./view";

/** Appends items to the record only, because an overlay in the view already covers them. */
export function appendRecordOnly(state: SessionState, items: readonly ItemMeta[]): SessionState {
  const last = items.at(-1)?.position;
  return last === undefined ? state : { ...state, next_position: last + 1, messages: state.messages + items.filter(isMessage).length };
}

/** Appends `items` to the conversation. */
export function appendItems(state: SessionState, items: readonly ItemMeta[]): SessionState {
  const last = items.at(-1);
  if (!last) return state;
  const view = appendToView(state.view, items);
  const { quiet_until } = state.compaction;
  const appended = items.reduce((sum, { tokens }) => sum + tokens, 0);
  const compaction = { ...state.compaction, breaker: growBreaker(state.compaction.breaker, appended) };
  // Once the view has grown enough after a revert, the soft trigger works again for good.
  const waited = quiet_until !== null && view.tokens >= quiet_until;
  return {
    ...state,
    next_position: last.position + 1,
    messages: state.messages + items.filter(isMessage).length,
    view,
    compaction: waited ? { ...compaction, quiet_until: null } : compaction,
  };
}

/** Whether the item is a message of a person or a model. Calls and results do not count. */
export const isMessage = ({ kind }: Pick<ItemMeta, "kind">): boolean => kind !== "tool_call" && kind !== "tool_result";
