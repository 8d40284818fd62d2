import { growBreaker } from "./breaker";
import type { ItemMeta } from "./message";
import type { SessionState } from "./state";
import { appendToView } from "./view";

/** In the record alone: something in the view stands for them. */
export function appendAside(state: SessionState, items: readonly ItemMeta[]): SessionState {
  const last = items.at(-1)?.position;
  return last === undefined ? state : { ...state, next_position: last + 1, messages: state.messages + items.filter(isMessage).length };
}

/** The state with `items` at the end of the conversation. */
export function appendItems(state: SessionState, items: readonly ItemMeta[]): SessionState {
  const last = items.at(-1);
  if (!last) return state;
  const view = appendToView(state.view, items);
  const { quiet_until } = state.compaction;
  const appended = items.reduce((sum, { tokens }) => sum + tokens, 0);
  const compaction = { ...state.compaction, breaker: growBreaker(state.compaction.breaker, appended) };
  // Once it has grown so far after a revert, the soft trigger is back for good.
  const waited = quiet_until !== null && view.tokens >= quiet_until;
  return {
    ...state,
    next_position: last.position + 1,
    messages: state.messages + items.filter(isMessage).length,
    view,
    compaction: waited ? { ...compaction, quiet_until: null } : compaction,
  };
}

/** Of a person or a model: calls and results do not count. */
const isMessage = ({ kind }: Pick<ItemMeta, "kind">): boolean => kind !== "tool_call" && kind !== "tool_result";
