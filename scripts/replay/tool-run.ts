/**
 * Generates a coding run for the replay: many turns of a few rounds of tools, some with many large results at once. A background summary that
 * was asked for as a turn ended takes effect in the middle of the next one, where what has come since may still not fit.
 */
import { typescript } from "../estimates/code.ts";
import { toolOutput } from "../estimates/data.ts";
import { NOUNS, pick, snake, times, VERBS } from "../estimates/material.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { Conversation, RecordedMessage } from "./recording.ts";

const TURNS = 50;
const ROUNDS = 6;

function writeResult(random: Random): string {
  const kind = random.between(1, 10);
  if (kind <= 4) return toolOutput(random);
  if (kind <= 9) return typescript(random);
  return times(random.between(2, 4), () => typescript(random)).join("\n");
}

/** One round in three has several calls at once. */
function writeRound(random: Random, id: string): RecordedMessage[] {
  const count = random.between(1, 3) === 1 ? random.between(2, 6) : 1;
  const content = random.between(1, 3) === 1 ? `I ${pick(random, VERBS)} the ${pick(random, NOUNS)} now.` : null;
  const tool_calls = times(count, (nth) => {
    const path = `src/${snake(random)}/${snake(random)}.ts`;
    return { id: `${id}_${nth}`, name: pick(random, ["read_file", "run_tests", "search"]), arguments: JSON.stringify({ path }) };
  });
  const results = tool_calls.map((call): RecordedMessage => ({ role: "tool", content: writeResult(random), tool_call_id: call.id }));
  return [{ role: "assistant", content, tool_calls }, ...results];
}

const writeTurn = (random: Random, turn: number): RecordedMessage[] => [
  { role: "user", content: `Task ${turn}: ${pick(random, VERBS)} every ${pick(random, NOUNS)} that no ${pick(random, NOUNS)} names.` },
  ...times(ROUNDS, (round) => writeRound(random, `call_${turn}_${round}`)).flat(),
  { role: "assistant", content: `Task ${turn} is done: all tests pass.` },
];

/** The same seed always gives the same run. */
export function generateToolRun(seed: number): Conversation {
  const random = createRandom(seed);
  const system = "You are a careful programmer. Use the tools, one call at a time.";
  return { id: `tool-run-${seed}`, system, messages: times(TURNS, (index) => writeTurn(random, index + 1)).flat() };
}
