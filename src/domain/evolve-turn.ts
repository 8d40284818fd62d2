/** How a turn's events change the state. */
import { appendItems } from "./append-items";
import { toRanges, withRange } from "./branch";
import { addToTotals, FINISHED_OUTCOMES } from "./call-totals";
import { addToSpend } from "./compaction-spend";
import type { EventOf, LastTurn, TurnChoices, TurnEvent } from "./events";
import type { Evolvers } from "./evolver";
import { learnFrom } from "./learned-ratio";
import type { ItemMeta } from "./message";
import { type CallUsage, isCount } from "./model-call";
import {
  fixedTokens,
  MAX_TITLE_TRIES,
  type OpenCall,
  type OpenTurn,
  readsPlainly,
  type SessionState,
  toTurnPhase,
  type UsageAnchor,
  unsettledExcept,
  weighFixed,
} from "./state";
import { toTurnChoices } from "./turn-choices";
import { toWeighedView } from "./view";

export const turnEvolvers: Evolvers<TurnEvent["type"]> = {
  TurnStarted: startTurn,
  ModelCallFinished: (state, event) => notePlain(finishCall(state, event), event),
  AssistantReplied: (state, { item }) => appendItems(withReply(state, item), [item]),
  ToolCalled: openCall,
  ToolResultRecorded: closeCall,
  ToolStarted: (state, event) => changeCall(state, event, (call) => ({ ...call, started: true })),
  ApprovalRequested: (state, event) => changeCall(state, { ...event, incarnation: null }, (call) => ({ ...call, approval: "pending" })),
  ApprovalResolved: (state, event) =>
    changeCall(state, event, ({ approval: _, ...call }) => (event.approved ? { ...call, allowed: true } : call)),
  TurnCompleted: (state, { turn }) => endTurn(state, { id: turn, status: "completed", failure: null, stop_reason: null }),
  TurnFailed: (state, { turn, failure }) => endTurn(state, { id: turn, status: "failed", failure, stop_reason: null }),
  TurnStopped: (state, { turn, reason }) => endTurn(state, { id: turn, status: "stopped", failure: null, stop_reason: reason }),
  TurnInterrupted: (state, { turn }) => endTurn(state, { id: turn, status: "interrupted", failure: null, stop_reason: null }),
};

function startTurn(state: SessionState, event: EventOf<"TurnStarted">): SessionState {
  // A further attempt continues where the last one was: calls that were not started are still to run.
  const again = event.attempt > 1 ? state.turn : null;
  const turn: OpenTurn = {
    id: event.turn,
    incarnation: event.incarnation,
    attempt: event.attempt,
    stalled_lives: (again?.stalled_lives ?? 0) + 1,
    started_at: event.at,
    phase: again?.phase ?? "generating",
    open_calls: again?.open_calls ?? [],
    tools: event.tools,
    calls: again?.calls ?? 0,
    rounds: again?.rounds ?? 0,
    ...toTurnChoices(event),
  };
  const asked = event.item;
  const queue = asked ? state.queue.filter((entry) => entry.item.id !== asked.id) : state.queue;
  const started = { ...(event.retry_of ? withoutCutOffReply(state) : state), turn, queue, imported_calls: [] };
  return asked ? appendItems(started, [asked]) : started;
}

/** A retry answers again. The partial reply of the failed attempt stays in the record and leaves the view. */
function withoutCutOffReply(state: SessionState): SessionState {
  const { items } = state.view;
  const gone = cutOffReply(items);
  const taken_back = toRanges(gone.map(({ position }) => position)).reduce(withRange, state.branch.taken_back);
  const view = toWeighedView({ ...state.view, items: items.slice(0, items.length - gone.length) });
  return { ...state, branch: { ...state.branch, taken_back }, view };
}

/** What a retry takes back: the incomplete items at the end of the view. */
export function cutOffReply(items: readonly ItemMeta[]): readonly ItemMeta[] {
  const finished = items.findLastIndex((item) => !item.incomplete);
  return items.slice(finished + 1);
}

