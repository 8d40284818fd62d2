/** A long generated conversation with facts at known places, sentences that resemble them, and tool results between them. */
import type { ItemKind } from "../../src/domain/message.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { ChatLanguage, FactPattern } from "./languages.ts";

export interface Said {
  readonly kind: ItemKind;
  readonly text: string;
}

export interface Question {
  readonly exact: string;
  readonly asked: string;
  /** Index of the message that contains the answer. */
  readonly evidence: number;
}

export interface Planted {
  readonly said: readonly Said[];
  readonly questions: readonly Question[];
}

interface Script {
  readonly said: Said[];
  readonly questions: Question[];
}

interface Asked {
  readonly fact: FactPattern;
  readonly n: string;
  readonly v: string;
}

/** One fact in this many messages of small talk, and a tool result in every third gap. */
const GAP = 24;
const RESULT_LINES = 300;

const fill = (text: string, n: string, v = ""): string => text.replaceAll("{n}", n).replaceAll("{v}", v);

export function plantFacts(language: ChatLanguage, seed: number): Planted {
  const random = createRandom(seed);
  const script: Script = { said: [], questions: [] };
  const facts = language.facts.flatMap((fact, row) =>
    language.people.map((n, column): Asked => ({ fact, n, v: fact.values[(row + column) % fact.values.length] ?? "" })),
  );
  for (const [index, asked] of shuffled(facts, random).entries()) {
    addSmallTalk(script, language, random);
    if (index % 3 === 0) addToolResult(script, random);
    // A question that was asked before the fact was stated. It resembles the later question and contains no answer.
    if (index % 4 === 0) script.said.push({ kind: "user", text: fill(asked.fact.asked, asked.n) });
    addSmallTalk(script, language, random);
    addFact(script, asked);
  }
  for (const [index, n] of language.people.entries()) {
    addSmallTalk(script, language, random);
    addExchange(script, { language, n, index });
  }
  addSmallTalk(script, language, random);
  return script;
}

function addFact({ said, questions }: Script, { fact, n, v }: Asked): void {
  questions.push({ exact: fill(fact.exact, n, v), asked: fill(fact.asked, n), evidence: said.length });
  said.push({ kind: "user", text: fill(fact.says, n, v) });
}

function addExchange(
  { said, questions }: Script,
  { language, n, index }: { readonly language: ChatLanguage; readonly n: string; readonly index: number },
): void {
  const { question, answer, asked, values } = language.exchange;
  const v = values[index % values.length] ?? "";
  said.push({ kind: "user", text: fill(question, n) });
  questions.push({ exact: v, asked: fill(asked, n), evidence: said.length });
  said.push({ kind: "assistant", text: fill(answer, n, v) });
}

function addSmallTalk({ said }: Script, { small, people, joint }: ChatLanguage, random: Random): void {
  const pick = (list: readonly string[]): string => list[random.between(0, list.length - 1)] ?? "";
  for (let message = 0; message < GAP / 2; message++) {
    const text = small.map(pick).join(joint).replace(`${joint}、`, "、");
    said.push({ kind: message % 2 === 0 ? "user" : "assistant", text: fill(text, pick(people)) });
  }
}

function addToolResult({ said }: Script, random: Random): void {
  const lines = Array.from(
    { length: RESULT_LINES },
    (_, row) =>
      `{"row":${row},"sku":"S-${random.between(10_000, 99_999)}","stock":${random.between(0, 500)},"name":"part ${random.between(1, 99)}"}`,
  );
  said.push(
    { kind: "tool_call", text: `{"table":"stock","page":${random.between(1, 90)}}` },
    { kind: "tool_result", text: lines.join("\n") },
  );
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((value) => ({ value, key: random.between(0, 1_000_000) }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}
