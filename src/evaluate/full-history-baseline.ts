/** What the same calls would have cost with the whole history sent each time, by the same cache. Policies are measured by it. */
import { CACHE_TTL_MS, type Prices } from "../context/economy";
import type { StoredEvent } from "../domain/events";
import { cutOffReply } from "../domain/evolve-turn";
import { listEventItems } from "../domain/items-of";
import { fixedTokens, isRecallOffered, RECALL_TOOL_TOKENS, type SessionState } from "../domain/state";
import { CallSums } from "./call-sums";
import { type CallEvent, countCallTokens, isAnswered } from "./log-call";
import { roundToCached } from "./prompt-cache";

export class FullHistoryBaseline {
  readonly #sums: CallSums;
  /** Raw tokens of everything said on the present branch, without what a retry took back. */
  #said = 0;
  #before = 0;
  #readAt = 0;
  #turns = 0;

  constructor(prices: Prices) {
    this.#sums = new CallSums(prices);
  }

  /** `state` is the session's real state before the event. */
  take(event: StoredEvent, state: SessionState, perToken: number): void {
    if (event.type === "TurnStarted") {
      this.#turns += event.attempt === 1 ? 1 : 0;
      if (event.retry_of) this.#said -= cutOffReply(state.view.items).reduce((sum, { tokens }) => sum + tokens, 0);
    }
    if (event.type === "ModelCallFinished" && event.purpose === "turn" && isAnswered(event)) this.#call(event, state, perToken);
    this.#said += listEventItems(event).reduce((sum, { tokens }) => sum + tokens, 0);
  }

  #call(event: CallEvent, state: SessionState, fallback: number): void {
    const { perToken, estimate, output } = countCallTokens(event);
    const scale = perToken ?? fallback;
    const raw = this.#said + fixedTokens(state) - (isRecallOffered(state) ? RECALL_TOOL_TOKENS : 0);
    const input = Math.round(raw * scale);
    const isWarm = event.at - event.ms - this.#readAt < CACHE_TTL_MS;
    const cached = isWarm ? Math.min(input, roundToCached(Math.floor(this.#before * scale))) : 0;
    this.#readAt = event.at;
    this.#before = raw;
    this.#sums.called({ input, cached, output }, perToken === null ? 0 : Math.max(0, 1 - Math.abs(raw - estimate) / raw));
  }

  /** The conversation goes on on another branch, which holds `said` tokens. */
  goOn(said: number): void {
    this.#said = said;
  }

  get amount(): number {
    return this.#sums.amount;
  }

  figures() {
    return this.#sums.figures(this.#turns);
  }
}
