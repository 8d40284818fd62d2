/**
 * How the state changes when the conversation goes back, continues on another branch, loses a message, or starts as a
 * copy of another session.
 */
import { isAmong } from "./branch";
import type { Overlay } from "./compaction-events";
import type { BranchLine, EventOf, ForkedView } from "./events";
import type { ItemMeta } from "./message";
import type { SessionState, UsageAnchor, View } from "./state";
import { toDropped, toWeighedView } from "./view";

/** Starts a new epoch, whose request differs from the previous one. Nothing of it is counted or paid for yet. */
export const newEpoch = (state: SessionState, view: View, anchor: UsageAnchor | null = null): SessionState => ({
  ...state,
  anchor,
  compaction: { ...state.compaction, rent: 0 },
  view: { ...view, epoch: state.view.epoch + 1 },
});

export const applyRewind = (state: SessionState, { items, line }: EventOf<"HistoryRewound">): SessionState =>
  onLine({ ...state, branch: { ...state.branch, count: state.branch.count + 1 } }, line, items);

export const applySwitch = (state: SessionState, { items, line }: EventOf<"BranchSwitched">): SessionState => onLine(state, line, items);

/** The state on another line of the conversation. `items`: what comes back into the view. */
export function onLine(state: SessionState, line: BranchLine, items: readonly ItemMeta[]): SessionState {
  const { branch: number, elsewhere, taken_back, messages, last_turn, overlays, reduced } = line;
  const stays = state.view.items.filter(({ position }) => isAmong(line.keeps, position));
  const shown = items.length > 0 ? [...stays, ...items].sort((one, other) => one.position - other.position) : stays;
  const signed_from = line.continues ? state.view.signed_from : state.next_position;
  const view = toWeighedView({ epoch: state.view.epoch, overlays, items: shown, reduced, signed_from });
  const next = { ...state, branch: { ...state.branch, number, elsewhere, taken_back }, messages, last_turn, imported_calls: [] };
  return newEpoch(withoutCommitted(next), view);
}

/**
 * Removes every summary that was made from the redacted item. What such a summary covered stays out of the view without
 * one, until the next compaction.
 */
export function applyRedaction(state: SessionState, { position, texts, tokens, cause }: EventOf<"MessageRedacted">): SessionState {
  const isGone = ({ id, kind }: Overlay): boolean => kind === "summary" && texts.includes(id);
  const overlays = state.view.overlays.map((overlay) => (isGone(overlay) ? toDropped(overlay) : overlay));
  const next = withoutCommitted({ ...state, redactions: state.redactions + 1 });
  return newEpoch(
    next,
    toWeighedView({
      ...state.view,
      ...weighRedacted(state.view, { position, tokens, ...(cause && { cause }) }),
      overlays,
    }),
  );
}

/** `tokens`: raw weight of the placeholder. */
type Redacted = Pick<ItemMeta, "position" | "tokens"> & Pick<EventOf<"MessageRedacted">, "cause">;

/** Gives the redacted item the weight of its placeholder. A cleared result keeps its own placeholder, and that weight. */
function weighRedacted({ items, reduced }: View, { position, tokens, cause }: Redacted): Pick<View, "items" | "reduced"> {
  return {
    items: items.map((item) => (item.position === position ? redactedItem(item, { tokens, ...(cause && { cause }) }) : item)),
    reduced: reduced.map((entry) => (entry.position === position && entry.how !== "cleared" ? { ...entry, tokens } : entry)),
  };
}

/** The item without what described its content. The client's own id goes with a request to redact, and stays where a result expires. */
export function redactedItem(
  { media: _, attached: __, signed: ___, client_id, ...item }: ItemMeta,
  { tokens, cause }: Omit<Redacted, "position">,
): ItemMeta {
  const kept = cause !== undefined && client_id !== undefined && { client_id };
  return { ...item, ...kept, tokens, rough: tokens, redacted: true, ...(cause && { expired: true }) };
}

/** Compactions that were committed on the branch that was left cannot be reverted any more. */
const withoutCommitted = (state: SessionState): SessionState => ({
  ...state,
  compaction: { ...state.compaction, committed: [], changed_by: null, quiet_until: null },
});

export function applyFork(state: SessionState, { from, position, view, line }: EventOf<"SessionForked">): SessionState {
  const { overlays, reduced }: ForkedView = view ?? { overlays: [], reduced: [], reads: [] };
  return {
    ...state,
    fork: { from, at: position, done: false, line: line ?? { elsewhere: [], shown: [{ from: 1, to: position }] } },
    view: toWeighedView({ ...state.view, overlays, reduced }),
  };
}

/**
 * Completes the copy. Metadata that providers signed belongs to the other session, so none of it is sent back. Calls at the end of the copy
 * are open as imported calls are.
 */
export const applyForkCompletion = (state: SessionState): SessionState => {
  const view = toWeighedView({ ...state.view, signed_from: state.next_position });
  return newEpoch({ ...state, fork: state.fork && { ...state.fork, done: true, line: null } }, view);
};
