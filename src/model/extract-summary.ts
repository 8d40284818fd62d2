/** A summary without a model: the sentences that carry most, word for word and in their order, within a cap. */
import { sentencesOf } from "./text-matching";

/** Estimated tokens of a text. */
export type EstimateTokens = (text: string) => number;

/** A summary is at most this share of what it stands for: it must be smaller than that to be of use. */
const SHARE = 0.25;
const SMALLEST_CAP = 48;
/** Room under the cap for what the estimate is off by. */
const CAP_SHARE = 0.9;
const LONGEST_SENTENCE = 320;

/** What a later reader cannot do without: each kind found counts once. */
const carriers: readonly RegExp[] = [
  /\d/,
  /[A-Z]{2,}[-_]?\d|\b[a-z]+[A-Z_]\w+|\w+[_/\\]\w+|\b\w+\.\w{1,4}\b|`[^`]+`|#\w/,
  /["“„«「][^"”“»」]{2,}["”“»」]/,
  /\b(?:decid|agree|chos|choos|must|never|always|will|need|want|prefer|remember|confirm|cancel|book|fix|fail|error|because|todo|next)/i,
  /\b(?:entschied|beschloss|muss|soll|nicht|brauch|wichtig|d[ée]cid|doit|faut|besoin|decid|debe|necesit|important)/i,
  /决定|決定|必须|必要|需要|记住|重要|失败|错误|確認|确认|結論/,
  /\b\p{Lu}\p{L}+ \p{Lu}\p{L}+/u,
];
const SPEAKER = /^(user|tool): /i;
const TAGGED = /<([a-z][\w-]*)>\n?([\s\S]*?)<\/\1>/g;

interface Candidate {
  readonly text: string;
  readonly place: number;
  readonly score: number;
  readonly tokens: number;
}

/** The transcript and the earlier summary that a summary request holds between tags; one without tags is all of it. */
export function taggedIn(asked: string): string {
  const blocks = [...asked.matchAll(TAGGED)].map((block) => block[2] ?? "");
  return blocks.length > 0 ? blocks.join("\n") : asked;
}

export const withoutTagged = (asked: string): string => asked.replaceAll(TAGGED, "");

/** What stands under a heading that there is nothing to say of. */
export const NOTHING = "none";
/** The form of an earlier summary, which says nothing by itself. */
const isForm = (sentence: string): boolean => sentence === NOTHING || /^#{1,6} /.test(sentence);

/** `source`: what is to be summarised, an earlier summary included. */
export function extractSummary(source: string, limits: { readonly maxTokens: number; readonly estimate: EstimateTokens }): string {
  const share = Math.max(SMALLEST_CAP, Math.floor(limits.estimate(source) * SHARE));
  const cap = Math.min(share, Math.floor(limits.maxTokens * CAP_SHARE));
  const kept: Candidate[] = [];
  let used = 0;
  for (const candidate of rank(source, limits.estimate)) {
    if (used + candidate.tokens > cap) continue;
    kept.push(candidate);
    used += candidate.tokens;
  }
  return kept
    .sort((one, other) => one.place - other.place)
    .map(({ text }) => text)
    .join("\n");
}

/** Each sentence once, best first; of equals the later. */
function rank(source: string, estimate: EstimateTokens): Candidate[] {
  const sentences = [...new Set(sentencesOf(source).map(shorten))].filter((sentence) => !isForm(sentence));
  return sentences
    .map((text, place) => ({ text, place, score: scoreOf(text) + place / sentences.length, tokens: estimate(text) + 1 }))
    .sort((one, other) => other.score - one.score);
}

/** What the user said is said nowhere else; what a tool returned can be looked up again. */
function scoreOf(text: string): number {
  const speaker = SPEAKER.exec(text)?.[1]?.toLowerCase();
  const bonus = speaker === "user" ? 1 : speaker === "tool" ? -1 : 0;
  return carriers.filter((carrier) => carrier.test(text)).length + bonus;
}

/** Cut between characters, never inside one. */
const shorten = (sentence: string): string =>
  sentence.length <= LONGEST_SENTENCE
    ? sentence
    : `${sentence
        .slice(0, LONGEST_SENTENCE)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`;
