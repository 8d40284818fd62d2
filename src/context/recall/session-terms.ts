/**
 * The terms by which a tenant's sessions are searched: the same as a session's own index has (`terms`), each once, in one
 * list. The index of sessions counts no occurrences and no places: its messages are many and short.
 */
import type { Part } from "../../domain/message";
import { takeHead } from "../tool-results";
import type { RecallQuery } from "./query";
import { toTerms } from "./terms";

/** The beginning of a message that can be found, in UTF-16 units. */
export const MOST_SEARCHED_UNITS = 10_000;
/** A mark in front of stems. No word contains it. */
const STEM = "¦";

/** The text of a message that can be found: what was said, without thinking, images and files. */
export function toSearchedText(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return takeHead(texts.join("\n"), MOST_SEARCHED_UNITS);
}

/** Distinct terms, separated by spaces. Empty when the text has no word. `at`: when it was said, in epoch milliseconds. */
export function toSessionTerms(text: string, at: number): string {
  if (text.trim() === "") return "";
  const { exact, stems } = toTerms(text, at);
  return [...new Set([...exact, ...stems.map((stem) => STEM + stem)])].join(" ");
}

export interface AskedTerm {
  readonly term: string;
  /** What the term counts for, beside how rare it is. Another form of a word matches by its stem alone. */
  readonly share: number;
}

const EXACT_SHARE = 0.4;
const STEM_SHARE = 1;

export const toAskedTerms = ({ exact, stems }: RecallQuery): readonly AskedTerm[] => [
  ...stems.map((stem) => ({ term: STEM + stem, share: STEM_SHARE })),
  ...exact.map((term) => ({ term, share: EXACT_SHARE })),
];
