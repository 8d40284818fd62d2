/**
 * Other systems' rules for the same conversations. Each is a pure function from what it sees before a call to what it does:
 * written from what its project publishes, with its own constants, its own way of counting, and its own gaps.
 */
import type { ViewMessage } from "../../../src/context/view";
import { messageText } from "../../../src/evaluate/segments";

/** A message of a request. */
export interface SystemMessage extends ViewMessage {
  /** Positions of the recorded items that it shows; none: the system wrote it. */
  readonly positions: readonly number[];
  /** Characters that it shows of its tool's result; null: all. */
  readonly shows: number | null;
}

/** What a system sees before a model call. */
export interface Moment {
  /** The request as it stands, without the system prompt: what the last change left, and what was said since. */
  readonly messages: readonly SystemMessage[];
  /** Everything that was said. */
  readonly all: readonly SystemMessage[];
  readonly window: number;
  readonly maxOutput: number;
  /** So many calls came before. */
  readonly call: number;
  /** The first call of a turn. */
  readonly isFirst: boolean;
  /** The provider has just refused this request as too long. */
  readonly refused: boolean;
  /** Tokens of the last request and its reply as reported, and how many of `messages` that were; null: not since the last change. */
  readonly reported: { readonly tokens: number; readonly messages: number } | null;
  /** True tokens of the whole request: for what runs at the provider. */
  readonly exact: number;
  /** Characters of the system prompt. */
  readonly head: number;
}

export interface Ask {
  readonly kind: "summarise";
  /** What the summary is of, an earlier summary included. */
  readonly reads: readonly SystemMessage[];
  /**
   * How it is asked for: `same_prefix`, as the turn's own request up to there with one instruction more; `messages`, the messages under another
   * system prompt, so that nothing is cached; `transcript`, as one text in which a long result shows both its ends.
   */
  readonly form: "same_prefix" | "messages" | "transcript";
  /** Most tokens of the summary. */
  readonly cap: number;
  /** What does not fit into the summariser's window is left out, oldest first. Else the summary fails, and nothing changes. */
  readonly trims: boolean;
  /** Most tokens that are read, the newest; null: all. */
  readonly most: number | null;
  readonly becomes: (summary: string) => readonly SystemMessage[];
}

export interface Show {
  readonly kind: "show";
  readonly messages: readonly SystemMessage[];
  /** A change that is made once. False: the rule is applied anew to each request. */
  readonly isEpoch: boolean;
}

export interface System {
  readonly name: string;
  /** Where the rule is published. */
  readonly source: string;
  /** Makes room and asks once more after the provider refused a request. */
  readonly recovers: boolean;
  /** Null: nothing changes. */
  readonly decide: (moment: Moment) => Ask | Show | null;
}

/** Constants in tokens were chosen for windows of about this size. */
const USUAL_WINDOW = 200_000;

/** A constant in tokens for a smaller window: the same share of it. */
export const scaled = (tokens: number, window: number): number => Math.floor(tokens * Math.min(1, window / USUAL_WINDOW));

const CHARS_PER_TOKEN = 4;

/** The estimate that nearly everybody uses. */
export const roughTokens = ({ parts }: ViewMessage): number => Math.ceil(messageText(parts).length / CHARS_PER_TOKEN);

export const sumBy = <T>(values: readonly T[], weigh: (value: T) => number): number => values.reduce((sum, value) => sum + weigh(value), 0);

/** What was reported, and an estimate of what came since; without a report the estimate of all. */
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

/** A result of which `text` is shown, and of that so many characters of its own. */
export const reduceResult = (message: SystemMessage, text: string, shows: number): SystemMessage => ({
  ...message,
  parts: message.parts.map((part) => (part.type === "tool_result" ? { ...part, output: text } : part)),
  shows,
});

/** As chat interfaces keep them: a message of the user, or all that the assistant did and said until the next. */
export function exchanges(messages: readonly SystemMessage[]): SystemMessage[][] {
  const found: SystemMessage[][] = [];
  for (const message of messages) {
    const last = found.at(-1);
    if (last && last[0]?.role !== "user" && message.role !== "user") last.push(message);
    else found.push([message]);
  }
  return found;
}
