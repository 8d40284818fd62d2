/**
 * Implements `POST /v1/policies/evaluate`: plays two policies over one session's log, page by page, without calling a model
 * or changing anything. A page is released once its events have been played. What stays in memory has the size of the views,
 * and a few numbers for each item.
 */
import type { ModelLimits } from "../context/budget";
import { type Prices, UNKNOWN_PRICES } from "../context/economy";
import type { Policy } from "../context/policy";
import type { PolicyChoice } from "../context/policy-choice";
import { Sizing } from "../context/sizing";
import type { Evaluation } from "../contract/evaluation";
import type { StoredEvent } from "../domain/events";
import type { ItemId, SessionId } from "../domain/ids";
import { parseBody, toSpokenParts } from "../domain/item-content";
import { listEventItems } from "../domain/items-of";
import type { ItemMeta, Part } from "../domain/message";
import { initialState, type SessionState } from "../domain/state";
import { FullHistoryBaseline } from "./full-history-baseline";
import { LogRecord } from "./log-record";
import { LogRun } from "./log-run";
import { findIdentifiers, Mentions } from "./mentions";
import { RecordedRun } from "./recorded-run";
import type { RecordedSummaries } from "./recorded-summaries";

interface EvaluatedPolicy {
  readonly choice: PolicyChoice;
  readonly policy: Policy;
}

export interface EvaluationInput {
  readonly session: SessionId;
  readonly current: EvaluatedPolicy;
  readonly proposed: EvaluatedPolicy;
  readonly limits: ModelLimits;
  /** `messages` is the number of messages in the session. At most the newest `last` of them are evaluated. */
  readonly messages: number;
  readonly last: number;
  readonly summaries: RecordedSummaries;
}

export interface EvaluatedPage {
  readonly events: readonly StoredEvent[];
  readonly bodies: readonly { readonly id: string; readonly text: string }[];
}

/** Number of items after which the content that no view shows is released. */
const ITEMS_BETWEEN_CLEANINGS = 512;

export class LogEvaluation {
  readonly #input: EvaluationInput;
  readonly #prices: Prices;
  readonly #record = new LogRecord();
  readonly #mentions = new Mentions();
  readonly #recorded = new RecordedRun();
  readonly #everything: FullHistoryBaseline;
  #runs: { readonly current: LogRun; readonly proposed: LogRun } | null = null;
  #leftOut = 0;

  constructor(input: EvaluationInput) {
    this.#input = input;
    this.#prices = input.limits.prices ?? UNKNOWN_PRICES;
    this.#everything = new FullHistoryBaseline(this.#prices);
  }

  take({ events, bodies }: EvaluatedPage): void {
    const texts = new Map(bodies.map(({ id, text }) => [id, text]));
    for (const event of events) this.#take(event, texts);
  }

  #take(event: StoredEvent, texts: ReadonlyMap<string, string>): void {
    this.#begin(event);
    const runs = this.#runs;
    if (!runs) return this.#recorded.take(event, false);
    const items = listEventItems(event).map((meta) => ({ meta, parts: parseParts(texts.get(meta.id)) }));
    for (const { meta, parts } of items) this.#enter(event, meta, parts);
    this.#everything.take(event, this.#recorded.state, new Sizing(this.#recorded.state, this.#input.limits.model).ratio);
    runs.current.take(event);
    runs.proposed.take(event);
    this.#recorded.take(event, true);
    if (event.type === "HistoryRewound" || event.type === "BranchSwitched")
      this.#everything.goOn(this.#record.tokensOn(this.#recorded.state.branch.elsewhere));
  }

  /** Begins the evaluation at the first item that is new enough, between two turns. */
  #begin(event: StoredEvent): void {
    if (this.#runs) return;
    const { state } = this.#recorded;
    const { messages, last, limits, summaries, current, proposed } = this.#input;
    const [first] = listEventItems(event);
    if (!first || first.kind === "tool_result" || state.turn || messages - state.messages > last) return;
    this.#leftOut = state.messages;
    const shared = {
      limits,
      summaries,
      prices: this.#prices,
      state: toOpeningState(state),
      record: this.#record,
      mentions: this.#mentions,
    };
    this.#runs = { current: new LogRun({ ...current, ...shared }), proposed: new LogRun({ ...proposed, ...shared }) };
  }

  #enter(event: StoredEvent, meta: ItemMeta, parts: readonly Part[]): void {
    const words = findIdentifiers(parts);
    // Only what was said in a turn counts as coming back to an identifier: imported messages were not answered here, and a
    // tool's result needs no memory.
    const isSaid = event.type === "TurnStarted" || event.type === "AssistantReplied" || event.type === "ToolCalled";
    if (isSaid) for (const run of this.#bothRuns()) run.said(meta, words);
    this.#mentions.learn(meta.position, words);
    this.#record.learn(meta, parts);
    if (this.#record.items.length % ITEMS_BETWEEN_CLEANINGS === 0) this.#clean();
  }

  #bothRuns(): readonly LogRun[] {
    return this.#runs ? [this.#runs.current, this.#runs.proposed] : [];
  }

  #clean(): void {
    const shown = new Set<ItemId>();
    for (const { session } of this.#bothRuns()) for (const { id } of session.state.view.items) shown.add(id);
    const newest = this.#record.items.at(-1);
    if (newest) shown.add(newest.meta.id);
    this.#record.keepOnly(shown);
  }

  /** Null when nothing was ever said in the session. */
  finish(): Evaluation | null {
    const runs = this.#runs;
    if (!runs) return null;
    const { session, limits, messages } = this.#input;
    const all = this.#everything.amount;
    return {
      session_id: session,
      model: limits.model.id,
      context_window: limits.window,
      unit: limits.prices ? "usd" : "relative",
      from_position: this.#record.items[0]?.meta.position ?? null,
      messages: messages - this.#leftOut,
      messages_left_out: this.#leftOut,
      everything: this.#everything.figures(),
      recorded: this.#recorded.figures(this.#record),
      current: runs.current.figures(all),
      proposed: runs.proposed.figures(all),
      ratio: runs.current.amount > 0 ? runs.proposed.amount / runs.current.amount : null,
    };
  }
}

/** The state in which the evaluated part begins: the session's settings, pins and learned ratios, with nothing in its view. */
const toOpeningState = (state: SessionState): SessionState => ({
  ...initialState,
  lifecycle: state.lifecycle,
  tenant: state.tenant,
  session: state.session,
  settings: state.settings,
  pins: state.pins,
  next_position: state.next_position,
  opened_at: state.opened_at,
  branch: state.branch,
  ratios: state.ratios,
});

/** Empty when the content no longer exists. */
const parseParts = (text: string | undefined): readonly Part[] => (text === undefined ? [] : toSpokenParts(parseBody(text)));
