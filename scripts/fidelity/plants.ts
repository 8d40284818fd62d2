/** Plants instructions, decisions, identifiers and tasks, and later replaces half of the decisions and tasks. */
import type { FactLanguage } from "./facts.ts";
import { chinese } from "./plants/chinese.ts";
import { english } from "./plants/english.ts";
import { german } from "./plants/german.ts";
import { japanese } from "./plants/japanese.ts";
import { PLANTED, type Planted, type Plants } from "./plants/plant.ts";
import { amidTalk } from "./talk.ts";
import { newValue } from "./values.ts";
import type { Kind, Writing } from "./writing.ts";

const PLANTS: Readonly<Record<string, Plants>> = { English: english, German: german, Chinese: chinese, Japanese: japanese };

/** One of each kind is planted once in this many facts of a language. */
const FACTS_A_ROUND = 3;
/** A decision is reversed, or a task closed, after this many further facts. */
const LATER = 6;

const HOLDS: Readonly<Record<Planted, Kind>> = { instruction: "instruction", decision: "decision", identifier: "identifier", task: "open" };
const NO_MORE: Readonly<Partial<Record<Planted, Kind>>> = { decision: "reversed", task: "closed" };

/** After the fact `index` of the language: one kind, or two kinds at every third place. */
export function addPlants(writing: Writing, language: FactLanguage, index: number): void {
  const round = Math.floor(index / FACTS_A_ROUND);
  for (const [place, planted] of PLANTED.entries()) {
    if (place % FACTS_A_ROUND === index % FACTS_A_ROUND) addPlant(writing, language, { planted, round, index });
  }
}

interface Place {
  readonly planted: Planted;
  readonly round: number;
  readonly index: number;
}

function addPlant(writing: Writing, language: FactLanguage, { planted, round, index }: Place): void {
  const n = language.places[round % language.places.length] ?? "";
  const plants = PLANTS[language.name]?.[planted] ?? [];
  const plant = plants[(round + Math.floor(round / language.places.length)) % plants.length];
  if (!plant) return;
  const fill = (text: string, value: string): string => text.replaceAll("{n}", n).replaceAll("{v}", value);
  const value = newValue(writing, plant.form ?? "number");
  say(writing, language, fill(plant.says, value));
  const question = { language: language.name, text: fill(plant.asked, value), meter: null };
  const changed = NO_MORE[planted];
  if (!changed || plant.later === undefined || round % 2 === 0) {
    writing.questions.push({ ...question, kind: HOLDS[planted], value, outdated: null });
    return;
  }
  const newest = newValue(writing, "number");
  writing.pending.push({ at: index + LATER, language, text: fill(plant.later, newest) });
  writing.questions.push({ ...question, kind: changed, value: newest, outdated: value });
}

/** The texts that are due at this point. */
export function addDue(writing: Writing, index: number): void {
  const due = writing.pending.filter(({ at }) => at <= index);
  writing.pending.splice(0, writing.pending.length, ...writing.pending.filter(({ at }) => at > index));
  for (const { language, text } of due) say(writing, language, text);
}

function say(writing: Writing, language: FactLanguage, text: string): void {
  writing.steps.push({ type: "say", text: amidTalk(writing.random, language, text) });
}
