/** Decides on rewinds, branch switches, redactions and forks. */
import { assertNever } from "../lib/assert-never";
import { err, ok } from "../lib/result";
import { MAX_BRANCHES } from "./branch";
import type { BranchCommand, CommandOf, RedactedItem, RedactMessage, RewindHistory } from "./commands";
import { busyWith, type Deciders, type Decision, enterConversation, voidCompaction } from "./decision";
import type { Event } from "./events";
import type { OverlayId } from "./ids";
import { refuseMessages } from "./message-limit";
import type { SessionState } from "./state";

export const branchDeciders: Deciders<BranchCommand["type"]> = {
  RewindHistory: decideRewind,
  SwitchBranch: decideSwitch,
  RedactMessage: decideRedaction,
  ExpireResults: decideExpiry,
  BeginFork: decideFork,
  CopyMessages: decideCopy,
  CompleteFork: (_, { fork }) => (isUnderWay(fork) ? ok([{ type: "ForkCompleted" }]) : err({ code: "session_exists" })),
};

function decideSwitch({ items, line }: CommandOf<"SwitchBranch">, state: SessionState): Decision {
  const busy = busyWith(state);
  return busy ? err(busy) : ok([...superseded(state), ...voidCompaction(state), { type: "BranchSwitched", items, line }]);
}

/** A repeated redaction does what is left to do. */
function decideRedaction({ items, quotes, texts, isTitleMadeFrom }: RedactMessage, state: SessionState): Decision {
  const all = [...items, ...quotes];
  // Items of the open turn cannot be redacted: they are in its stream, and on their way to the model.
  const { turn, view } = state;
  const said = new Set(turn ? view.items.flatMap((shown) => (shown.turn === turn.id ? [shown.id] : [])) : []);
  if (turn && all.some((each) => said.has(each.item))) return err({ code: "turn_running", turn: turn.id });
  const left = all.filter(({ isRedacted }) => !isRedacted);
  const unpinned = unpin(all, state);
  if (left.length === 0 && texts.length === 0 && unpinned.length === 0 && !isTitleMadeFrom) return ok([]);
  const redacted = (left.length > 0 ? left : items.slice(0, 1)).map((each, index) => toRedaction(each, index === 0 ? texts : []));
  const untitled: Event[] = isTitleMadeFrom ? [{ type: "SettingsChanged", changes: { title: null } }] : [];
  // The pins go first: what the session then no longer uses is deleted with the redaction.
  return ok([...voidCompaction(state), ...unpinned, ...redacted, ...untitled]);
}

/** A compaction under way was planned with the contents, so it ends. */
function decideExpiry({ items }: CommandOf<"ExpireResults">, state: SessionState): Decision {
  const busy = busyWith(state);
  if (busy || state.turn) return err(busy ?? { code: "turn_running", turn: state.turn?.id ?? "" });
  if (items.length === 0) return ok([]);
  return ok([...voidCompaction(state), ...items.map((one): Event => ({ type: "MessageRedacted", ...one, texts: [], cause: "retention" }))]);
}

/** Removes the pins that are a copy of one of these items. */
function unpin(items: readonly Pick<RedactedItem, "position">[], state: SessionState): Event[] {
  const gone = new Set(items.map(({ position }) => position));
  const pins = state.pins.filter(({ from = [] }) => !from.some((position) => gone.has(position)));
  return pins.length < state.pins.length ? [{ type: "PinsSet", pins }] : [];
}

const superseded = ({ turn }: SessionState): Event[] => (turn ? [{ type: "TurnStopped", turn: turn.id, reason: "superseded" }] : []);

function decideRewind(command: RewindHistory, state: SessionState): Decision {
  const busy = busyWith(state);
  if (busy) return err(busy);
  if (state.branch.count >= MAX_BRANCHES) return err({ code: "branch_limit", limit: MAX_BRANCHES });
  const { to, items, line, then } = command;
  const rewound: Event[] = [...superseded(state), ...voidCompaction(state), { type: "HistoryRewound", to, items, line }];
  switch (then.do) {
    case "nothing":
      return ok(rewound);
    case "ask": {
      const full = refuseMessages([then.message.item], { ...state, messages: line.messages }, then);
      if (full) return err(full);
      return ok([...rewound, ...enterConversation(then.message, { position: state.next_position, incarnation: then.incarnation })]);
    }
    case "answer": {
      const { turn, incarnation, tools, of, choices } = then;
      return ok([...rewound, { type: "TurnStarted", turn, incarnation, attempt: 1, item: null, tools, retry_of: of, ...choices }]);
    }
    default:
      return assertNever(then);
  }
}

/** Maximum number of items per event, because the read model writes an event in one batch. */
const ITEMS_PER_EVENT = 32;

const isUnderWay = (fork: SessionState["fork"]): boolean => fork !== null && !fork.done;

function decideFork({ from, position, view, line }: CommandOf<"BeginFork">, { fork, next_position }: SessionState): Decision {
  return fork || next_position > 1 ? err({ code: "session_exists" }) : ok([{ type: "SessionForked", from, position, view, line }]);
}

/**
 * Copies one page. Pages arrive in order; a page that arrives twice appends nothing the second time, also when a request that was sent at the
 * same time has completed the copy.
 */
function decideCopy({ items: page, aside, redacted = [], later }: CommandOf<"CopyMessages">, state: SessionState): Decision {
  const { fork, next_position } = state;
  const items = page.filter(({ position }) => position >= next_position);
  if (fork?.done && items.length === 0) return ok([]);
  if (!isUnderWay(fork)) return err({ code: "session_exists" });
  const events: Event[] = [];
  for (let start = 0; start < items.length; start += ITEMS_PER_EVENT)
    events.push({
      type: "MessagesAppended",
      items: items.slice(start, start + ITEMS_PER_EVENT),
      dequeued: [],
      ...(aside && { aside: true as const }),
    });
  const gone = new Set(redacted);
  const emptied = items.filter(({ id }) => gone.has(id)).map(({ id: item, position, tokens }) => ({ item, position, tokens }));
  return ok([...events, ...(later ? redactInCopy(later, { emptied, state }) : emptied.map((each) => toRedaction(each, [])))]);
}

type Later = NonNullable<CommandOf<"CopyMessages">["later"]>;
type Emptied = Omit<RedactedItem, "isRedacted">;

/** The pins go first: what the session then no longer uses is deleted with the redaction. */
function redactInCopy(
  { items, positions, texts, isTitleMadeFrom }: Later,
  { emptied, state }: { readonly emptied: readonly Emptied[]; readonly state: SessionState },
): Event[] {
  const left = [...items.filter(({ isRedacted }) => !isRedacted), ...emptied];
  const unpinned = unpin(
    positions.map((position) => ({ position })),
    state,
  );
  const untitled: Event[] = isTitleMadeFrom ? [{ type: "SettingsChanged", changes: { title: null } }] : [];
  return [...unpinned, ...left.map((each, index) => toRedaction(each, index === 0 ? texts : [])), ...untitled];
}

const toRedaction = ({ item, position, tokens }: Emptied, texts: readonly OverlayId[]): Event => ({
  type: "MessageRedacted",
  item,
  position,
  tokens,
  texts,
});
