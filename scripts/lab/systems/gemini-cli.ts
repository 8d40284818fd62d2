/**
 * Gemini CLI (google-gemini/gemini-cli, `chatCompressionService.ts`): before a request, once the last prompt fills half
 * of the window. The first 70 % of the history by characters, up to the next user message, is replaced by a state
 * snapshot, which is requested under another system prompt and followed by a fixed reply. Without such a message, the
 * complete history is replaced if the model spoke last, otherwise the part before the last message. A result that would
 * be longer is discarded.
 */
import { messageText } from "../../../src/evaluate/segments";
import { type Ask, hasCalls, isUser, type Moment, madeUp, nextTokens, type System, type SystemMessage, sumBy } from "./system.ts";

const TRIGGER = 0.5;
const PRESERVED = 0.3;

function decide(moment: Moment): Ask | null {
  const { messages, window, maxOutput } = moment;
  if (nextTokens(moment) < TRIGGER * window) return null;
  const at = splitPoint(messages);
  if (at === 0) return null;
  const becomes = (summary: string): SystemMessage[] => [
    madeUp("user", `<state_snapshot>\n${summary}\n</state_snapshot>`),
    madeUp("assistant", "Understood. Thank you for the context."),
    ...messages.slice(at),
  ];
  return { kind: "summarise", reads: messages.slice(0, at), form: "messages", cap: maxOutput, trims: false, most: null, becomes };
}

const measureLength = ({ parts }: SystemMessage): number => messageText(parts).length;

/** The number of first messages that are removed. */
export function splitPoint(messages: readonly SystemMessage[]): number {
  const target = sumBy(messages, measureLength) * (1 - PRESERVED);
  let seen = 0;
  let last = 0;
  for (const [index, message] of messages.entries()) {
    if (isUser(message)) {
      if (seen >= target) return index;
      last = index;
    }
    seen += measureLength(message);
  }
  const newest = messages.at(-1);
  return newest?.role === "assistant" && !hasCalls(newest) ? messages.length : last;
}

export const geminiCli: System = {
  name: "gemini-cli",
  source: "google-gemini/gemini-cli, core: chat compression",
  recovers: false,
  decide,
};