function notePlain(state: SessionState, { asked, model, epoch, outcome }: EventOf<"ModelCallFinished">): SessionState {
  const isTaken = asked?.plain === true && epoch === state.view.epoch && FINISHED_OUTCOMES.includes(outcome);
  if (!isTaken || readsPlainly(state, model)) return state;
  const others = state.plain?.epoch === epoch ? state.plain.models : [];
  return { ...state, plain: { epoch, models: [...others, model] } };
}

function finishCall(state: SessionState, event: EventOf<"ModelCallFinished">): SessionState {
  const { usage, lease } = event;
  if (lease !== null) return finishCall(withSpent(withoutUnsettled(state, lease), event), { ...event, lease: null });
  const turn = state.turn && countCall(state.turn, event);
  // Rent belongs to the epoch that the call was made in, so that of an earlier epoch does not count here.
  const ours = event.epoch === state.view.epoch;
  const compaction = event.rent && ours ? { ...state.compaction, rent: state.compaction.rent + event.rent } : state.compaction;
  const totals = addToTotals(state.totals, event);
  if (event.purpose === "title") return { ...state, totals, title_tries: triesAfter(state, event) };
  if (!usage) return { ...state, turn, compaction, totals };
  if (event.purpose !== "turn") return { ...state, turn, compaction, totals };
  if (!isCount(usage, event.estimate)) return { ...state, turn, compaction, totals, ...countSuspect(state, event, usage) };
  return {
    ...state,
    turn,
    compaction,
    totals,
    doubted: null,
    ratios: learnFrom(state.ratios, {
      model: event.model,
      estimate: event.estimate,
      reported: usage.input,
      fixed: ours ? weighFixed(state) : null,
      ...(event.ratio !== undefined && { start: event.ratio }),
    }),
    anchor: ours ? buildAnchor(state, event, usage) : state.anchor,
  };
}

function countCall(turn: OpenTurn, { purpose, outcome }: EventOf<"ModelCallFinished">): OpenTurn {
  const isFinished = FINISHED_OUTCOMES.includes(outcome);
  const counted = purpose === "turn" ? { ...turn, calls: turn.calls + 1, rounds: turn.rounds + (isFinished ? 1 : 0) } : turn;
  // A summary that the turn waits for is progress, too.
  const isOurs = purpose === "turn" || purpose === "compaction";
  return isOurs && isFinished ? withProgress(counted) : counted;
}

const withProgress = (turn: OpenTurn): OpenTurn => ({ ...turn, stalled_lives: 0 });

/** This many consecutive counts that agree are believed, however small they are. */
const BELIEVED_AFTER = 3;

/**
 * Handles a count that is far below the estimate. Either the count is partial, or the estimate is wrong, for example
 * for an image that weighs little. A complete count grows with each reply, because the next request holds it. A count
 * that grows so several times in a row is taken as complete. It teaches no ratio, because a single image may explain
 * the difference.
 */
function countSuspect(
  state: SessionState,
  event: EventOf<"ModelCallFinished">,
  usage: CallUsage,
): Pick<SessionState, "anchor" | "doubted"> {
  const { model, epoch } = event;
  const { anchor, doubted } = state;
  if (usage.input === 0 || usage.cached > usage.input) return { anchor, doubted: null };
  const agrees = doubted?.model === model && doubted.epoch === epoch && usage.input >= doubted.tokens;
  const times = agrees ? doubted.times + 1 : 1;
  const believed = times >= BELIEVED_AFTER && epoch === state.view.epoch;
  return {
    anchor: believed ? buildAnchor(state, event, usage) : anchor,
    doubted: { model, epoch, tokens: usage.input + usage.output, times },
  };
}

/** A call that ended otherwise than by a crash is not repeated, whatever its outcome. */
const triesAfter = ({ title_tries }: SessionState, { outcome }: EventOf<"ModelCallFinished">): number =>
  outcome === "crashed" ? title_tries + 1 : MAX_TITLE_TRIES;

const withoutUnsettled = (state: SessionState, lease: number): SessionState => ({
  ...state,
  compaction: { ...state.compaction, unsettled: unsettledExcept(lease, state) },
});

