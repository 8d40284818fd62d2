/**
 * Plays one policy over a session's log. What people and models did happens as it was recorded (imports, retries, stops,
 * failures). What the session did to its view by itself does not: this policy decides that anew, before each call and after
 * each turn.
 */
import { assumeWindow, type ModelLimits, toSizing } from "../context/budget";
import { CACHE_TTL_MS, INSTRUCTION_TOKENS, type Prices } from "../context/economy";
import type { CompactPlan } from "../context/plan";
import { toCallCacheReadCost } from "../context/planner";
import type { Policy } from "../context/policy";
import type { PolicyChoice } from "../context/policy-choice";
import type { MissedIdentifier, PolicyRun } from "../contract/evaluation";
import type { SessionSettings, StoredEvent } from "../domain/events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { CallSums } from "./call-sums";
import { onOwnLine } from "./log-branches";
import { type CallEvent, countCallTokens, isAnswered } from "./log-call";
import type { LogRecord } from "./log-record";
import { LogSession } from "./log-session";
import { verbatimShare } from "./measures";
import type { Mentions } from "./mentions";
import { type Block, PromptCache } from "./prompt-cache";
import type { RecordedSummaries } from "./recorded-summaries";
import { RoomMaker } from "./room-maker";
import { runPlan } from "./run-plan";
import { ViewChanges } from "./view-changes";

/** How much of the newest history is checked for verbatim text, in the provider's tokens (docs/policy-figures.md). */
const LAST_TOKENS = 8_000;
/** Maximum number of examples of identifiers that were needed and not shown. */
const MAX_EXAMPLES = 50;
/** Two different blocks have nothing in common, because their text is not known here. */
const APART = { common: () => 0 };

interface RunInput {
  readonly choice: PolicyChoice;
  readonly policy: Policy;
  readonly limits: ModelLimits;
  /** The prices by which calls are charged. */
  readonly prices: Prices;
  readonly state: SessionState;
  readonly record: LogRecord;
  readonly mentions: Mentions;
  readonly summaries: RecordedSummaries;
}

export class LogRun {
  readonly session: LogSession;
  readonly #input: RunInput;
  readonly #limits: ModelLimits;
  readonly #room: RoomMaker;
  readonly #sums: CallSums;
  readonly #changes = new ViewChanges();
  readonly #examples: MissedIdentifier[] = [];
  #cache = new PromptCache<Block>(APART);
  #readAt = 0;
  #turns = 0;
  #refused = 0;
  #breaks = 0;
  #verbatim = 0;
  #needed = 0;
  #missed = 0;
  #previous: { readonly request: readonly Block[]; readonly epoch: number } | null = null;

  constructor(input: RunInput) {
    const { policy, state, record, summaries, limits } = input;
    this.#input = input;
    this.#limits = assumeWindow(limits, policy);
    this.#sums = new CallSums(input.prices);
    this.session = new LogSession({ state: withRecall(state, policy), model: limits.model, record, summaries });
    const setup = { policy, guard: true, eachCall: false };
    this.#room = new RoomMaker({ session: this.session, setup, limits: this.#limits, take: (plan) => this.#take(plan) });
  }

