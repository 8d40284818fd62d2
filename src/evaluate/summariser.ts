/** The summariser of a lab run in which summaries may fail: its request and its answer. */
import type { Policy } from "../context/policy";
import type { FinishReason } from "../domain/model-call";

export interface SummaryAsked {
  /** Tokens of a summary of this source when nothing goes wrong. */
  readonly expected: number;
  /** Maximum tokens that the model is told to write. */
  readonly cap: number;
  readonly form: Policy["summary"]["form"];
  /** Summaries with different names share no text. */
  readonly name: string;
}

export type SummariserAnswer =
  | { readonly ok: true; readonly text: string; readonly finish: FinishReason; readonly output: number }
  /** `unavailable`: the provider did no work and charges nothing. */
  | { readonly ok: false; readonly failure: "timeout" | "unavailable" };

export interface Summariser {
  answer(asked: SummaryAsked): SummariserAnswer;
}
