/** What compaction's events do to the state: the view changes only here, by overlays, never by rewriting an item. */
import { assertNever } from "../lib/assert-never";
import type { CompactionEvent, CoveredRange, EpochOp, Overlay, StoredEvent } from "./events";
import type { OverlayId } from "./ids";
import type { ItemMeta } from "./message";
import type { CompactionState, SessionState, View } from "./state";

type Of<T extends CompactionEvent["type"]> = StoredEvent & Extract<CompactionEvent, { type: T }>;

export function evolveCompaction(state: SessionState, event: StoredEvent & CompactionEvent): SessionState {
  switch (event.type) {
    case "CompactionRequested":
      return withCompaction(state, { requested: { id: event.compaction, trigger: event.trigger, at: event.at, attempts: 0 }, lease: null });
    case "CompactionStarted":
      return startCompaction(state, event);
    case "CompactionFailed":
      return withCompaction(state, {
        lease: null,
        failures: state.compaction.failures + (event.failure === "superseded" ? 0 : 1),
        requested: event.final ? null : state.compaction.requested,
      });
    case "EpochChanged":
      return changeEpoch(state, event);
    default:
      return assertNever(event);
  }
}

const withCompaction = (state: SessionState, change: Partial<CompactionState>): SessionState => ({
  ...state,
  compaction: { ...state.compaction, ...change },
});

/** A result that comes later than so many further leases is counted by nobody. */
const MAX_UNSETTLED = 16;

function startCompaction(state: SessionState, event: Of<"CompactionStarted">): SessionState {
  const { token, attempt, expires_at, base_epoch, range, replaces } = event;
  const { requested } = state.compaction;
  return withCompaction(state, {
    requested: requested ? { ...requested, attempts: attempt } : requested,
    lease: { token, attempt, expires_at, base_epoch, range, replaces },
    next_token: token + 1,
    unsettled: [...state.compaction.unsettled, token].slice(-MAX_UNSETTLED),
  });
}

/** Whatever compaction was under way was planned on the old epoch: it is void. */
function changeEpoch(state: SessionState, event: Of<"EpochChanged">): SessionState {
  const view = event.ops.reduce(applyOp, { ...state.view, epoch: event.epoch });
  const summarized = event.ops.some((op) => op.op === "summarize");
  const compaction = { requested: null, lease: null, failures: summarized ? 0 : state.compaction.failures };
  return withCompaction({ ...state, view, anchor: null }, compaction);
}

function applyOp(view: View, op: EpochOp): View {
  switch (op.op) {
    case "summarize":
      return cover(
        view,
        { ...rangeOf(op), id: op.overlay, kind: "summary", items: op.items, tokens: op.tokens, boundary_timestamp: op.boundary_timestamp },
        op.replaces,
      );
    case "drop":
      return cover(view, { ...rangeOf(op), id: op.overlay, kind: "dropped", items: op.items, tokens: 0 }, op.replaces);
    case "clear_results":
      return { ...view, cleared: [...view.cleared, ...op.positions] };
    case "shorten_results":
      return { ...view, shortened: [...view.shortened, ...op.positions] };
    case "evict_media":
      return { ...view, evicted: [...view.evicted, ...op.positions] };
    case "revert":
      return {
        ...view,
        overlays: inOrder([...view.overlays.filter((overlay) => overlay.id !== op.overlay), ...op.overlays]),
        items: byPosition([...op.items, ...view.items]),
      };
    case "reset":
      return { ...view, overlays: [], items: byPosition([...op.items, ...view.items]) };
    default:
      return assertNever(op);
  }
}

const rangeOf = (range: CoveredRange): CoveredRange => ({ from: range.from, to: range.to });
const byPosition = (items: readonly ItemMeta[]): ItemMeta[] => [...items].sort((a, b) => a.position - b.position);
const inOrder = (overlays: readonly Overlay[]): Overlay[] => [...overlays].sort((a, b) => a.from - b.from);

function cover(view: View, overlay: Overlay, replaces: readonly OverlayId[]): View {
  const gone = new Set(replaces);
  // What lies before `from` may stay: the message that asked, while the rounds after it leave the view.
  const shows = (position: number): boolean => position < overlay.from || position > overlay.to;
  return {
    ...view,
    overlays: inOrder([...view.overlays.filter((known) => !gone.has(known.id)), overlay]),
    items: view.items.filter((item) => shows(item.position)),
    cleared: view.cleared.filter(shows),
    shortened: view.shortened.filter(shows),
    evicted: view.evicted.filter(shows),
  };
}
