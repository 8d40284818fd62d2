/** A leg as chunks of a chat completion, which OpenAI's SDKs put together to the completion of `report.ts`. */
import type { TurnFailureView } from "../../../contract/model-call";
import type { ToolCallView } from "../../../contract/tool";
import type { CallUsage } from "../../../domain/model-call";
import type { AppliedEdits } from "../../surface/applied-edits";
import type { LegEnding } from "../../surface/leg";
import type { LegTeller, SpokenKind } from "../../surface/tell-leg";
import { BETWEEN_REPLIES, type CompletionHead, listOwnCalls, toChatCall, toChatFinish, toChatUsage } from "./shape";
import { toOpenAiFault } from "./turn-fault";

const DONE = "data: [DONE]\n\n";
const toEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

interface Told {
  readonly head: CompletionHead;
  /** One more chunk tells the usage of the leg, as `stream_options.include_usage` asks. */
  readonly includesUsage: boolean;
  /** What is true of a completion whose rest cannot be told. */
  readonly lost: string;
}

export class ChunkTeller implements LegTeller {
  readonly #told: Told;
  #begun = false;
  #saidText = false;
  /** What the next text begins with. */
  #between = "";

  constructor(told: Told) {
    this.#told = told;
  }

  say(kind: SpokenKind, text: string): string {
    if (kind === "reasoning") return this.#delta({ reasoning_content: text });
    const content = this.#between + text;
    this.#between = "";
    this.#saidText = true;
    return this.#delta({ content });
  }

  /** No chunk marks the end of a reply: the text of the next one begins with an empty line. */
  endReply(): string {
    if (this.#saidText) this.#between = BETWEEN_REPLIES;
    return "";
  }

  finish(ending: LegEnding, usage: CallUsage | null, edits: AppliedEdits): string {
    const refused = ending.type === "refused" ? this.#delta({ refusal: ending.detail }) : "";
    const called = listOwnCalls(ending).map((call, index) => this.#call(call, index));
    const begun = this.#start();
    const last = this.#chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: toChatFinish(ending) }], { edits });
    const counted = this.#told.includesUsage ? this.#chunk([], { usage: toChatUsage(usage) }) : "";
    return refused + called.join("") + begun + last + counted + DONE;
  }

  fail(failure: TurnFailureView | null): string {
    return toEvent({ error: toOpenAiFault(failure).error });
  }

  lose(): string {
    return toEvent({ error: { message: this.#told.lost, type: "server_error", param: null, code: null } });
  }

  #call(call: ToolCallView, index: number): string {
    const { function: called, ...rest } = toChatCall(call);
    const begun = this.#delta({ tool_calls: [{ index, ...rest, function: { name: called.name, arguments: "" } }] });
    return begun + this.#delta({ tool_calls: [{ index, function: { arguments: called.arguments } }] });
  }

  #delta(delta: object): string {
    const begun = this.#start();
    return begun + this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  #start(): string {
    if (this.#begun) return "";
    this.#begun = true;
    const delta = { role: "assistant", content: "", refusal: null };
    return this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  #chunk(
    choices: readonly object[],
    { usage = null, edits }: { readonly usage?: object | null; readonly edits?: AppliedEdits } = {},
  ): string {
    const { head, includesUsage } = this.#told;
    return toEvent({ ...head, object: "chat.completion.chunk", choices, ...(includesUsage && { usage }), ...edits });
  }
}
