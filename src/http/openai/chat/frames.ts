/** The frames of a leg as chunks of a chat completion, which OpenAI's SDKs put together to the completion of `chat-report.ts`. */
import type { StreamFrame } from "../../../contract/frame";
import type { DisplayItem } from "../../../contract/item";
import type { ToolCallView } from "../../../contract/tool";
import { type CallUsage, plusUsage } from "../../../domain/model-call";
import type { Translator } from "../../surface/translate-stream";
import {
  BETWEEN_REPLIES,
  type ChatFinish,
  type CompletionHead,
  listOwnCalls,
  readTexts,
  toChatCall,
  toChatFinish,
  toChatUsage,
} from "./shape";
import { type OpenAiFault, toOpenAiFault } from "./turn-fault";

const DONE = "data: [DONE]\n\n";
const toEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

const toFault = (message: string): Pick<OpenAiFault, "error"> => ({ error: { message, type: "server_error", param: null, code: null } });
/** What a client has of a reply cannot be taken back, so that a reply that begins anew ends the stream. */
const LOST = toFault("The connection to the conversation was lost. Its turn goes on: send the same request again to get the answer.");
const TOO_LARGE = toFault("The tool calls are too large for a stream: ask without stream.");

interface ChunkOptions {
  /** One more chunk tells the usage of the leg, as `stream_options.include_usage` asks. */
  readonly includeUsage: boolean;
}

class ChunkWriter {
  readonly #head: CompletionHead;
  readonly #options: ChunkOptions;
  #begun = false;
  #ended = false;
  /** An earlier reply of this completion has said something. */
  #saidBefore = false;
  /** The present reply has said something. */
  #saidText = false;
  /** Something of the present reply was told. */
  #toldAny = false;
  /** Pieces of the present reply are missing: it is told from its record, when that comes. */
  #isHeld = false;
  #usage: CallUsage | null = null;

  constructor(head: CompletionHead, options: ChunkOptions) {
    this.#head = head;
    this.#options = options;
  }

  frame(frame: StreamFrame): string {
    return this.#ended ? "" : this.#tell(frame);
  }

  end(): string {
    return this.fail(LOST);
  }

  fail({ error }: Pick<OpenAiFault, "error">): string {
    if (this.#ended) return "";
    this.#ended = true;
    return toEvent({ error });
  }

  #tell(frame: StreamFrame): string {
    switch (frame.type) {
      case "text.delta":
        return this.#isHeld ? "" : this.#say(frame.text);
      case "reasoning.delta":
        return this.#isHeld ? "" : this.#think(frame.text);
      case "item.completed":
        return frame.item.role === "assistant" ? this.#complete(frame.item, frame.content_omitted === true) : "";
      case "usage.updated":
        if (frame.source === "turn") this.#usage = plusUsage(this.#usage, frame.usage);
        return "";
      case "turn.awaiting_tools":
        return frame.content_omitted ? this.fail(TOO_LARGE) : this.#wait(listOwnCalls(frame.tool_calls));
      case "turn.completed":
        return this.#finish(toChatFinish(frame.finish));
      case "turn.stopped":
        return this.#finish("stop");
      case "turn.interrupted":
        return this.fail(toOpenAiFault(null));
      case "turn.failed":
        return frame.failure.kind === "refused" ? this.#refuse(frame.failure.detail) : this.fail(toOpenAiFault(frame.failure));
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

  #breakOff(isHeld: boolean): string {
    this.#isHeld = isHeld;
    return this.#toldAny ? this.fail(LOST) : "";
  }

  #say(text: string): string {
    if (text === "") return "";
    const between = this.#saidBefore && !this.#saidText ? BETWEEN_REPLIES : "";
    this.#saidText = true;
    return this.#delta({ content: between + text });
  }

  #think(text: string): string {
    return text === "" ? "" : this.#delta({ reasoning_content: text });
  }

  /** A reply whose pieces were not kept is told from its record. */
  #complete(item: DisplayItem, isOmitted: boolean): string {
    const isTold = this.#toldAny;
    if (!isTold && isOmitted) return this.fail(LOST);
    const told = isTold ? "" : this.#think(readTexts(item, "reasoning")) + this.#say(readTexts(item, "text"));
    this.#saidBefore = this.#saidBefore || this.#saidText;
    this.#saidText = false;
    this.#toldAny = false;
    this.#isHeld = false;
    return told;
  }

  #wait(calls: readonly ToolCallView[]): string {
    const told = calls.map((call, index) => {
      const { function: called, ...rest } = toChatCall(call);
      const begun = this.#delta({ tool_calls: [{ index, ...rest, function: { name: called.name, arguments: "" } }] });
      return begun + this.#delta({ tool_calls: [{ index, function: { arguments: called.arguments } }] });
    });
    return told.join("") + this.#finish(calls.length > 0 ? "tool_calls" : "stop");
  }

  #refuse(detail: string): string {
    return this.#delta({ refusal: detail }) + this.#finish("content_filter");
  }

  #delta(part: object): string {
    this.#toldAny = true;
    const begun = this.#start();
    return begun + this.#chunk([{ index: 0, delta: part, logprobs: null, finish_reason: null }]);
  }

  #start(): string {
    if (this.#begun) return "";
    this.#begun = true;
    const delta = { role: "assistant", content: "", refusal: null };
    return this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  #chunk(choices: readonly object[], usage: object | null = null): string {
    return toEvent({ ...this.#head, object: "chat.completion.chunk", choices, ...(this.#options.includeUsage && { usage }) });
  }

  #finish(finish: ChatFinish): string {
    const begun = this.#start();
    this.#ended = true;
    const last = this.#chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: finish }]);
    return begun + last + (this.#options.includeUsage ? this.#chunk([], toChatUsage(this.#usage)) : "") + DONE;
  }
}

export function createChatTranslator(head: CompletionHead, options: ChunkOptions): Translator {
  const writer = new ChunkWriter(head, options);
  return { frame: (frame) => writer.frame(frame), end: () => writer.end(), broken: () => writer.fail(LOST) };
}
