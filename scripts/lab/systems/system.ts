/**
 * Other systems' rules for the same conversations. Each is a pure function from the state before a call to a change. It
 * follows the project's published documentation or source, with its own constants, its own way of counting, and its own
 * gaps.
 */
import type { ViewMessage } from "../../../src/context/view";
import { messageText } from "../../../src/evaluate/segments";

/** A message of a request. */
export interface SystemMessage extends ViewMessage {
  /** Positions of the recorded items that it shows. Empty for a message that the system wrote. */
  readonly positions: readonly number[];
  /** Characters of the tool's result that it shows. Null: all. */
  readonly shows: number | null;
}

/** What a system sees before a model call. */
export interface Moment {
  /** The current request without the system prompt: the messages after the last change, and those added since. */
  readonly messages: readonly SystemMessage[];
  /** The complete conversation. */
  readonly all: readonly SystemMessage[];
  readonly window: number;
  readonly maxOutput: number;
  /** The number of earlier calls. */
  readonly call: number;
  /** Whether it is the first call of a turn. */
  readonly isFirst: boolean;
  /** Whether the provider has just refused this request as too long. */
  readonly refused: boolean;
  /**
   * Reported tokens of the last request and its reply, and the number of `messages` that they cover. Null when there
   * was no report since the last change.
   */
  readonly reported: { readonly tokens: number; readonly messages: number } | null;
  /** True tokens of the whole request, for rules that run at the provider. */
  readonly exact: number;
  /** Characters of the system prompt. */
  readonly head: number;
}

export interface Ask {
  readonly kind: "summarise";
  /** The messages to summarise, including an earlier summary. */
  readonly reads: readonly SystemMessage[];
  /**
   * How the summary is requested. `same_prefix`: the turn's own request up to this point with an added instruction.
   * `messages`: the messages under another system prompt, so that nothing is cached. `transcript`: one text in which a
   * long result shows both its ends.
   */
  readonly form: "same_prefix" | "messages" | "transcript";
  /** Maximum tokens of the summary. */
  readonly cap: number;
  /** True: messages that exceed the summariser's window are left out, oldest first. False: the summary fails, and nothing changes. */
  readonly trims: boolean;
  /** Maximum tokens that are read, newest first. Null: all. */
  readonly most: number | null;
  readonly becomes: (summary: string) => readonly SystemMessage[];
}

export interface Show {
  readonly kind: "show";
  readonly messages: readonly SystemMessage[];
  /** True for a change that is made once. False: the rule is applied anew to each request. */
  readonly isEpoch: boolean;
}

export interface System {
  readonly name: string;
  /** Where the rule is published. */
  readonly source: string;
  /** Whether the system makes room and retries once after the provider refused a request. */
  readonly recovers: boolean;
  /** Null when nothing changes. */
  readonly decide: (moment: Moment) => Ask | Show | null;
}

/** The window for which constants in tokens were chosen. */
const USUAL_WINDOW = 200_000;

/** Scales a constant in tokens to a smaller window, as the same share of it. */
export const scaled = (tokens: number, window: number): number => Math.floor(tokens * Math.min(1, window / USUAL_WINDOW));

const CHARS_PER_TOKEN = 4;

/** The estimate that most systems use. */
export const roughTokens = ({ parts }: ViewMessage): number => Math.ceil(messageText(parts).length / CHARS_PER_TOKEN);

export const sumBy = <T>(values: readonly T[], weigh: (value: T) => number): number => values.reduce((sum, value) => sum + weigh(value), 0);

/** The reported tokens, plus an estimate for later messages. Without a report, an estimate for all. */
export function nextTokens({ messages, reported, head }: Moment): number {
  if (reported) return reported.tokens + sumBy(messages.slice(reported.messages), roughTokens);
  return Math.ceil(head / CHARS_PER_TOKEN) + sumBy(messages, roughTokens);
}

export const madeUp = (role: SystemMessage["role"], text: string): SystemMessage => ({
  role,
  parts: [{ type: "text", text }],
  positions: [],
  shows: null,
});

export const isResult = ({ role }: ViewMessage): boolean => role === "tool";
export const isUser = ({ role, positions }: SystemMessage): boolean => role === "user" && positions.length > 0;
export const hasCalls = ({ parts }: ViewMessage): boolean => parts.some(({ type }) => type === "tool_call");

/** A result of which `text` is shown, with this many characters of its own. */
export const reduceResult = (message: SystemMessage, text: string, shows: number): SystemMessage => ({
  ...message,
  parts: message.parts.map((part) => (part.type === "tool_result" ? { ...part, output: text } : part)),
  shows,
});

/** Messages as chat interfaces count them: a user message, or everything that the assistant did until the next one. */
export function exchanges(messages: readonly SystemMessage[]): SystemMessage[][] {
  const found: SystemMessage[][] = [];
  for (const message of messages) {
    const last = found.at(-1);
    if (last && last[0]?.role !== "user" && message.role !== "user") last.push(message);
    else found.push([message]);
  }
  return found;
}
