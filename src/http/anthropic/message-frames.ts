/** The frames of a leg as the events of a streamed message, which Anthropic's SDK puts together to the message of `message-report`. */
import type { StreamFrame } from "../../contract/frame";
import type { DisplayItem } from "../../contract/item";
import type { ToolCallView } from "../../contract/tool";
import { type CallUsage, plusUsage } from "../../domain/model-call";
import type { Translator } from "../surface/translate-stream";
import {
  type Ending,
  listOwn,
  type MessageHead,
  shapeMessage,
  toFinished,
  toInputJson,
  toRefused,
  toTextBlock,
  toThinkingBlock,
  toToolUseBlock,
  toUsage,
  toWaiting,
} from "./message-shape";
import { type TurnFault, toErrorBody, toTurnFault } from "./turn-fault";

/** `data` without its type, which is the event's name too. */
const toEvent = (type: string, data: object = {}): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

type Kind = "text" | "thinking";

/** What clients have of a reply cannot be taken back, so that a reply that begins anew ends the stream. */
const LOST: TurnFault = {
  status: 500,
  type: "api_error",
  message: "The connection to the conversation was lost. Its turn goes on: the conversation will have the answer.",
};
const TOO_LARGE: TurnFault = { status: 500, type: "api_error", message: "The calls are too large for a stream: ask without stream." };

class MessageWriter {
  readonly #head: MessageHead;
  readonly #requestId: string;
  #begun = false;
  #ended = false;
  #index = 0;
  #open: Kind | null = null;
  /** Something of the present reply has been told. */
  #saidAny = false;
  /** Pieces of the present reply are missing: it is told from its record, when that comes. */
  #isHeld = false;
  #usage: CallUsage | null = null;

  constructor(head: MessageHead, requestId: string) {
    this.#head = head;
    this.#requestId = requestId;
  }

  frame(frame: StreamFrame): string {
    if (this.#ended) return "";
    return this.#start() + this.#tell(frame);
  }

  end(): string {
    return this.#ended ? "" : this.fail(LOST);
  }

  fail({ type, message }: TurnFault): string {
    if (this.#ended) return "";
    this.#ended = true;
    return toEvent("error", toErrorBody({ type, message }, this.#requestId));
  }

  #tell(frame: StreamFrame): string {
    switch (frame.type) {
      case "text.delta":
        return this.#hear("text", frame.text);
      case "reasoning.delta":
        return this.#hear("thinking", frame.text);
      case "item.completed":
        return frame.item.role === "assistant" ? this.#complete(frame.item, frame.content_omitted === true) : "";
      case "usage.updated":
        if (frame.source === "turn") this.#usage = plusUsage(this.#usage, frame.usage);
        return "";
      case "turn.awaiting_tools":
        return frame.content_omitted ? this.fail(TOO_LARGE) : this.#wait(frame.tool_calls);
      case "turn.completed":
        return this.#finish(toFinished(frame.finish));
      case "turn.stopped":
        return this.#finish(toFinished(null));
      case "turn.interrupted":
        return this.fail(toTurnFault(null));
      case "turn.failed":
        return frame.failure.kind === "refused" ? this.#finish(toRefused(frame.failure.detail)) : this.fail(toTurnFault(frame.failure));
      case "stream.gap":
        return this.#breakOff(true);
      case "turn.resumed":
      case "stream.rewind":
        return this.#breakOff(false);
      case "stream.halted":
      case "session.erased":
        return this.fail(LOST);
      default:
        return "";
    }
  }

  #start(): string {
    if (this.#begun) return "";
    this.#begun = true;
    const message = shapeMessage(this.#head, { content: [], usage: null, ending: null });
    return toEvent("message_start", { message }) + toEvent("ping");
  }

  #breakOff(isHeld: boolean): string {
    this.#isHeld = isHeld;
    return this.#saidAny ? this.fail(LOST) : "";
  }

  #hear(kind: Kind, text: string): string {
    return this.#isHeld ? "" : this.#say(kind, text);
  }

  #say(kind: Kind, text: string): string {
    this.#saidAny = true;
    if (text === "" || (kind === "thinking" && this.#head.omitsThinking)) return "";
    const opened = this.#open === kind ? "" : this.#close() + this.#openBlock(kind);
    const delta = kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    return opened + this.#delta(delta);
  }

  #openBlock(kind: Kind): string {
    this.#open = kind;
    return this.#begin(kind === "text" ? toTextBlock("") : toThinkingBlock(""));
  }

  #begin(content_block: object): string {
    return toEvent("content_block_start", { index: this.#index, content_block });
  }

  #delta(delta: object): string {
    return toEvent("content_block_delta", { index: this.#index, delta });
  }

  #close(): string {
    if (this.#open === null) return "";
    this.#open = null;
    return toEvent("content_block_stop", { index: this.#index++ });
  }

  /** A reply whose pieces were not kept is told from its record. */
  #complete({ content }: DisplayItem, isOmitted: boolean): string {
    const isTold = this.#saidAny;
    if (!isTold && isOmitted) return this.fail(LOST);
    const told = isTold ? "" : content.map((part) => this.#part(part)).join("");
    this.#saidAny = false;
    this.#isHeld = false;
    return told + this.#close();
  }

  #part(part: DisplayItem["content"][number]): string {
    if (part.type === "text") return this.#say("text", part.text);
    return part.type === "reasoning" ? this.#say("thinking", part.text) : "";
  }

  #wait(calls: readonly ToolCallView[]): string {
    const closed = this.#close();
    const told = listOwn(calls).map((call) => {
      const begun = this.#begin({ ...toToolUseBlock(call), input: {} });
      const given = this.#delta({ type: "input_json_delta", partial_json: toInputJson(call.arguments) });
      return begun + given + toEvent("content_block_stop", { index: this.#index++ });
    });
    return closed + told.join("") + this.#finish(toWaiting(calls));
  }

  #finish(delta: Ending): string {
    const closed = this.#close();
    this.#ended = true;
    return closed + toEvent("message_delta", { delta, usage: toUsage(this.#usage) }) + toEvent("message_stop");
  }
}

export function createMessageTranslator(head: MessageHead, requestId: string): Translator {
  const writer = new MessageWriter(head, requestId);
  return { frame: (frame) => writer.frame(frame), end: () => writer.end(), broken: () => writer.fail(LOST) };
}
