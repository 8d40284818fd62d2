/** Builds a summary without a model: the sentences with the highest score, word for word and in their order, within a cap. */
import { splitSentences } from "./text-matching";

/** Estimated tokens of a text. */
export type EstimateTokens = (text: string) => number;

/** Maximum size of a summary as a share of its source. A larger summary would free too little. */
const SHARE = 0.25;
const SMALLEST_CAP = 48;
/** Leaves room under the cap for the error of the estimate. */
const CAP_SHARE = 0.9;
const LONGEST_SENTENCE = 320;

/** Patterns of content that a later reader needs. Each pattern that matches counts once. */
const carriers: readonly RegExp[] = [
  /\d/,
  /[A-Z]{2}[-_]?\d|\b[a-z]+[A-Z_]\w|\w[_/\\]\w|\w\.\w{1,4}\b|`[^`]+`|#\w/,
  /["“„«「][^"”“»」]{2,300}["”“»」]/,
  /\b(?:decid|agree|chos|choos|must|never|always|will|need|want|prefer|remember|confirm|cancel|book|fix|fail|error|because|todo|next)/i,
  /\b(?:entschied|beschloss|muss|soll|nicht|brauch|wichtig|d[ée]cid|doit|faut|besoin|decid|debe|necesit|important)/i,
  /决定|決定|必须|必要|需要|记住|重要|失败|错误|確認|确认|結論/,
  /\b\p{Lu}\p{L}+ \p{Lu}\p{L}+/u,
];
const SPEAKER = /^(user|tool): /i;
const OPENS = /<([a-z][\w-]*)>\n?/g;
const CLOSES = /<\/([a-z][\w-]*)>/g;

interface Candidate {
  readonly text: string;
  readonly place: number;
  readonly score: number;
  readonly tokens: number;
}

interface Block {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Closing tags by name. Each list is reversed, so that `pop` returns the first tag. */
function closesIn(asked: string): ReadonlyMap<string, RegExpExecArray[]> {
  const closes = new Map<string, RegExpExecArray[]>();
  for (const close of [...asked.matchAll(CLOSES)].reverse()) {
    const name = close[1] ?? "";
    const same = closes.get(name);
    if (same) same.push(close);
    else closes.set(name, [close]);
  }
  return closes;
}

/**
 * The text between tags. One expression for both tags would read the rest of the text again for each tag that is never
 * closed.
 */
function blocksIn(asked: string): readonly Block[] {
  const closes = closesIn(asked);
  const blocks: Block[] = [];
  for (const open of asked.matchAll(OPENS)) {
    const start = open.index + open[0].length;
    const same = closes.get(open[1] ?? "") ?? [];
    while ((same.at(-1)?.index ?? start) < start) same.pop();
    const close = same.at(-1);
    const isInside = open.index < (blocks.at(-1)?.to ?? 0);
    if (close && !isInside) blocks.push({ from: open.index, to: close.index + close[0].length, text: asked.slice(start, close.index) });
  }
  return blocks;
}

/** The tagged text of a summary request: the transcript and the earlier summary. A text without tags is returned whole. */
export function taggedIn(asked: string): string {
  const blocks = blocksIn(asked);
  return blocks.length > 0 ? blocks.map(({ text }) => text).join("\n") : asked;
}

export function withoutTagged(asked: string): string {
  const blocks = blocksIn(asked);
  return [...blocks, null].map((block, index) => asked.slice(blocks[index - 1]?.to ?? 0, block?.from)).join("");
}

/** The text under a heading that has no content. */
export const EMPTY_SECTION = "none";
/** True for the headings and empty sections of an earlier summary, which say nothing by themselves. */
const isForm = (sentence: string): boolean => sentence === EMPTY_SECTION || /^#{1,6} /.test(sentence);

/** `source` is the text to summarise, including an earlier summary. */
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

/** Each sentence once, best first; of equal sentences the later comes first. */
function rank(source: string, estimate: EstimateTokens): Candidate[] {
  const sentences = [...new Set(splitSentences(source).map(shorten))].filter((sentence) => !isForm(sentence));
  return sentences
    .map((text, place) => ({ text, place, score: scoreSection(text) + place / sentences.length, tokens: estimate(text) + 1 }))
    .sort((one, other) => other.score - one.score);
}

/** Sentences of the user rank higher, because nothing else repeats them. A tool's result can be looked up again. */
function scoreSection(text: string): number {
  const speaker = SPEAKER.exec(text)?.[1]?.toLowerCase();
  const bonus = speaker === "user" ? 1 : speaker === "tool" ? -1 : 0;
  return carriers.filter((carrier) => carrier.test(text)).length + bonus;
}

/** Cuts between characters, never inside one. */
const shorten = (sentence: string): string =>
  sentence.length <= LONGEST_SENTENCE
    ? sentence
    : `${sentence
        .slice(0, LONGEST_SENTENCE)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`;
