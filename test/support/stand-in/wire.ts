/** The OpenAI chat-completions wire format, as far as the stand-in speaks it, and what a test may answer with. */

export interface WireToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
}

export interface WireMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null | readonly Readonly<Record<string, unknown>>[];
  readonly tool_calls?: readonly WireToolCall[];
  readonly tool_call_id?: string;
}

export interface WireRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

export interface WireError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string | number;
}

export interface ReplyToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A reply given in advance. */
export interface ScriptedReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly ReplyToolCall[];
  /** Default: `tool_calls` when there are any, else `stop`. */
  readonly finish?: string;
  /** With `error`: the HTTP status of the refusal; without it the error comes inside the stream, after the text. */
  readonly status?: number;
  readonly error?: WireError;
  /** With `status` and `error`: headers of the refusal, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream of just this, which need not be one. */
  readonly raw?: string;
  /** Takes the request and never answers. */
  readonly hang?: boolean;
  /** Answered as one JSON document, though a stream was asked for. */
  readonly whole?: boolean;
  /** What is reported in place of what was counted. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
  /** How many deltas the text is split into; default: one for every few words. */
  readonly chunks?: number;
  /** The connection is torn down after this many deltas. */
  readonly cutAfterChunks?: number;
}

/** A reply, or the deltas of one: the test decides when the next goes out. */
export type Reply = ScriptedReply | AsyncIterable<string>;

export const isDeltas = (reply: Reply): reply is AsyncIterable<string> => Symbol.asyncIterator in reply;

/** Text of a message's content, whatever its shape. */
export function contentText(content: WireMessage["content"]): string {
  if (content === null) return "";
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : JSON.stringify(part))).join("\n");
}