  take(event: StoredEvent): void {
    switch (event.type) {
      case "CompactionRequested":
      case "CompactionStarted":
      case "CompactionProgressed":
      case "CompactionDrafted":
      case "DraftEdited":
      case "CompactionFailed":
      case "EpochChanged":
        return;
      case "SettingsChanged": {
        const changes = withoutPolicy(event.changes);
        if (Object.keys(changes).length > 0) this.session.apply({ ...event, changes });
        return;
      }
      case "HistoryRewound":
      case "BranchSwitched":
        return this.session.apply(onOwnLine(event, this.session.state, this.#input.record));
      case "SessionForked": {
        // The overlays at the start of a copied past were made by another policy.
        const { view: _, ...bare } = event;
        return this.session.apply(bare);
      }
      case "MessagesAppended": {
        const { aside: _, ...shown } = event;
        return this.session.apply(shown);
      }
      case "ModelCallFinished":
        if (event.purpose === "turn") this.#call(event);
        return;
      case "TurnStarted":
        this.#turns += event.attempt === 1 ? 1 : 0;
        return this.session.apply(event);
      case "TurnCompleted":
        this.session.apply(event);
        return this.#room.afterTurn();
      default:
        this.session.apply(event);
    }
  }

  /** Counts the earlier identifiers that a new item mentions, and those of them that the present view does not show. */
  said({ position }: ItemMeta, words: ReadonlySet<string>): void {
    const { needed, missed } = this.#input.mentions.recall(words, { position, state: this.session.state });
    this.#needed += needed;
    this.#missed += missed.length;
    this.#examples.push(...missed.slice(0, MAX_EXAMPLES - this.#examples.length));
  }

  #call(event: CallEvent): void {
    const { session } = this;
    const { id: model } = this.#limits.model;
    if (!isAnswered(event)) return session.apply({ ...event, model, epoch: session.state.view.epoch, usage: null });
    session.now = event.at - event.ms;
    if (!this.#room.prepare()) this.#refused += 1;
    const { state } = session;
    const { raw } = toSizing({ state, limits: this.#limits });
    const { perToken, estimate, output } = countCallTokens(event);
    const scale = perToken ?? session.perToken;
    const request = session.request();
    const input = Math.round(raw * scale);
    const spent = { input, cached: Math.min(input, this.#read(request, scale, event)), output };
    this.#sums.called(spent, perToken === null ? 0 : Math.max(0, 1 - Math.abs(raw - estimate) / raw));
    this.#verbatim += verbatimShare(this.#input.record.items, state, LAST_TOKENS / scale);
    this.#compare(request, state.view.epoch);
    const rent = toCallCacheReadCost({ state, limits: this.#limits, policy: this.#input.policy, now: session.now });
    const usage =
      perToken === null ? null : { input, cached: spent.cached, output: event.usage?.output ?? 0, reasoning: event.usage?.reasoning ?? 0 };
    session.apply({ ...event, model, epoch: state.view.epoch, estimate: raw, usage, rent });
  }

  /** Starts with an empty cache if nothing was read for as long as a provider keeps it. */
  #read(request: readonly Block[], scale: number, { at, ms }: Pick<CallEvent, "at" | "ms">): number {
    if (at - ms - this.#readAt >= CACHE_TTL_MS) this.#cache = new PromptCache(APART);
    this.#readAt = at;
    return this.#cache.read(request, scale);
  }

  #compare(request: readonly Block[], epoch: number): void {
    const before = this.#previous;
    if (before?.epoch === epoch && before.request.some((block, index) => block !== request[index])) this.#breaks += 1;
    this.#previous = { request, epoch };
  }

  #take(plan: CompactPlan): void {
    const { session } = this;
    const at = session.now;
    const readPrefix = (to: number) => {
      const scale = session.perToken;
      const request = [...session.request(to), { tokens: INSTRUCTION_TOKENS / scale }];
      const input = Math.round(request.reduce((sum, { tokens }) => sum + tokens, 0) * scale);
      return { input, cached: Math.min(input, this.#read(request, scale, { at, ms: 0 })) };
    };
    const { policy } = this.#input;
    const { spent } = runPlan(plan, { session, readPrefix, limits: this.#limits, policy, countsChain: false, summariser: null });
    if (spent.input > 0) this.#sums.summarized(spent);
    const after_position = session.state.next_position - 1;
    if (session.changed) this.#changes.add(session.changed, { after_position, turn: this.#turns, at, expected: plan.expected.tokens });
  }

  get amount(): number {
    return this.#sums.amount;
  }

  /** `everything` is the cost of sending the whole history each time. */
  figures(everything: number): PolicyRun {
    const { choice, policy, record } = this.#input;
    const called = this.#sums.figures(this.#turns);
    return {
      policy: choice,
      effective_policy: policy,
      ...called,
      relative_cost: everything > 0 ? called.cost.amount / everything : null,
      would_not_fit: this.#refused,
      breaks: this.#breaks,
      verbatim_8k: this.#verbatim / Math.max(1, called.calls),
      identifiers: { needed: this.#needed, out_of_view: this.#missed, examples: this.#examples },
      ...this.#changes.figures(record, this.session.state),
    };
  }
}

/** The policy decides whether `memory_query` is offered. */
const withRecall = (state: SessionState, { recall }: Policy): SessionState => {
  const { recall: _, ...settings } = state.settings;
  return { ...state, settings: recall === "offered" ? settings : { ...settings, recall: false } };
};

/** One policy and one model are evaluated from beginning to end, whatever changes of them the log holds. */
function withoutPolicy({ model: _, policy: __, recall: ___, ...changes }: Partial<SessionSettings>): Partial<SessionSettings> {
  return changes;
}