/** Adds a call to the cost of its compaction or draft, including a late call of a lease that was lost. */
function withSpent(state: SessionState, event: EventOf<"ModelCallFinished">): SessionState {
  const { requested, draft } = state.compaction;
  if (event.lease === null) return state;
  if (draft && event.lease >= draft.tokens.first && event.lease <= draft.tokens.last)
    return { ...state, compaction: { ...state.compaction, draft: { ...draft, spent: addToSpend(draft.spent, event) } } };
  if (!requested || event.lease < requested.first_token) return state;
  return { ...state, compaction: { ...state.compaction, requested: { ...requested, spent: addToSpend(requested.spent, event) } } };
}

function buildAnchor(state: SessionState, event: EventOf<"ModelCallFinished">, usage: CallUsage): UsageAnchor {
  return {
    epoch: event.epoch,
    holds_in: event.epoch,
    model: event.model,
    up_to: event.up_to,
    input: usage.input,
    // Reasoning is sent again only where the provider signed it (`withReply`). Some providers count it beside the output, not in it.
    output: usage.reasoning <= usage.output ? usage.output - usage.reasoning : usage.output,
    ...(usage.reasoning > 0 ? { thinking: usage.reasoning } : {}),
    reply_to: event.up_to,
    fixed: fixedTokens(state),
    at: event.at,
  };
}

/** Extends the anchor over the reply's items, which its `output` counts. Where `output` is 0, they stay uncounted and are estimated. */
function withReply(state: SessionState, { position, signed }: ItemMeta): SessionState {
  const { anchor } = state;
  if (!anchor || anchor.output === 0 || anchor.reply_to !== position - 1) return state;
  const { thinking = 0, ...counted } = anchor;
  if (thinking === 0 || !signed || signed.tokens === 0) return { ...state, anchor: { ...anchor, reply_to: position } };
  return { ...state, anchor: { ...counted, output: anchor.output + thinking, reply_to: position } };
}

function openCall(state: SessionState, event: EventOf<"ToolCalled">): SessionState {
  const ref = event.item.tool;
  if (!state.turn || !ref) return appendItems(state, [event.item]);
  const call: OpenCall = {
    execution: ref.execution,
    call_id: ref.call_id,
    name: ref.name,
    ...(event.server && { server: event.server }),
    ...(event.cut && { cut: event.cut }),
  };
  const turn = withCalls(state.turn, [...state.turn.open_calls, call]);
  return appendItems({ ...withReply(state, event.item), turn }, [event.item]);
}

const withCalls = (turn: OpenTurn, open_calls: readonly OpenCall[]): OpenTurn => ({ ...turn, open_calls, phase: toTurnPhase(open_calls) });

/** `incarnation`: the incarnation that continues the turn. Null: unchanged. */
function changeCall(
  state: SessionState,
  { execution, incarnation }: { readonly execution: string; readonly incarnation: string | null },
  change: (call: OpenCall) => OpenCall,
): SessionState {
  if (!state.turn) return state;
  const calls = state.turn.open_calls.map((call) => (call.execution === execution ? change(call) : call));
  return { ...state, turn: { ...withCalls(state.turn, calls), incarnation: incarnation ?? state.turn.incarnation } };
}

function closeCall(state: SessionState, event: EventOf<"ToolResultRecorded">): SessionState {
  const execution = event.item.tool?.execution;
  if (!state.turn) return appendItems(state, [event.item]);
  const open_calls = state.turn.open_calls.filter((call) => call.execution !== execution);
  const turn = { ...withCalls(state.turn, open_calls), incarnation: event.incarnation };
  // The next life records this result of a call that the life before it did not bring to an end.
  const isLost = event.ran?.failure === "unknown_outcome";
  return appendItems({ ...state, turn: isLost ? turn : withProgress(turn) }, [event.item]);
}

function endTurn(state: SessionState, ended: Omit<LastTurn, "tools" | keyof TurnChoices>): SessionState {
  return { ...state, turn: null, last_turn: { ...ended, tools: state.turn?.tools ?? null, ...toTurnChoices(state.turn ?? {}) } };
}
