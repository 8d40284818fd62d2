/**
 * Codex (openai/codex, `codex-rs/core/src/compact.rs`): once the last response's tokens reach 90 % of the window, the
 * conversation is sent again with a prompt for a handoff summary. The user's own messages remain, the newest up to
 * 20,000 tokens by characters over 4, with the summary as a user message. Every reply and every result is removed.
 * Messages that do not fit into the summary's request are left out, oldest first.
 */
import { messageText } from "../../../src/evaluate/segments";
import { type Ask, isUser, type Moment, madeUp, nextTokens, roughTokens, type System, type SystemMessage, scaled } from "./system.ts";

const TRIGGER = 0.9;
const USER_TOKENS = 20_000;

function decide(moment: Moment): Ask | null {
  const { messages, window, maxOutput } = moment;
  if (nextTokens(moment) < TRIGGER * window) return null;
  const kept = newestOfUser(messages, scaled(USER_TOKENS, window));
  const becomes = (summary: string): SystemMessage[] => [
    ...kept,
    madeUp("user", `Another model worked on this and left a summary:\n${summary}`),
  ];
  return { kind: "summarise", reads: messages, form: "same_prefix", cap: maxOutput, trims: true, most: null, becomes };
}

/** The message that would exceed the budget is cut. */
export function newestOfUser(messages: readonly SystemMessage[], budget: number): SystemMessage[] {
  const kept: SystemMessage[] = [];
  let left = budget;
  for (const message of messages.filter(isUser).toReversed()) {
    if (left <= 0) break;
    const tokens = roughTokens(message);
    kept.unshift(tokens <= left ? message : madeUp("user", messageText(message.parts).slice(0, left * 4)));
    left -= tokens;
  }
  return kept;
}

export const codex: System = {
  name: "codex",
  source: "openai/codex, core: automatic compaction",
  recovers: false,
  decide,
};
