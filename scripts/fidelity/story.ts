/** A long conversation in four languages: facts at known places, others that sound like them, and results of tools, all from one seed. */
import type { ToolDefinition } from "../../src/domain/message.ts";
import { CHAT_LANGUAGES } from "../recall/languages.ts";
import { createRandom, type Random } from "../support/random.ts";
import { type FactLanguage, factLanguages } from "./facts.ts";

export type Step =
  /** The user says something, and the model replies. */
  | { readonly type: "say"; readonly text: string }
  /** A reply of the assistant's from elsewhere. */
  | { readonly type: "reply"; readonly text: string }
  /** The user has the meter read: by the session's own tool, or somewhere else, whose call and result are imported. */
  | { readonly type: "read"; readonly meter: string; readonly imported: boolean };

/** `exact` and `asked` for a fact; of a result `by_words` of its call, or `by_execution`. */
export const KINDS = ["exact", "asked", "by_words", "by_execution"] as const;
export type Kind = (typeof KINDS)[number];

export interface Question {
  readonly language: string;
  readonly kind: Kind;
  /** `{x}` stands for the execution that read `meter`. */
  readonly text: string;
  readonly meter: string | null;
  /** What the reply must hold, and nothing else does. */
  readonly value: string;
}

export interface Story {
  readonly steps: readonly Step[];
  readonly questions: readonly Question[];
  /** What each meter says. */
  readonly results: ReadonlyMap<string, string>;
}

export interface StorySize {
  readonly seed: number;
  /** Facts of each language, at most 40. */
  readonly facts: number;
  /** Exchanges about nothing between two facts. */
  readonly gap: number;
}

export const METER: ToolDefinition = {
  name: "read_meter",
  description: "Reads a meter",
  parameters: { type: "object", properties: { meter: { type: "string" } }, required: ["meter"], additionalProperties: false },
  runs: { by: "http", tool: "read_meter" },
};

/** One result of a tool for so many facts. */
const FACTS_A_RESULT = 4;
/** At most what three pages of a look-up hold in a window of 4,000 tokens. */
const LINES = { least: 12, most: 80 };

interface Writing {
  readonly random: Random;
  readonly steps: Step[];
  readonly questions: Question[];
  readonly results: Map<string, string>;
  readonly values: Set<string>;
}

export function writeStory({ seed, facts, gap }: StorySize): Story {
  const writing: Writing = { random: createRandom(seed), steps: [], questions: [], results: new Map(), values: new Set() };
  // One place and one language after the other, so that neighbours have little in common.
  for (let index = 0; index < facts; index++) {
    for (const language of factLanguages) {
      addFact(writing, language, index);
      for (let exchange = 0; exchange < gap; exchange++) writing.steps.push({ type: "say", text: smallTalk(writing, language) });
      if (index % FACTS_A_RESULT === FACTS_A_RESULT - 1) addResult(writing, language);
    }
  }
  const { steps, questions, results } = writing;
  return { steps, questions, results };
}

function addFact(writing: Writing, language: FactLanguage, index: number): void {
  const { random, steps, questions } = writing;
  const n = language.places[index % language.places.length] ?? "";
  const fact = language.facts[(index + Math.floor(index / language.places.length)) % language.facts.length];
  if (!fact) return;
  const value = newValue(writing);
  const fill = (text: string, v: string): string => text.replaceAll("{n}", n).replaceAll("{v}", v);
  const say = (text: string): string => [smallTalk(writing, language), text, smallTalk(writing, language)].join("\n");
  const distract = (): number => steps.push({ type: "say", text: say(fill(fact.distracts, newValue(writing))) });
  if (index % 3 === 0) distract();
  steps.push({ type: random.between(1, 3) === 1 ? "reply" : "say", text: say(fill(fact.says, value)) });
  if (index % 3 === 1) distract();
  for (const kind of ["exact", "asked"] as const)
    questions.push({ language: language.name, kind, text: fill(fact[kind], value), meter: null, value });
}

function addResult(writing: Writing, language: FactLanguage): void {
  const { random, steps, questions, results } = writing;
  const meter = `M-${101 + results.size * 7}`;
  const value = newValue(writing);
  const lines = Array.from(
    { length: random.between(LINES.least, LINES.most) },
    (_, at) => `${at}: ${random.between(2_100, 2_399) / 10} V, ok`,
  );
  lines.splice(random.between(1, lines.length - 1), 0, language.result.line.replace("{v}", value));
  results.set(meter, lines.join("\n"));
  steps.push({ type: "read", meter, imported: results.size % 2 === 0 });
  const { byWords, byExecution } = language.result;
  questions.push({ language: language.name, kind: "by_words", text: byWords.replace("{m}", meter), meter, value });
  questions.push({ language: language.name, kind: "by_execution", text: byExecution, meter, value });
}

function smallTalk({ random }: Writing, { name }: FactLanguage): string {
  const language = CHAT_LANGUAGES.find((each) => each.name === name);
  if (!language) throw new Error(`nobody chats in ${name}`);
  const pick = (list: readonly string[]): string => list[random.between(0, list.length - 1)] ?? "";
  const text = language.small.map(pick).join(language.joint).replace(`${language.joint}、`, "、");
  return text.replaceAll("{n}", pick(language.people));
}

/** Two letters and five digits that were not given before. */
function newValue({ random, values }: Writing): string {
  const letter = (): string => String.fromCharCode(65 + random.between(0, 25));
  for (;;) {
    const value = `${letter()}${letter()}-${random.between(10_000, 99_999)}`;
    if (values.has(value)) continue;
    values.add(value);
    return value;
  }
}
