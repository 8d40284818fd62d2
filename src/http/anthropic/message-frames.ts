/** A leg as the events of a streamed message, which Anthropic's SDK puts together to the message of `message-report`. */
import type { TurnFailureView } from "../../contract/model-call";
import type { ToolCallView } from "../../contract/tool";
import type { CallUsage } from "../../domain/model-call";
import type { AppliedEdits } from "../surface/applied-edits";
import type { LegEnding } from "../surface/leg";
import type { LegTeller, SpokenKind } from "../surface/tell-leg";
import {
  BETA_MEMBERS,
  listOwn,
  type MessageHead,
  shapeMessage,
  toEnding,
  toInputJson,
  toTextBlock,
  toThinkingBlock,
  toToolUseBlock,
  toUsage,
} from "./message-shape";
import { type TurnFault, toErrorBody, toTurnFault } from "./turn-fault";

/** `data` without its type, which is the event's name too. */
const toEvent = (type: string, data: object = {}): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

interface Told {
  readonly head: MessageHead;
  readonly requestId: string;
  /** What is true of a message whose rest cannot be told. */
  readonly lost: string;
}

export class MessageTeller implements LegTeller {
  readonly #told: Told;
  #begun = false;
  #index = 0;
  #open: SpokenKind | null = null;

  constructor(told: Told) {
    this.#told = told;
  }

  say(kind: SpokenKind, text: string): string {
    const begun = this.#start();
    if (kind === "reasoning" && this.#told.head.omitsThinking) return begun;
    const opened = this.#open === kind ? "" : this.endReply() + this.#openBlock(kind);
    const delta = kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    return begun + opened + this.#delta(delta);
  }

  /** A block never holds the words of two replies. */
  endReply(): string {
    const begun = this.#start();
    if (this.#open === null) return begun;
    this.#open = null;
    return toEvent("content_block_stop", { index: this.#index++ });
  }

  finish(ending: LegEnding, usage: CallUsage | null, edits: AppliedEdits): string {
    const closed = this.endReply();
    const called = ending.type === "waiting" ? listOwn(ending.calls).map((call) => this.#call(call)) : [];
    const delta = { delta: toEnding(ending), ...BETA_MEMBERS, ...edits, usage: toUsage(usage) };
    const last = toEvent("message_delta", delta) + toEvent("message_stop");
    return closed + called.join("") + last;
  }

  fail(failure: TurnFailureView | null): string {
    return this.#start() + this.#toError(toTurnFault(failure));
  }

  lose(): string {
    return this.#start() + this.#toError({ type: "api_error", message: this.#told.lost });
  }

  #toError({ type, message }: Pick<TurnFault, "type" | "message">): string {
    return toEvent("error", toErrorBody({ type, message }, this.#told.requestId));
  }

  #start(): string {
    if (this.#begun) return "";
    this.#begun = true;
    const message = shapeMessage(this.#told.head, { content: [], usage: null, ending: null });
    return toEvent("message_start", { message }) + toEvent("ping");
  }

  #openBlock(kind: SpokenKind): string {
    this.#open = kind;
    return this.#begin(kind === "text" ? toTextBlock("") : toThinkingBlock(""));
  }

  #begin(content_block: object): string {
    return toEvent("content_block_start", { index: this.#index, content_block });
  }

  #delta(delta: object): string {
    return toEvent("content_block_delta", { index: this.#index, delta });
  }

  #call(call: ToolCallView): string {
    const begun = this.#begin({ ...toToolUseBlock(call), input: {} });
    const given = this.#delta({ type: "input_json_delta", partial_json: toInputJson(call.arguments) });
    return begun + given + toEvent("content_block_stop", { index: this.#index++ });
  }
}
