/** Who writes the summaries of a lab in which they may fail: what is asked, and what comes back. */
import type { Policy } from "../context/policy";
import type { FinishReason } from "../domain/model-call";

export interface SummaryAsked {
  /** Tokens that a summary of its source has where all goes well. */
  readonly expected: number;
  /** Most tokens that the model is told to write. */
  readonly cap: number;
  readonly form: Policy["summary"]["form"];
  /** Two summaries of other names share no text. */
  readonly name: string;
}

export type SummariserAnswer =
  | { readonly ok: true; readonly text: string; readonly finish: FinishReason; readonly output: number }
  /** `unavailable`: the provider did no work, and asks nothing for it. */
  | { readonly ok: false; readonly failure: "timeout" | "unavailable" };

export interface Summariser {
  answer(asked: SummaryAsked): SummariserAnswer;
}
