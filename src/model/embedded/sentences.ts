/** The embedded model's knowledge: the sentences that it can see, and which of them answer a question. */
import type { Part } from "../../domain/message";
import { findSentences, type SentenceMatch, sentencesOf } from "../text-matching";
import { cut, isQuestion, partText } from "./message-text";
import { type Answered, describe, executionOf, isRecall, type Turn } from "./turn";

export const STAND_IN = "I am Longhand's embedded stand-in model";
/** Share of the question's weight that a sentence must hold before it counts as an answer. */
const LEAST_COVERAGE = 0.34;
/** A further sentence is quoted only if it is nearly as good as the best. */
const NEARLY_AS_GOOD = 0.75;
const SEEN = { least: LEAST_COVERAGE, nearly: NEARLY_AS_GOOD };
const MOST_SENTENCES = 3;
export const RESULT_CHARS = 400;

/** Questions and this model's own words answer nothing. */
export const statementsOf = (text: string): readonly string[] =>
  sentencesOf(text).filter((sentence) => !isQuestion(sentence) && !sentence.includes(STAND_IN));

/** What a call was about, in front of what it returned: long arguments are told by their beginning. */
const TOLD_CHARS = 160;

/** Everything that the request shows but the question, which answers itself only by what else it says. */
export function seenSentences({ request, asked, said, before, since }: Turn): readonly string[] {
  const calls = new Map<Part, Answered>();
  for (const each of [...before, ...since]) calls.set(each.call, each).set(each.result, each);
  const texts = request.messages.flatMap((message) =>
    message === asked ? [] : message.parts.flatMap((part) => shownOf(part, calls.get(part))),
  );
  const ownContext = sentencesOf(said).filter((sentence) => !isQuestion(sentence));
  return [...statementsOf(conversationIn(request.system ?? "")), ...texts, ...ownContext];
}

/** What a system prompt holds of the conversation (`context/placement`): the summary in front of the operator's words, and pins behind them. */
const SUMMARY = /^Previous conversation summary:\n([\s\S]*?)(?:\n\n---\n\n|$)/;
const PINNED_FROM = "<pinned>\n";
const PINNED_TO = "\n</pinned>";

/** The operator's own words are instructions, which a model follows and does not recite. */
const conversationIn = (system: string): string => `${SUMMARY.exec(system)?.[1] ?? ""}\n${pinnedIn(system)}`;

/** Searched for by its two ends: an expression would look for the second end anew from each first one. */
function pinnedIn(system: string): string {
  const from = system.indexOf(PINNED_FROM);
  const to = system.lastIndexOf(PINNED_TO);
  return from === -1 || to < from ? "" : system.slice(from + PINNED_FROM.length, to);
}

/** A result is read with its call. Of a look-up only what came of it says anything, of a cleared result only what it was asked for. */
function shownOf(part: Part, answered: Answered | undefined): readonly string[] {
  if (!answered) return statementsOf(partText(part));
  const isCall = part === answered.call;
  if (isRecall(answered.call)) return isCall ? [] : statementsOf(answered.result.output);
  if (executionOf(answered)) return isCall ? [describe(answered)] : [];
  if (isCall) return [];
  const call = cut(describe(answered), TOLD_CHARS);
  return statementsOf(answered.result.output).map((sentence) => `${call}: ${sentence}`);
}

/** Each sentence once, best first. */
export const rank = (question: string, sentences: readonly string[]): readonly SentenceMatch[] =>
  findSentences(question, [...new Set(sentences)]);

export function bestOf(question: string, sentences: readonly string[], by = SEEN): readonly string[] {
  const matches = rank(question, sentences);
  const least = Math.max(by.least, (matches[0]?.coverage ?? 0) * by.nearly);
  return matches
    .filter((match) => match.coverage >= least)
    .slice(0, MOST_SENTENCES)
    .map(({ sentence }) => cut(sentence, RESULT_CHARS));
}
