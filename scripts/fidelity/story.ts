/**
 * A long conversation in four languages: facts at known places, sentences that resemble them, tool results, and texts
 * that hold until they are replaced. The seed determines all of it.
 */
import type { ToolDefinition } from "../../src/domain/message.ts";
import { createRandom } from "../support/random.ts";
import { type FactLanguage, factLanguages } from "./facts.ts";
import { addDue, addPlants } from "./plants.ts";
import { amidTalk, smallTalk } from "./talk.ts";
import { newValue } from "./values.ts";
import type { Question, Step, Writing } from "./writing.ts";

export interface Story {
  readonly steps: readonly Step[];
  readonly questions: readonly Question[];
  /** The value of each meter. */
  readonly results: ReadonlyMap<string, string>;
}

export interface StorySize {
  readonly seed: number;
  /** Facts of each language, at most 40. */
  readonly facts: number;
  /** Exchanges of small talk between two facts. */
  readonly gap: number;
}

export const METER: ToolDefinition = {
  name: "read_meter",
  description: "Reads a meter",
  parameters: { type: "object", properties: { meter: { type: "string" } }, required: ["meter"], additionalProperties: false },
  runs: { by: "http", tool: "read_meter" },
};

/** One tool result in this many facts. */
const FACTS_A_RESULT = 4;
/** A result fits into three pages of a look-up in a window of 4,000 tokens. */
const LINES = { least: 12, most: 80 };

export function writeStory({ seed, facts, gap }: StorySize): Story {
  const writing: Writing = { random: createRandom(seed), steps: [], questions: [], results: new Map(), values: new Set(), pending: [] };
  // Visits places and languages in turn, so that neighbouring facts have little in common.
  for (let index = 0; index < facts; index++) {
    for (const language of factLanguages) {
      addFact(writing, language, index);
      for (let exchange = 0; exchange < gap; exchange++) writing.steps.push({ type: "say", text: smallTalk(writing.random, language) });
      if (index % FACTS_A_RESULT === FACTS_A_RESULT - 1) addResult(writing, language);
      addPlants(writing, language, index);
    }
    addDue(writing, index);
  }
  addDue(writing, Number.POSITIVE_INFINITY);
  const { steps, questions, results } = writing;
  return { steps, questions, results };
}

function addFact(writing: Writing, language: FactLanguage, index: number): void {
  const { random, steps, questions } = writing;
  const n = language.places[index % language.places.length] ?? "";
  const fact = language.facts[(index + Math.floor(index / language.places.length)) % language.facts.length];
  if (!fact) return;
  const value = newValue(writing, "number");
  const fill = (text: string, v: string): string => text.replaceAll("{n}", n).replaceAll("{v}", v);
  const say = (text: string): string => amidTalk(random, language, text);
  const distract = (): number => steps.push({ type: "say", text: say(fill(fact.distracts, newValue(writing, "number"))) });
  if (index % 3 === 0) distract();
  steps.push({ type: random.between(1, 3) === 1 ? "reply" : "say", text: say(fill(fact.says, value)) });
  if (index % 3 === 1) distract();
  for (const kind of ["exact", "asked"] as const)
    questions.push({ language: language.name, kind, text: fill(fact[kind], value), meter: null, value, outdated: null });
}

function addResult(writing: Writing, language: FactLanguage): void {
  const { random, steps, questions, results } = writing;
  const meter = `M-${101 + results.size * 7}`;
  const value = newValue(writing, "number");
  const lines = Array.from(
    { length: random.between(LINES.least, LINES.most) },
    (_, at) => `${at}: ${random.between(2_100, 2_399) / 10} V, ok`,
  );
  lines.splice(random.between(1, lines.length - 1), 0, language.result.line.replace("{v}", value));
  results.set(meter, lines.join("\n"));
  steps.push({ type: "read", meter, imported: results.size % 2 === 0 });
  const { byWords, byExecution } = language.result;
  const of = { language: language.name, meter, value, outdated: null };
  questions.push({ ...of, kind: "by_words", text: byWords.replace("{m}", meter) });
  questions.push({ ...of, kind: "by_execution", text: byExecution });
}
