/** What counts as a summary. Anything else is a failure, and the view stays byte-identical (docs/field.md, lesson 3). */
import type { CompactionFailure } from "../domain/compaction-events";
import type { FinishReason } from "../domain/model-call";
import { err, ok, type Result } from "../lib/result";
import type { Policy } from "./policy";
import { STRUCTURED_SECTIONS } from "./prompts";
import { estimateTokens } from "./tokens";

/** The cap is in the model's tokens and the estimate is ours: this much above it is not the model's fault. */
const CAP_TOLERANCE = 1.5;

/** Dots, rules and characters that show nothing say nothing. */
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

export interface SummaryCandidate {
  readonly text: string;
  readonly finish: FinishReason;
  readonly form: Policy["summary"]["form"];
  /** Most tokens that were asked for. */
  readonly cap: number;
}

export interface AcceptedSummary {
  readonly text: string;
  /** Raw estimate. */
  readonly tokens: number;
}

/** Whether the view gets smaller by it is seen when it is drafted into the view (`app/compaction/settle-compaction`). */
export function checkSummary(candidate: SummaryCandidate): Result<AcceptedSummary, CompactionFailure> {
  const text = candidate.text.trim();
  if (!SAYS_SOMETHING.test(text)) return err("empty");
  if (candidate.finish === "length") return err("cut_off");
  if (candidate.finish !== "stop") return err("refused");
  const tokens = estimateTokens(text);
  if (tokens > candidate.cap * CAP_TOLERANCE) return err("too_long");
  if (candidate.form === "structured" && headings(text) < STRUCTURED_SECTIONS) return err("sections_missing");
  return ok({ text, tokens });
}

/** By their form, not by their words: they are in the language of the conversation. */
const headings = (text: string): number => text.split("\n").filter((line) => /^##\s+\S/.test(line)).length;
