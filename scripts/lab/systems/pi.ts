/**
 * pi (`packages/coding-agent/docs/compaction.md`): before a turn, when the context is above the window less 16,384 tokens, and
 * after a refusal. From the newest message back it keeps 20,000 tokens by characters over 4 and cuts at a message of the
 * user or the assistant, never at a result. What is older becomes a structured summary, asked for with a transcript in
 * which a result shows 2,000 characters; the earlier summary is read again and brought up to date.
 */
import { type Ask, isResult, type Moment, madeUp, nextTokens, roughTokens, type System, type SystemMessage, scaled } from "./system.ts";

const RESERVED = 16_384;
const KEPT = 20_000;

function decide(moment: Moment): Ask | null {
  const { messages, window, maxOutput, isFirst, refused } = moment;
  const isOver = nextTokens(moment) > window - scaled(RESERVED, window);
  if (!refused && !(isFirst && isOver)) return null;
  const at = cutPoint(messages, scaled(KEPT, window));
  if (at === 0) return null;
  const becomes = (summary: string): SystemMessage[] => [
    madeUp("user", `The conversation before this point was compacted into this summary:\n<summary>\n${summary}\n</summary>`),
    ...messages.slice(at),
  ];
  return { kind: "summarise", reads: messages.slice(0, at), form: "transcript", cap: maxOutput, trims: false, most: null, becomes };
}

/**
 * The number of first messages that are removed: the first message that may begin the kept part, at or after the place
 * where `budget` is reached.
 */
export function cutPoint(messages: readonly SystemMessage[], budget: number): number {
  let tokens = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message) tokens += roughTokens(message);
    if (tokens < budget) continue;
    const at = messages.findIndex((candidate, position) => position >= index && !isResult(candidate) && candidate.positions.length > 0);
    return at < 0 ? 0 : at;
  }
  return 0;
}

export const pi: System = {
  name: "pi",
  source: "pi coding agent: compaction documentation",
  recovers: true,
  decide,
};
