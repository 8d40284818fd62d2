/**
 * Records everything that one request adds to a conversation, in one transaction: its place, the results of calls, messages, and the turn
 * that follows. Each step is a command that also exists alone, and a refusal at any step undoes the steps before it (`transactOnce`).
 */
import type { ModelSpec } from "../../app/ports";
import { buildToolsBody } from "../../app/request/build-items";
import { toAssumedLimits } from "../../app/request/build-request";
import type { CopiedPlace, RespondFromInput, RespondInput } from "../../app/respond-api";
import type * as api from "../../app/session-api";
import type { WrittenMessage } from "../../app/written-message";
import { findExcess } from "../../context/budget";
import { toPolicy } from "../../context/policy-choice";
import type { Accepted } from "../../contract/item";
import type { TurnId } from "../../domain/ids";
import { isRunning, type OpenCall, type SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import { draftApprovals, findAskedItem } from "./approval-calls";
import { isAskedAlike, type NextTurn } from "./asked-alike";
import { buildMessage } from "./build-message";
import { continueAfter } from "./continue-after";
import { findCopiedPlace } from "./copied-place";
import { appendMessages, findTakenAmong } from "./import-calls";
import { QUEUE_LIMIT, type RunningSession, submitMessage } from "./message-calls";
import { transactOnce } from "./once";
import { draftResults, explainClosedCall } from "./tool-result-calls";
import { prepareTurn, resolveForTurn } from "./turn-choices";

type Acknowledged = Omit<Accepted, "replayed">;
type Added = Omit<Acknowledged, "cursor">;

export async function respond(session: RunningSession, input: RespondInput): Promise<api.Outcome<Accepted>> {
  const fault = findFault(input);
  if (fault) return fault;
  const lone = toLoneMessage(input);
  if (lone) return submitMessage(session, lone, { refuse: (state) => (isRunning(state.turn) ? null : refuseWaiting(state, input)) });
  const resolved = await resolveForTurn(session, input);
  const cursor = session.buffer.offset;
  return transactOnce<Acknowledged>(session, input.idempotency, (step) => {
    const prepared = prepareTurn(session, input, { resolved, base: {}, tools: input.tools });
    if (prepared.refusal) return prepared.refusal;
    const added = addAtPlace({ session, step, input, prepared });
    if (!added.ok) return added;
    const spec = input.whole && resolved.ok ? resolved.value : null;
    return refuseExcess(step.state, spec) ?? ok({ ...added.value, cursor });
  });
}

/** Responds here, or says in which copy to. What the request itself makes impossible is refused before that. */
export async function respondFrom(session: RunningSession, input: RespondFromInput): Promise<api.Outcome<Accepted | CopiedPlace>> {
  const fault = findFault(input);
  if (fault) return fault;
  const resolved = await resolveForTurn(session, input);
  const cursor = session.buffer.offset;
  return transactOnce<Acknowledged | CopiedPlace>(session, input.idempotency, (step) => {
    const prepared = prepareTurn(session, input, { resolved, base: {}, tools: input.tools });
    if (prepared.refusal) return prepared.refusal;
    const copied = findCopiedPlace(session, step.state, input);
    if (!copied.ok) return copied;
    if (copied.value) return ok(copied.value);
    const added = addAtPlace({ session, step, input, prepared });
    return added.ok ? ok({ ...added.value, cursor }) : added;
  });
}

function addAtPlace(asked: NextTurn): api.Outcome<Added> {
  const { session, step, input } = asked;
  const refused = refuseBusy(step.state, input);
  if (refused) return refused;
  const taken = findTakenAmong(session, input.messages, "messages");
  if (taken) return err(taken);
  const placed = input.after === null ? ok(null) : continueAfter(session, step, input.after);
  return placed.ok ? addAll(asked) : placed;
}

const invalid = (field: string, detail: string): api.Outcome<never> => err({ code: "invalid", field, detail });

const nothingNew = (): api.Outcome<never> => invalid("messages", "nothing is new: give messages, or results of calls");

/** Refuses a request that adds nothing, or that no turn can follow. */
function findFault({ results, approvals = [], messages, run }: RespondInput): api.Outcome<never> | null {
  const last = messages.at(-1);
  if (!last) return results.length + approvals.length === 0 ? nothingNew() : null;
  const leavesCalls = run && last.role !== "tool" && (last.calls ?? []).length > 0;
  return leavesCalls ? invalid(`messages.${messages.length - 1}.tool_calls`, "with run: true the results of these calls follow") : null;
}

/** A single user message without a place, which is submitted as every other. Null for all other requests. */
function toLoneMessage({
  after,
  results,
  approvals = [],
  messages,
  onBusy = "queue",
  whole,
  ...asked
}: RespondInput): api.SubmitInput | null {
  const [message, ...more] = messages;
  if (message?.role !== "user" || more.length > 0 || results.length + approvals.length > 0 || after !== null || whole || !asked.run)
    return null;
  return { ...asked, ...message, onBusy };
}

/** A running turn takes no message, and none may go on without `run`. The calls decide about a request that only answers them. */
function refuseBusy({ turn, queue }: SessionState, { messages, run, after }: RespondInput): api.Outcome<never> | null {
  if (messages.length === 0 && run && (after === null || after === turn?.id)) return null;
  return isRunning(turn) || queue.length > 0 ? err({ code: "turn_running", turn: turn?.id ?? "" }) : null;
}

/** The steps after the place: the results and approvals, then the messages and the turn. */
function addAll(asked: NextTurn): api.Outcome<Added> {
  const { results, approvals = [], messages, run } = asked.input;
  const resulted = results.length > 0 ? recordResults(asked) : null;
  if (resulted && !resulted.ok) return resulted;
  const approved = approvals.length > 0 ? recordApprovals(asked, approvals) : null;
  if (approved && !approved.ok) return approved;
  const answered = resulted ?? approved;
  const unanswered = refuseWaiting(asked.step.state, asked.input);
  if (unanswered) return unanswered;
  if (messages.length > 0 || !answered) return appendAll(asked);
  const next = run ? goOn(asked) : endAnswered(asked);
  return next.ok ? ok({ ...answered.value, turn_id: next.value, queued: false }) : next;
}

function recordResults({ session, step, input: { results } }: NextTurn): api.Outcome<Pick<Added, "message_id" | "position">> {
  const { turn } = step.state;
  const { clock, incarnation } = session.deps;
  const at = clock();
  const drafted = draftResults(session, { turn, results, at });
  if (!drafted.ok) return drafted;
  session.content.learn(drafted.value.bodies);
  const command = { type: "RecordToolResults", at, incarnation, results: drafted.value.results } as const;
  const done = step.execute(command, drafted.value.bodies);
  if (!done.ok) return err(explainClosedCall(session, turn, done.error));
  const [first] = done.value.flatMap((event) => (event.type === "ToolResultRecorded" ? [event.item] : []));
  if (!first) throw new TypeError("recorded results have no item");
  return ok({ message_id: first.id, position: first.position });
}

function recordApprovals(
  { session, step }: NextTurn,
  approvals: readonly api.ApprovalInput[],
): api.Outcome<Pick<Added, "message_id" | "position">> {
  const { turn } = step.state;
  const { clock, incarnation } = session.deps;
  const at = clock();
  const [first] = approvals;
  const asked = first && findAskedItem(step, first);
  const { drafts, bodies } = draftApprovals(session, { turn, approvals, at });
  session.content.learn(bodies);
  const done = step.execute({ type: "ResolveApprovals", at, incarnation, approvals: drafts }, bodies);
  if (!done.ok) return err(done.error);
  if (!asked) throw new TypeError("the answered call has no item in the view");
  return ok({ message_id: asked.id, position: asked.position });
}

/** Messages follow only when nothing is open, and a turn goes on only when the client owes nothing. Results alone may come in parts. */
function refuseWaiting(state: SessionState, input: RespondInput): api.Outcome<never> | null {
  const { approvals, messages, run } = input;
  const open = state.turn?.open_calls ?? [];
  if (isSuperseded(state, input)) return null;
  const isOwed = ({ server, approval }: OpenCall): boolean => !server || (approvals !== undefined && approval === "pending");
  const owed = messages.length > 0 ? open : open.filter((call) => run && isOwed(call));
  return owed.length > 0 ? refuseUnanswered(owed) : null;
}

const isSuperseded = ({ turn }: SessionState, { messages, supersedes }: RespondInput): boolean =>
  turn?.phase === "awaiting_tools" && turn.id === supersedes && messages.length > 0;

const refuseUnanswered = (calls: readonly Pick<OpenCall, "execution" | "call_id">[]): api.Outcome<never> =>
  err({ code: "calls_unanswered", calls: calls.map(({ execution, call_id }) => ({ execution, call_id })) });

/** Ends the turn whose last call was answered, before it goes on. A turn that still waits is left as it is, unless the messages supersede it. */
function endAnswered({ session, step, input }: NextTurn): api.Outcome<null> {
  const { turn } = step.state;
  if (!turn || (turn.phase !== "generating" && !isSuperseded(step.state, input))) return ok(null);
  const nothingCut = { partial: null, call: null };
  const command = { type: "StopTurn", at: session.deps.clock(), turn: turn.id, reason: "superseded", ...nothingCut } as const;
  const ended = step.execute(command);
  return ended.ok ? ok(null) : err(ended.error);
}

/** The turn that reads the results: the one that asked for them, or a new one if the request asks for it otherwise. */
function goOn(asked: NextTurn): api.Outcome<TurnId | null> {
  const { turn } = asked.step.state;
  if (turn?.phase !== "generating" || (!asked.input.renews && isAskedAlike(asked, turn))) return ok(turn?.id ?? null);
  const ended = endAnswered(asked);
  if (!ended.ok) return ended;
  return startBehind(asked, "RetryTurn");
}

function appendAll(asked: NextTurn): api.Outcome<Added> {
  const { session, step, input } = asked;
  const newest = input.messages.at(-1);
  const starting = input.run && newest?.role === "user" ? newest : null;
  const before = starting ? input.messages.slice(0, -1) : input.messages;
  const ended = endAnswered(asked);
  if (!ended.ok) return ended;
  const appended = before.length > 0 ? appendMessages(session, step, { messages: before, list: "messages" }) : ok([]);
  if (!appended.ok) return appended;
  if (starting) return startTurn(asked, starting);
  const last = appended.value.at(-1);
  if (!last) return nothingNew();
  const turn = input.run ? startBehind(asked, "AnswerResults") : ok(null);
  return turn.ok ? ok({ message_id: last.id, turn_id: turn.value, position: last.position, queued: false }) : turn;
}

/** A turn that no message of the request starts: it answers again, or it answers what was appended. */
function startBehind({ session, step, input, prepared }: NextTurn, type: "RetryTurn" | "AnswerResults"): api.Outcome<TurnId> {
  const { clock, ids, incarnation } = session.deps;
  const tools = buildToolsBody(input.tools, ids);
  const turn = ids.newId("trn");
  const bodies = [...prepared.bodies, ...tools.bodies];
  session.content.learn(bodies);
  const started = step.execute({ type, at: clock(), turn, incarnation, choices: prepared.choices, tools: tools.ref }, bodies);
  return started.ok ? ok(turn) : err(started.error);
}

/** Refuses what only a compaction would make fit. Null without a known or assumed window. */
function refuseExcess(state: SessionState, spec: ModelSpec | null): api.Outcome<never> | null {
  const fit = spec && findExcess(state, toAssumedLimits(spec, toPolicy(state.settings.policy)));
  return fit && err({ code: "cannot_fit", fit });
}

function startTurn({ session, step, input, prepared }: NextTurn, message: WrittenMessage): api.Outcome<Added> {
  const { clock, ids, incarnation } = session.deps;
  const [at, turn] = [clock(), ids.newId("trn")];
  const [{ draft, body }] = buildMessage(session, message, { turn, at, open: [] });
  const tools = buildToolsBody(input.tools, ids);
  const bodies = [body, ...prepared.bodies, ...tools.bodies];
  session.content.learn(bodies);
  const started = step.execute(
    {
      type: "SubmitMessage",
      at,
      message: { item: draft, rest: [], turn, tools: tools.ref, ...prepared.choices },
      onBusy: "reject",
      incarnation,
      queueLimit: QUEUE_LIMIT,
      messageLimit: session.limits.messages,
      partial: null,
      call: null,
    },
    bodies,
  );
  return started.ok
    ? ok({ message_id: draft.id, turn_id: turn, position: step.state.next_position - 1, queued: false })
    : err(started.error);
}
