/**
 * LangChain's `SummarizationMiddleware` (reference documentation): before each model call, once the messages fill a
 * share of the window by its approximate count (characters over 4, and 3 for each message). Deep Agents sets 0.85; the
 * middleware itself has no default. It keeps the newest 20 messages, moves the cut back by at most 5 to keep a call
 * with its results, and gives the summariser the newest 4,000 tokens of the removed messages.
 */
import { type Ask, hasCalls, isResult, type Moment, madeUp, roughTokens, type System, type SystemMessage, sumBy } from "./system.ts";

const TRIGGER = 0.85;
const KEPT = 20;
const SEARCHED = 5;
const READ_TOKENS = 4_000;
const PER_MESSAGE = 3;

function decide({ messages, window, maxOutput }: Moment): Ask | null {
  if (sumBy(messages, (message) => roughTokens(message) + PER_MESSAGE) < TRIGGER * window) return null;
  const at = safeCut(messages, messages.length - KEPT);
  if (at <= 0) return null;
  const becomes = (summary: string): SystemMessage[] => [
    madeUp("user", `Here is a summary of the conversation to date:\n\n${summary}`),
    ...messages.slice(at),
  ];
  return { kind: "summarise", reads: messages.slice(0, at), form: "messages", cap: maxOutput, trims: true, most: READ_TOKENS, becomes };
}

/** The nearest cut at or before `target` that separates no call from its results, within a few messages. */
export function safeCut(messages: readonly SystemMessage[], target: number): number {
  for (let at = target; at >= Math.max(0, target - SEARCHED); at--) if (!separates(messages, at)) return at;
  return target;
}

/** A result beyond the search's range is not found. */
function separates(messages: readonly SystemMessage[], at: number): boolean {
  const nearby = messages.slice(Math.max(0, at - SEARCHED), at);
  const owes = nearby.findLastIndex(hasCalls);
  const first = messages[at];
  return owes >= 0 && first !== undefined && isResult(first) && nearby.slice(owes + 1).every(isResult);
}

export const langchain: System = {
  name: "langchain",
  source: "LangChain: SummarizationMiddleware",
  recovers: false,
  decide,
};
