/** Decides what counts as a summary. Anything else is a failure, and the view stays byte-identical (docs/field.md, lesson 3). */
import type { CompactionFailure } from "../domain/compaction-events";
import type { FinishReason } from "../domain/model-call";
import { err, ok, type Result } from "../lib/result";
import { toEvenCap } from "./even-cap";
import type { Policy } from "./policy";
import { STRUCTURED_SECTIONS } from "./prompts";
import { estimateTokens } from "./tokens";
import { takeHead } from "./tool-results";

/** A summary up to this multiple of the cap is accepted unchanged, because models count words badly and the tokens are estimated. */
export const CAP_TOLERANCE = 1.5;
/**
 * A summary up to this multiple of the cap is cut to `CAP_TOLERANCE`, section by section, because it was paid for. A
 * longer one is rejected.
 */
const MOST_CAPS = 4;
/** An answer that ended with `length` below this share of its cap was stopped by something other than its own length. */
const LEAST_OF_CAP = 0.75;

/** Dots, rules and invisible characters have no content. */
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

interface SummaryCandidate {
  readonly text: string;
  readonly finish: FinishReason;
  readonly form: Policy["summary"]["form"];
  /** Maximum tokens that the prompt allows, by the model's own count. */
  readonly cap: number;
  /** The model's tokens per estimated token. */
  readonly ratio: number;
}

export interface AcceptedSummary {
  readonly text: string;
  /** Raw estimate. */
  readonly tokens: number;
}

/**
 * Checks the text alone. Whether it makes the view smaller is checked when it is drafted into the view
 * (`app/compaction/apply-result`).
 */
export function checkSummary({ text: said, finish, form, cap, ratio }: SummaryCandidate): Result<AcceptedSummary, CompactionFailure> {
  const text = said.trim();
  if (!SAYS_SOMETHING.test(text)) return err("empty");
  if (finish !== "stop" && finish !== "length") return err("refused");
  const raw = cap / ratio;
  const tokens = estimateTokens(text);
  if (tokens > raw * MOST_CAPS) return err("too_long");
  if (finish === "length" && tokens < raw * LEAST_OF_CAP) return err("cut_off");
  const whole = finish === "length" ? withoutLastPiece(text) : text;
  if (form === "structured" && splitSections(whole).filter(isSection).length < STRUCTURED_SECTIONS)
    return err(finish === "length" ? "cut_off" : "sections_missing");
  const most = raw * CAP_TOLERANCE;
  if (estimateTokens(whole) <= most) return ok({ text: whole, tokens: estimateTokens(whole) });
  const cut = cutSections(splitSections(whole), most);
  return ok({ text: cut, tokens: estimateTokens(cut) });
}

/** Removes the last line of a cut-off text, which may be half a sentence, or only its last word if the line is most of the text. */
function withoutLastPiece(text: string): string {
  const end = [text.lastIndexOf("\n"), text.lastIndexOf(" ")].find((at) => at >= text.length * LEAST_KEPT);
  return end === undefined ? text : text.slice(0, end).trimEnd();
}

const LEAST_KEPT = 0.75;

/** Sections are recognised by their form, because headings are in the conversation's language. A text without a heading is one section. */
const splitSections = (text: string): readonly string[] => text.split(/\n(?=##\s+\S)/);
const isSection = (section: string): boolean => /^##\s+\S/.test(section);

/** Cuts the ends of the longest sections, by whole lines where they have some. Short sections stay whole. */
function cutSections(sections: readonly string[], most: number): string {
  const level = toEvenCap(sections.map(estimateTokens), most);
  return sections.map((section) => cutTo(section, level)).join("\n");
}

function cutTo(section: string, most: number): string {
  let kept = section;
  for (let tokens = estimateTokens(kept); tokens > most && kept.length > 1; tokens = estimateTokens(kept)) {
    const head = takeHead(kept, Math.max(1, Math.floor((kept.length * most * 0.95) / tokens)));
    const end = head.lastIndexOf("\n");
    kept = end > head.length / 2 ? head.slice(0, end) : head;
  }
  return kept.trimEnd();
}
