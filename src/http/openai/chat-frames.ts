/** The frames of a leg as chunks of a chat completion. */
import type { StreamFrame } from "../../contract/frame";
import type { CallUsage, FinishReason } from "../../domain/model-call";
import type { Translator } from "../surface/translate-stream";

/** What every chunk of a completion repeats. `created`: epoch seconds. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export const toChatFinish = (finish: FinishReason | null): Exclude<FinishReason, "other"> =>
  finish === null || finish === "other" ? "stop" : finish;

export function toChatUsage(usage: CallUsage | null) {
  const { input, output, cached, reasoning } = usage ?? { input: 0, output: 0, cached: 0, reasoning: 0 };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

const DONE = "data: [DONE]\n\n";
const toEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

/** Why a turn ended without a reply, for the client. */
const toError = (message: string, code: string) => toEvent({ error: { message, type: "server_error", param: null, code } });

/** `includeUsage`: one more chunk tells the turn's usage, as `stream_options.include_usage` asks. */
export function createChatTranslator(head: CompletionHead, { includeUsage }: { readonly includeUsage: boolean }): Translator {
  let hasBegun = false;
  let hasEnded = false;
  const chunk = (choices: readonly object[], usage: object | null = null): string =>
    toEvent({ ...head, object: "chat.completion.chunk", choices, ...(includeUsage && { usage }) });
  const delta = (part: object): string => {
    const role = hasBegun ? {} : { role: "assistant" };
    hasBegun = true;
    return chunk([{ index: 0, delta: { ...role, ...part }, finish_reason: null }]);
  };
  const end = (finish: string, usage: CallUsage | null): string => {
    hasEnded = true;
    const last = chunk([{ index: 0, delta: {}, finish_reason: finish }]);
    return last + (includeUsage ? chunk([], toChatUsage(usage)) : "") + DONE;
  };
  const toText = (frame: StreamFrame): string => {
    switch (frame.type) {
      case "text.delta":
        return delta({ content: frame.text });
      case "turn.completed":
        return end(toChatFinish(frame.finish), frame.usage);
      case "turn.failed":
        hasEnded = true;
        return toError(frame.failure.detail, frame.failure.kind);
      case "turn.stopped":
      case "turn.interrupted":
        return end("stop", frame.usage);
      default:
        return "";
    }
  };
  return {
    frame: toText,
    end: () => (hasEnded ? "" : DONE),
    broken: () => toError("The connection to the conversation was lost. Its turn goes on.", "server_error"),
  };
}
