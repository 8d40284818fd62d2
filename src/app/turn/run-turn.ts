/**
 * Produces one answer of a turn, from the view to the recorded reply. It runs detached: no connection keeps it alive, and clients read the
 * live stream. Every await is a race with stop, interrupt and eviction, so every result is recorded by a command that names the run, and is
 * refused if the run is over (docs/events.md, docs/turns.md).
 */
import { toPolicy } from "../../context/policy-choice";
import type { CalledTool, ModelCall } from "../../domain/commands";
import type { TurnFailureKind } from "../../domain/events";
import type { NewItem } from "../../domain/message";
import type { FinishReason } from "../../domain/model-call";
import { type BuiltItem, buildItem } from "../request/build-items";
import { mayTryOtherModel, RetryBudget } from "../request/retry";
import type { SessionPorts } from "../session-ports";
import { CUT_OFF_CALL, isUnfinished, type JudgedCall, judgeCall } from "../tools/judge-call";
import { StepBudget } from "../tools/schema-check";
import { listCandidates } from "./candidates";
import type { LiveTurn } from "./live-turn";
import type { RoomPorts } from "./make-room";
import type { AnswerFailure } from "./recover-overflow";
import { standsStill } from "./standstill";
import { type AttemptResult, type FailedAttempt, recordFailedCall, tryModel } from "./try-model";

/**
 * Asks the session's model, then the fallback models of its policy, as long as no model has sent anything. The turn fails with the first
 * model's failure.
 */
export async function runTurn(live: LiveTurn, ports: RoomPorts): Promise<void> {
  const budget = new RetryBudget(live.retrySpend);
  let ended: AnswerFailure | null = whyNotAsked(ports);
  if (ended) return fail(live, ports, ended);
  for (const candidate of listCandidates(ports.writer.state)) {
    const tried: AttemptResult = await tryModel(live, { ...candidate, budget }, ports);
    if (tried.kind === "passed_over") continue;
    if (tried.kind === "answered") return record(live, ports, tried);
    if (tried.kind === "over") return;
    ended = withCall(ended ?? tried, tried.call);
    if (!mayGoOn(tried, budget)) break;
    if (!recordFailedCall(live, tried.call, ports)) return;
    ended = withCall(ended, null);
  }
  if (ended) fail(live, ports, ended);
}

/**
 * Why no model may be asked: storage is full, the turn has reached the policy's limit of tool rounds, or it makes no progress. Null when a
 * model may be asked.
 */
function whyNotAsked(ports: SessionPorts): AnswerFailure | null {
  const { turn, settings } = ports.writer.state;
  if (ports.storageIsFull()) return notAsked("storage_full");
  if ((turn?.rounds ?? 0) >= toPolicy(settings.policy).tools.max_rounds) return notAsked("round_limit");
  return standsStill(ports) ? notAsked("no_progress") : null;
}

const notAsked = (kind: TurnFailureKind): AnswerFailure => ({ failure: { kind, status: null }, call: null });

const withCall = ({ failure, excerpt }: AnswerFailure, call: ModelCall | null): AnswerFailure => ({
  failure,
  call,
  ...(excerpt !== undefined && { excerpt }),
});

const mayGoOn = ({ silent, failure }: FailedAttempt, budget: RetryBudget): boolean =>
  silent && mayTryOtherModel(failure.kind) && !budget.isSpent;

/** Records the reply and its calls in one command: a call is never stored without the text that led to it. */
function record(live: LiveTurn, ports: SessionPorts, answer: { finish: FinishReason; call: ModelCall }): void {
  const { writer, clock, ids } = ports;
  const at = clock();
  const { turn } = live.run;
  const { model } = answer.call;
  const said = live.spoken.whole;
  const id = live.nameReply(ids);
  const reply = said.words.length > 0 ? buildItem({ id, kind: "assistant", parts: said.words, turn, at, model }, ids) : null;
  // What the provider's filter ended is not run.
  const made = answer.finish === "content_filter" ? [] : said.calls;
  const tools = made.length > 0 ? ports.content.readTools() : [];
  const budget = new StepBudget();
  const calls = made.map(({ call: part, thinking }, index): BuiltItem & { readonly judged: JudgedCall } => {
    const tool = { execution: ids.newId("exe"), call_id: part.call_id, name: part.name };
    // Without words the first call begins the message, which has the reply's id.
    const named = reply === null && index === 0 ? { id } : {};
    const drafted = buildItem({ ...named, kind: "tool_call", parts: [...thinking, part], turn, at, tool, model }, ids);
    const isCut = answer.finish === "length" && index === made.length - 1 && isUnfinished(part);
    return { ...drafted, judged: isCut ? CUT_OFF_CALL : judgeCall(part, tools, budget) };
  });
  const drafted = [...(reply ? [reply] : []), ...calls];
  const bodies = drafted.map((item) => item.body);
  const { call, finish } = answer;
  const command = {
    type: "RecordAssistant",
    at,
    ...live.run,
    call,
    reply: reply?.draft ?? null,
    calls: calls.map(({ draft, judged }) => toCalledTool(draft, judged)),
    finish,
  } as const;
  const recorded = writer.execute(command, bodies);
  live.call = null;
  if (!recorded.ok) ports.log.info("reply_not_recorded", { turn, code: recorded.error.code });
}

/** `server` marks calls whose result comes from this side: calls that run here, and calls that cannot be run. */
const toCalledTool = (item: NewItem, judged: JudgedCall): CalledTool => ({
  item,
  ...(judged.kind !== "client" && { server: true }),
  ...(judged === CUT_OFF_CALL && { cut: true }),
  ...(judged.kind === "server" && judged.needs_approval && { needs_approval: true }),
});

function fail(live: LiveTurn, ports: SessionPorts, { failure, call, excerpt }: AnswerFailure): void {
  const { writer, clock, ids, log } = ports;
  const at = clock();
  const partial = live.buildPartial(at, ids);
  const command = { type: "FailTurn", at, ...live.run, failure, call, partial: partial?.draft ?? null } as const;
  // A message that was redacted since may be quoted.
  const quoted = excerpt?.redacted === writer.state.redactions ? excerpt.text : null;
  const note = quoted === null ? undefined : () => ports.noteExcerpt(live.run.turn, quoted);
  const recorded = writer.execute(command, partial ? [partial.body] : [], note);
  live.call = null;
  const { kind, status, reported } = failure;
  if (recorded.ok) log.warn("turn_failed", { turn: live.run.turn, kind, status, ...reported });
}
