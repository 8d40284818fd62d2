/**
 * Whether an event can follow the ones before it. A session's own events do, because `decide` made them. Those of an export's file are held to
 * it one by one when they are restored: code that reads a state or a table relies on what commands can make.
 */
import { assertNever } from "../lib/assert-never";
import { isAmong } from "./branch";
import type { CoveredRange, EpochOp, Overlay } from "./compaction-events";
import type { EventOf, EventType, StoredEvent, TurnEvent } from "./events";
import type { ItemId } from "./ids";
import type { ItemKind, ItemMeta } from "./message";
import type { SessionState } from "./state";

interface Recorded {
  /** The id of the item that was recorded at the position. */
  readonly findItem: (position: number) => ItemId | null;
}

type Fault = string | null;

const firstFault = (...checks: readonly (() => Fault)[]): Fault => {
  for (const check of checks) {
    const fault = check();
    if (fault !== null) return fault;
  }
  return null;
};

/** New items take the next positions. */
function findNewItemsFault(items: readonly ItemMeta[], { next_position }: SessionState): Fault {
  const misplaced = items.find(({ position }, index) => position !== next_position + index);
  return misplaced ? `position: must be ${next_position + items.indexOf(misplaced)}` : null;
}

function findNewItemFault(item: ItemMeta | null, kinds: readonly ItemKind[], state: SessionState): Fault {
  if (item && !kinds.includes(item.kind)) return `item.kind: must be ${kinds.join(" or ")}`;
  return item && findNewItemsFault([item], state);
}

/** Items that come back into a view were recorded, and each comes back once. */
function findReturnFault(items: readonly ItemMeta[], { findItem }: Recorded): Fault {
  const unknown = items.find(({ id, position }, index) => findItem(position) !== id || items[index - 1]?.position === position);
  return unknown ? `items: ${unknown.position} is not the item of that position` : null;
}

const isWithin = ({ next_position }: SessionState, position: number): boolean => position < next_position;

const findRangesFault = (field: string, ranges: readonly CoveredRange[], state: SessionState): Fault =>
  ranges.every(({ to }) => isWithin(state, to)) ? null : `${field}: reaches beyond the last position`;

function findInOrderFault(field: string, ranges: readonly CoveredRange[], state: SessionState): Fault {
  const isInOrder = ranges.every(({ from }, index) => from > (ranges[index - 1]?.to ?? 0));
  return isInOrder ? findRangesFault(field, ranges, state) : `${field}: must be in order`;
}

function findOverlaysFault(overlays: readonly Overlay[], state: SessionState): Fault {
  const ids = new Set(overlays.map(({ id }) => id));
  return ids.size < overlays.length ? "overlays: an id comes twice" : findRangesFault("overlays", overlays, state);
}

function findLineFault({ items, line }: Pick<EventOf<"BranchSwitched">, "items" | "line">, state: SessionState, recorded: Recorded): Fault {
  return firstFault(
    () => findReturnFault(items, recorded),
    () => findInOrderFault("line.elsewhere", line.elsewhere, state),
    () => findInOrderFault("line.taken_back", line.taken_back, state),
    () => findInOrderFault("line.keeps", line.keeps, state),
    () => findOverlaysFault(line.overlays, state),
    () => (items.some(({ position }) => isAmong(line.keeps, position)) ? "items: one of them is in line.keeps" : null),
    () => (line.messages < state.next_position ? null : "line.messages: is more than there are"),
  );
}

function findOpFault(op: EpochOp, state: SessionState, recorded: Recorded): Fault {
  switch (op.op) {
    case "summarize":
    case "drop":
      return firstFault(
        () => (op.from <= op.to ? null : "ops.from: must not be beyond ops.to"),
        () => findRangesFault("ops", [op], state),
        () => (state.view.overlays.some(({ id }) => id === op.overlay && !op.replaces.includes(id)) ? "ops.overlay: is taken" : null),
      );
    case "clear_results":
    case "shorten":
    case "evict_media":
      return op.items.every(({ position }) => isWithin(state, position)) ? null : "ops.items: reaches beyond the last position";
    case "revert":
    case "reset":
      return firstFault(
        () => findReturnFault(op.items, recorded),
        () => findOverlaysFault(op.overlays, state),
        () => (isWithin(state, op.to) && op.items.every(({ position }) => position <= op.to) ? null : "ops.to: is another position"),
      );
    default:
      return assertNever(op);
  }
}

