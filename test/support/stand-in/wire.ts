/** The OpenAI chat-completions wire format, as far as the stand-in supports it, and the replies that a test may script. */

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

/** A scripted reply. */
export interface ScriptedReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly ReplyToolCall[];
  /** Default: `tool_calls` if there are any, otherwise `stop`. */
  readonly finish?: string;
  /** With `error`: the HTTP status of the refusal. Without it the error is inside the stream, after the text. */
  readonly status?: number;
  readonly error?: WireError;
  /** With `status` and `error`: headers of the refusal, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream of exactly this text, valid or not. */
  readonly raw?: string;
  /** Accepts the request and never answers. */
  readonly hang?: boolean;
  /** Sent as one JSON document, although a stream was requested. */
  readonly whole?: boolean;
  /** The reported usage in place of the counted one. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
  /** The number of deltas for the text. Default: one for every few words. */
  readonly chunks?: number;
  /** The connection breaks after this many deltas. */
  readonly cutAfterChunks?: number;
}

/** A reply, or the deltas of one, which the test releases one by one. */
export type Reply = ScriptedReply | AsyncIterable<string>;

export const isDeltas = (reply: Reply): reply is AsyncIterable<string> => Symbol.asyncIterator in reply;

/** The text of a message's content, in either form. */
export function contentText(content: WireMessage["content"]): string {
  if (content === null) return "";
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : JSON.stringify(part))).join("\n");
}
