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

/** `input`: the last message of a summary request, whose tagged blocks hold the transcript and an earlier summary. */
export function extractSummary(input: string, limits: { readonly maxTokens: number; readonly estimate: EstimateTokens }): string {
  const blocks = [...input.matchAll(TAGGED)].map((block) => block[2] ?? "");
  const source = blocks.length > 0 ? blocks.join("\n") : input;
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
  const sentences = [...new Set(sentencesOf(source).map(shorten))];
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
