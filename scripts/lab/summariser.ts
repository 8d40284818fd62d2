/** The lab's summarisers: for each call a seed draws one of the ways in which models and providers answer. */
import { STRUCTURED_SECTIONS } from "../../src/context/prompts";
import type { Summariser, SummariserAnswer, SummaryAsked } from "../../src/evaluate/summariser";
import { createRandom, type Random } from "../support/random.ts";
import { filler } from "./engine/filler";

/** The frequency of each outcome among a hundred calls. */
type Chances = Readonly<Record<Manner, number>>;
type Manner =
  /** Half to one and a half times the expected length. */
  | "usual"
  /** One to five times the cap, by a model that ignores its output limit. */
  | "long"
  /** Stopped by its limit at a quarter to one and a half times the cap. */
  | "cut_off"
  /** A tenth of the expected length, or less. */
  | "short"
  /** Without the requested headings. */
  | "formless"
  | "empty"
  | "refused"
  | "timeout"
  | "unavailable";

/** `ideal` has no summariser: nothing is drawn, and no answer is checked. */
export const SUMMARIES = {
  ideal: null,
  real: { usual: 70, long: 8, cut_off: 4, short: 5, formless: 2, empty: 2, refused: 2, timeout: 4, unavailable: 3 },
  /** No summary ever succeeds. */
  dead: { usual: 0, long: 0, cut_off: 0, short: 0, formless: 0, empty: 20, refused: 20, timeout: 30, unavailable: 30 },
} as const satisfies Record<string, Chances | null>;

export type SummariesName = keyof typeof SUMMARIES;
export const SUMMARIES_NAMES = Object.keys(SUMMARIES).filter(isSummariesName);

export function isSummariesName(name: string): name is SummariesName {
  return name in SUMMARIES;
}

/** Creates a new summariser for each run, so that every policy meets the same draws. Null: no summary fails. */
export function findSummariser(name: SummariesName, seed: number): (() => Summariser) | null {
  const chances = SUMMARIES[name];
  if (chances === null) return null;
  return () => {
    const random = createRandom(seed);
    return { answer: (asked) => answerAs(draw(chances, random), asked, random) };
  };
}

function draw(chances: Chances, random: Random): Manner {
  const manners = Object.entries(chances).filter(isChance);
  let left = random.between(
    1,
    manners.reduce((sum, [, chance]) => sum + chance, 0),
  );
  const found = manners.find(([, chance]) => {
    left -= chance;
    return left <= 0;
  });
  return found?.[0] ?? "usual";
}

const MANNERS: ReadonlySet<string> = new Set(Object.keys(SUMMARIES.real));
const isChance = (entry: [string, number]): entry is [Manner, number] => MANNERS.has(entry[0]);

function answerAs(manner: Manner, asked: SummaryAsked, random: Random): SummariserAnswer {
  const { expected, cap } = asked;
  const percent = (of: number, least: number, most: number): number => Math.max(1, Math.round((of * random.between(least, most)) / 100));
  switch (manner) {
    case "usual":
      return written(percent(expected, 50, 150), asked);
    case "long":
      return written(percent(cap, 100, 500), asked);
    case "cut_off":
      return { ...written(percent(cap, 25, 150), asked), finish: "length" };
    case "short":
      return written(percent(expected, 1, 10), asked);
    case "formless":
      return written(expected, { ...asked, form: "narrative" });
    case "empty":
      return { ok: true, text: "", finish: "stop", output: 0 };
    case "refused":
      return { ...written(percent(expected, 1, 10), asked), finish: "content_filter" };
    case "timeout":
    case "unavailable":
      return { ok: false, failure: manner };
  }
}

/** Tokens of "## " and of a heading's line. */
const HEADING_TOKENS = 4;

function written(tokens: number, { form, name }: SummaryAsked): Extract<SummariserAnswer, { ok: true }> {
  const text = form === "structured" ? inSections(tokens, name) : filler(tokens, name);
  return { ok: true, text, finish: "stop", output: tokens };
}

const inSections = (tokens: number, name: string): string =>
  Array.from(
    { length: STRUCTURED_SECTIONS },
    (_, index) => `## Part\n${filler(Math.max(1, Math.floor(tokens / STRUCTURED_SECTIONS) - HEADING_TOKENS), `${name} ${index}`)}`,
  ).join("\n");
