/** What really happened, read from the log, to compare a policy's run with. */
import type { Recorded, TokenCounts } from "../contract/evaluation";
import { roundCost } from "../domain/call-totals";
import type { StoredEvent } from "../domain/events";
import { evolve } from "../domain/evolve";
import { toGeneratedTokens } from "../domain/model-call";
import { initialState, type SessionState } from "../domain/state";
import { toWeighedView } from "../domain/view";
import { NO_TOKENS, plus } from "./costs";
import { type CallEvent, isAnswered } from "./log-call";
import type { LogRecord } from "./log-record";
import { ViewChanges } from "./view-changes";

/** Number of items that the view keeps before the evaluated part: a retry or a late result may still need them. */
const PASSED_OVER = 500;

export class RecordedRun {
  state: SessionState = initialState;
  readonly #changes = new ViewChanges();
  #turns = 0;
  #calls = 0;
  #failed = 0;
  #turnSpent: TokenCounts = NO_TOKENS;
  #summarySpent: TokenCounts = NO_TOKENS;
  #cost = { usd: 0, summaries_usd: 0, unpriced_calls: 0 };

  /** `counts` is true when the event belongs to the evaluated part. */
  take(event: StoredEvent, counts: boolean): void {
    if (counts) this.#count(event);
    const next = evolve(this.state, event);
    this.state = counts ? next : forgetOld(next);
  }

  #count(event: StoredEvent): void {
    if (event.type === "TurnStarted" && event.attempt === 1) this.#turns += 1;
    if (event.type === "ModelCallFinished" && (event.purpose === "turn" || event.purpose === "compaction")) this.#call(event);
    if (event.type !== "EpochChanged") return;
    const when = { after_position: this.state.next_position - 1, turn: this.#turns, at: event.at, expected: null };
    this.#changes.add(event, when);
  }

  #call(event: CallEvent): void {
    const { usage, purpose, cost } = event;
    if (purpose === "turn") {
      if (isAnswered(event)) this.#calls += 1;
      else this.#failed += 1;
    }
    if (cost === undefined) this.#cost.unpriced_calls += usage ? 1 : 0;
    else this.#cost.usd += cost;
    if (purpose === "compaction") this.#cost.summaries_usd += cost ?? 0;
    if (!usage) return;
    const spent = { input: usage.input, cached: usage.cached, output: toGeneratedTokens(usage) };
    if (purpose === "turn") this.#turnSpent = plus(this.#turnSpent, spent);
    else this.#summarySpent = plus(this.#summarySpent, spent);
  }

  figures(record: LogRecord): Recorded {
    const { usd, summaries_usd, unpriced_calls } = this.#cost;
    return {
      turns: this.#turns,
      calls: this.#calls,
      failed_calls: this.#failed,
      tokens: this.#turnSpent,
      summary_tokens: this.#summarySpent,
      cached_share: this.#turnSpent.cached / Math.max(1, this.#turnSpent.input),
      cost: { usd: roundCost(usd), summaries_usd: roundCost(summaries_usd), unpriced_calls },
      ...this.#changes.figures(record, this.state),
    };
  }
}

/**
 * Shortens the view before the evaluated part, because no figure includes what was said there. A view that was never
 * compacted is copied with each message, so passing over 90,000 of them would take minutes.
 */
function forgetOld(state: SessionState): SessionState {
  const { view } = state;
  if (view.items.length <= 2 * PASSED_OVER) return state;
  return { ...state, view: toWeighedView({ ...view, items: view.items.slice(-PASSED_OVER) }) };
}
