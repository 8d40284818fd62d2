/** Compares two summaries with each other and with the messages that they cover. No model is asked. Synchronous. */
import { holds, normalize, type Term, TermCounter } from "../../context/kept-terms";
import type { ComparedSummary, SummaryComparison } from "../../contract/comparison";
import type { CoveredRange } from "../../domain/compaction-events";
import type { Part } from "../../domain/message";
import { diffLines } from "../../lib/line-diff";
import type { SessionContent } from "../session-ports";

/** The most terms in the answer. */
const MOST_TERMS = 100;
/** The most UTF-16 units of messages to read, newest first: the size of a conversation of some thousand messages. */
const MOST_UNITS = 4_000_000;

export type ComparedText = Omit<ComparedSummary, "kept">;
type Compared = Omit<SummaryComparison, "model" | "questions">;

export function compareTexts(a: ComparedText, b: ComparedText, content: Pick<SessionContent, "readBackwards">): Compared {
  const range = { from: Math.min(a.range.from, b.range.from), to: Math.max(a.range.to, b.range.to) };
  const said = countTerms(range, content);
  const [left, right] = [normalize(a.text), normalize(b.text)];
  const terms = said.terms.map((term) => ({ ...term, in_a: holds(left, term.term), in_b: holds(right, term.term) }));
  return {
    a: { ...a, kept: terms.filter(({ in_a }) => in_a).length },
    b: { ...b, kept: terms.filter(({ in_b }) => in_b).length },
    terms,
    terms_complete: said.isComplete,
    diff: diffLines(a.text, b.text),
  };
}

function countTerms(range: CoveredRange, content: Pick<SessionContent, "readBackwards">): { terms: readonly Term[]; isComplete: boolean } {
  const counter = new TermCounter();
  let units = 0;
  for (const { parts } of content.readBackwards(range)) {
    for (const text of parts.map(toSearchText)) {
      units += text.length;
      counter.add(text);
    }
    if (units > MOST_UNITS) return { terms: counter.most(MOST_TERMS), isComplete: false };
  }
  return { terms: counter.most(MOST_TERMS), isComplete: true };
}

function toSearchText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool_call":
      return part.arguments;
    case "tool_result":
      return part.output;
    default:
      return "";
  }
}