function findEpochFault({ ops, epoch, base_epoch }: EventOf<"EpochChanged">, state: SessionState, recorded: Recorded): Fault {
  if (base_epoch !== state.view.epoch || epoch !== base_epoch + 1) return `epoch: must follow ${state.view.epoch}`;
  return firstFault(...ops.map((op) => () => findOpFault(op, state, recorded)));
}

type OfTurn = Exclude<TurnEvent, { readonly type: "TurnStarted" | "ModelCallFinished" }>["type"];
const OF_TURN: Readonly<Record<OfTurn, true>> = {
  AssistantReplied: true,
  ToolCalled: true,
  ToolStarted: true,
  ToolResultRecorded: true,
  ApprovalRequested: true,
  ApprovalResolved: true,
  TurnCompleted: true,
  TurnFailed: true,
  TurnStopped: true,
  TurnInterrupted: true,
};
const isOfTurn = (event: StoredEvent): event is EventOf<OfTurn> => event.type in OF_TURN;

function findTurnFault(event: EventOf<OfTurn>, state: SessionState): Fault {
  const { turn } = state;
  if (turn?.id !== event.turn) return "turn: is not the open one";
  const isOpen = (execution: string | undefined): boolean => turn.open_calls.some((call) => call.execution === execution);
  switch (event.type) {
    case "AssistantReplied":
      return findNewItemFault(event.item, ["assistant"], state);
    case "ToolCalled":
      return isOpen(event.item.tool?.execution) ? "item.tool: is called already" : findNewItemFault(event.item, ["tool_call"], state);
    case "ToolResultRecorded":
      return isOpen(event.item.tool?.execution) ? findNewItemFault(event.item, ["tool_result"], state) : "item.tool: is not open";
    case "ToolStarted":
    case "ApprovalRequested":
    case "ApprovalResolved":
      return isOpen(event.execution) ? null : "execution: is not open";
    default:
      return null;
  }
}

/** A copy has no position beyond its source's. */
function findForkFault({ view, position }: EventOf<"SessionForked">): Fault {
  const covered = [...(view?.overlays ?? []), ...(view?.reduced ?? []).map((entry) => ({ to: entry.position }))];
  return covered.every(({ to }) => to <= position) ? null : "view: reaches beyond position";
}

type Checks = { readonly [T in EventType]?: (event: EventOf<T>, state: SessionState, recorded: Recorded) => Fault };

/** The checks of events outside the open turn. An event without a check can come at any time. */
const CHECKS: Checks = {
  MessagesAppended: ({ items }, state) => findNewItemsFault(items, state),
  TurnStarted: ({ turn, item }, state) =>
    state.turn && state.turn.id !== turn ? "turn: another one is open" : findNewItemFault(item, ["user"], state),
  MessageRedacted: ({ item, position }, _, { findItem }) => (findItem(position) === item ? null : "item: is not the one of that position"),
  HistoryRewound: (event, state, recorded) => {
    const next = state.branch.count + 1;
    if (event.line.branch !== next) return `line.branch: must be ${next}`;
    return isWithin(state, event.to) ? findLineFault(event, state, recorded) : "to: is beyond the last position";
  },
  BranchSwitched: (event, state, recorded) => {
    const { branch } = event.line;
    const isOther = branch <= state.branch.count && branch !== state.branch.number;
    return isOther ? findLineFault(event, state, recorded) : "line.branch: is not another branch";
  },
  SessionForked: (event, { fork, next_position }) => (fork || next_position > 1 ? "comes before the first message" : findForkFault(event)),
  ForkCompleted: (_, { fork }) => (fork && !fork.done ? null : "ends no copy"),
  EpochChanged: findEpochFault,
  CompactionStarted: ({ token }, { compaction: { next_token } }) => (token === next_token ? null : `token: must be ${next_token}`),
};

/** The generic ties the event's type to its check, so that the compiler compares the pair. */
const dispatch = <T extends EventType>(type: T, event: EventOf<T>, state: SessionState, recorded: Recorded): Fault =>
  CHECKS[type]?.(event, state, recorded) ?? null;

/** Why the event cannot come now. Null: it can. Names no content. */
export function findLogFault(state: SessionState, event: StoredEvent, recorded: Recorded): Fault {
  if ((event.type === "SessionOpened") !== (state.lifecycle === "new")) return "must be SessionOpened at the beginning, and nowhere else";
  return isOfTurn(event) ? findTurnFault(event, state) : dispatch(event.type, event, state, recorded);
}
