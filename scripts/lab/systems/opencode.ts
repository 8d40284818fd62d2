/**
 * opencode (`packages/opencode/src/session/compaction.ts` and its configuration's documentation): when the last response's
 * tokens reach the window less min(20,000, the model's output), an agent of its own, so another system prompt, summarises
 * all but the newest two turns, of which it keeps what fits into a quarter of that (2,000 to 15,000 tokens). Before: once a
 * turn, results older than the newest 40,000 tokens of results are cleared, of the last two turns none, and only if that is
 * more than 20,000 tokens.
 */
import {
  type Ask,
  isResult,
  isUser,
  type Moment,
  madeUp,
  nextTokens,
  reduceResult,
  roughTokens,
  type Show,
  type System,
  type SystemMessage,
  scaled,
  sumBy,
} from "./system.ts";

const BUFFER = 20_000;
const PROTECTED = 40_000;
const LEAST_PRUNED = 20_000;
const TAIL_TURNS = 2;
const TAIL = { share: 0.25, least: 2_000, most: 15_000 };
const CLEARED = "[Old tool result content cleared]";

function decide(moment: Moment): Ask | Show | null {
  const { messages, window, maxOutput, refused, isFirst } = moment;
  const usable = window - Math.min(BUFFER, maxOutput);
  if (!refused && nextTokens(moment) < usable) return isFirst ? prune(messages, window) : null;
  const at = tailStart(messages, Math.min(TAIL.most, Math.max(TAIL.least, usable * TAIL.share)));
  const [reads, tail] = [messages.slice(0, at), messages.slice(at)];
  const becomes = (summary: string): SystemMessage[] => [madeUp("user", "What did we do so far?"), madeUp("assistant", summary), ...tail];
  return { kind: "summarise", reads, form: "messages", cap: maxOutput, trims: false, most: null, becomes };
}

/** The beginning of the newest turns that fit together. */
export function tailStart(messages: readonly SystemMessage[], budget: number): number {
  const starts = messages.flatMap((message, index) => (isUser(message) ? [index] : [])).slice(-TAIL_TURNS);
  return starts.find((start) => sumBy(messages.slice(start), roughTokens) <= budget) ?? messages.length;
}

export function prune(messages: readonly SystemMessage[], window: number): Show | null {
  const recent = messages.flatMap((message, index) => (isUser(message) ? [index] : [])).at(-TAIL_TURNS) ?? 0;
  let seen = 0;
  const old = new Set<SystemMessage>();
  for (const message of messages.slice(0, recent).toReversed()) {
    if (!isResult(message) || message.shows !== null) continue;
    seen += roughTokens(message);
    if (seen > scaled(PROTECTED, window)) old.add(message);
  }
  if (sumBy([...old], roughTokens) <= scaled(LEAST_PRUNED, window)) return null;
  return {
    kind: "show",
    isEpoch: true,
    messages: messages.map((message) => (old.has(message) ? reduceResult(message, CLEARED, 0) : message)),
  };
}

export const opencode: System = {
  name: "opencode",
  source: "anomalyco/opencode: session compaction and pruning",
  recovers: true,
  decide,
};
