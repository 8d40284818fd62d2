/** What counts as a summary. Anything else is a failure, and the view stays byte-identical (docs/field.md, lesson 3). */
import type { CompactionFailure } from "../domain/compaction-events";
import type { FinishReason } from "../domain/model-call";
import { err, ok, type Result } from "../lib/result";
import { estimateTokens } from "./tokens";

/** The cap is in the model's tokens and the estimate is ours: this much above it is not the model's fault. */
const CAP_TOLERANCE = 1.5;

export interface SummaryCandidate {
  readonly text: string;
  readonly finish: FinishReason;
  /** Most tokens that were asked for. */
  readonly cap: number;
  /** Raw estimate of what it takes the place of. */
  readonly replaced: number;
}

export interface AcceptedSummary {
  readonly text: string;
  /** Raw estimate. */
  readonly tokens: number;
}

export function checkSummary(candidate: SummaryCandidate): Result<AcceptedSummary, CompactionFailure> {
  const text = candidate.text.trim();
  if (text.length === 0) return err("empty");
  if (candidate.finish === "length") return err("cut_off");
  if (candidate.finish !== "stop") return err("refused");
  const tokens = estimateTokens(text);
  if (tokens > candidate.cap * CAP_TOLERANCE) return err("too_long");
  if (tokens >= candidate.replaced) return err("not_smaller");
  return ok({ text, tokens });
}
