/** The embedded model's knowledge: the sentences that it can see, and which of them answer a question. */
import type { Part } from "../../domain/message";
import { findSentences, type SentenceMatch, splitSentences } from "../text-matching";
import { cut, isQuestion, partText } from "./message-text";
import { type Answered, describe, isRecall, readClearedExecution, type Turn } from "./turn";

export const STAND_IN = "I am Longhand's embedded stand-in model";
/** Minimum share of the question's weight that a sentence must hold to count as an answer. */
const LEAST_COVERAGE = 0.34;
/** A further sentence is quoted only if it holds at least this share of the best sentence's coverage. */
const NEARLY_AS_GOOD = 0.75;
const SEEN = { least: LEAST_COVERAGE, nearly: NEARLY_AS_GOOD };
const MOST_SENTENCES = 3;
export const RESULT_CHARS = 400;

/** The sentences that can answer: no questions, and none with this model's name. */
export const splitStatements = (text: string): readonly string[] =>
  splitSentences(text).filter((sentence) => !isQuestion(sentence) && !sentence.includes(STAND_IN));

/** Maximum length of a call's description in front of its result, in UTF-16 units. Long arguments are cut. */
const TOLD_CHARS = 160;

/**
 * All sentences that the request shows, except the questions of the user's last message. The other sentences of that message
 * may answer it.
 */
export function seenSentences({ request, asked, said, before, since }: Turn): readonly string[] {
  const calls = new Map<Part, Answered>();
  for (const each of [...before, ...since]) calls.set(each.call, each).set(each.result, each);
  const texts = request.messages.flatMap((message) =>
    message === asked ? [] : message.parts.flatMap((part) => listShownTexts(part, calls.get(part))),
  );
  const ownContext = splitSentences(said).filter((sentence) => !isQuestion(sentence));
  return [...splitStatements(conversationIn(request.system ?? "")), ...texts, ...ownContext];
}

/**
 * The conversation's share of a system prompt (`context/placement`): the summary in front of the operator's text, and the
 * pins after it.
 */
const SUMMARY = /^Previous conversation summary:\n([\s\S]*?)(?:\n\n---\n\n|$)/;
const PINNED_FROM = "<pinned>\n";
const PINNED_TO = "\n</pinned>";

/** Leaves out the operator's own text: a model follows instructions and does not quote them. */
const conversationIn = (system: string): string => `${SUMMARY.exec(system)?.[1] ?? ""}\n${pinnedIn(system)}`;

/** Searches for the two ends separately: one expression would look for the second end again from each first one. */
function pinnedIn(system: string): string {
  const from = system.indexOf(PINNED_FROM);
  const to = system.lastIndexOf(PINNED_TO);
  return from === -1 || to < from ? "" : system.slice(from + PINNED_FROM.length, to);
}

/**
 * A result is quoted together with its call. For `memory_query` only the result is quoted; for a cleared result only the
 * call.
 */
function listShownTexts(part: Part, answered: Answered | undefined): readonly string[] {
  if (!answered) return splitStatements(partText(part));
  const isCall = part === answered.call;
  if (isRecall(answered.call)) return isCall ? [] : splitStatements(answered.result.output);
  if (readClearedExecution(answered)) return isCall ? [describe(answered)] : [];
  if (isCall) return [];
  const call = cut(describe(answered), TOLD_CHARS);
  return splitStatements(answered.result.output).map((sentence) => `${call}: ${sentence}`);
}

/** Ranks the sentences, each once, best first. */
export const rank = (question: string, sentences: readonly string[]): readonly SentenceMatch[] =>
  findSentences(question, [...new Set(sentences)]);

export function pickBestSentences(question: string, sentences: readonly string[], by = SEEN): readonly string[] {
  const matches = rank(question, sentences);
  const least = Math.max(by.least, (matches[0]?.coverage ?? 0) * by.nearly);
  return matches
    .filter((match) => match.coverage >= least)
    .slice(0, MOST_SENTENCES)
    .map(({ sentence }) => cut(sentence, RESULT_CHARS));
}
