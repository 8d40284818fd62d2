/**
 * From the parts of the AI SDK's stream to ours. One for a reply, fed in order. Bounded as the decoder of chat
 * completions is (`chat-stream`, `tool-call-assembly`): more than a reply may hold is a failure, not a cut.
 */
import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelChunk, ModelFailure, SpokenPiece } from "../app/ports";
import { MAX_CALL_ID_UNITS, MAX_REPLY_CALLS, MAX_SIGNATURE_UNITS, MAX_TOOL_NAME_UNITS } from "../domain/message";
import type { FinishReason } from "../domain/model-call";
import { CUT_OFF, eventText, toEventFailure } from "./call-failure";
import { classifyFailure } from "./classify-failure";
import { toCallUsage } from "./sdk-usage";
import { WellFormedText } from "./well-formed";
import { asObject, asText } from "./wire-chunk";

/** Arguments and metadata of one reply together, in UTF-16 units: they are held until it ends, by us or the SDK. */
const MAX_HELD_UNITS = 1_000_000;

export interface ReplyRules {
  /** Under which the provider's own metadata stands, here and in what is kept; null: none is kept. */
  readonly key: string | null;
  /** Of a piece that belongs to a block: whether its metadata is what the provider wants back. */
  readonly isWhole: (part: SpokenPart, metadata: object) => boolean;
  /** Events that carry the reply: one that cannot be read is a failure. Others may be new or odd, and are skipped. Null: every event is one. */
  readonly events: ReadonlySet<string> | null;
  /** An event that says that the prompt itself was refused; absent: an error says so. */
  readonly isRefusal?: (event: object) => boolean;
}

export type SpokenPart = Extract<
  LanguageModelV4StreamPart,
  { type: "text-start" | "text-delta" | "text-end" | "reasoning-start" | "reasoning-delta" | "reasoning-end" }
>;
type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>;
type Said = "text" | "reasoning";

export class ReplyParts {
  readonly #rules: ReplyRules;
  /** The first call, and what came after it, in order: a call counts when its reply has ended well, and its place among thoughts must stay. */
  readonly #held: ModelChunk[] = [];
  #calls = 0;
  readonly #text = new WellFormedText();
  #speaking: { readonly type: Said; readonly block: string } | null = null;
  #given = "";
  #heldUnits = 0;
  #spoke = false;
  #event: unknown = null;
  #refused = false;
  #out: ModelChunk[] = [];
  /** `finish` or `failure` was given out: nothing after it counts. */
  over = false;
  /** Parts so far that say that the model is writing. */
  heard = 0;

  constructor(rules: ReplyRules) {
    this.#rules = rules;
  }

  take(part: LanguageModelV4StreamPart): readonly ModelChunk[] {
    this.#read(part);
    return this.#flush();
  }

  /** The stream is over: without a finish, it was cut. */
  end(): readonly ModelChunk[] {
    if (!this.over) this.#fail(CUT_OFF);
    return this.#flush();
  }

  #flush(): readonly ModelChunk[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #read(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "raw":
        return this.#see(part.rawValue);
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#say("text", part);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#say("reasoning", part);
      case "tool-input-start":
        this.heard++;
        return;
      case "tool-input-delta":
        return this.#hold(part.delta.length);
      case "tool-call":
        return this.#call(part);
      case "error":
        return this.#error();
      case "finish":
        return this.#finish(part);
      default:
        // What a model makes beside text and calls (files, sources) was not asked for.
        return;
    }
  }

  #see(event: unknown): void {
    this.#event = event;
    const seen = asObject(event);
    if (seen && this.#rules.isRefusal?.(seen)) this.#refused = true;
  }

  #say(type: Said, part: SpokenPart): void {
    if (this.#speaking?.type !== type || this.#speaking.block !== part.id) this.#startBlock({ type, block: part.id });
    const delta = part.type === "text-delta" || part.type === "reasoning-delta" ? part.delta : "";
    const metadata = this.#metadataOf(part.providerMetadata);
    const own = metadata && this.#rules.isWhole(part, metadata) ? this.#fresh(metadata) : null;
    const isEnd = part.type === "text-end" || part.type === "reasoning-end";
    const text = delta === "" ? "" : this.#text.add(delta);
    this.#give(type, { text: isEnd ? text + this.#text.end() : text, block: part.id, ...(own ? { provider_metadata: own } : {}) });
    if (own) this.#hold(JSON.stringify(own).length);
  }

  #startBlock(next: { readonly type: Said; readonly block: string }): void {
    this.#giveUpHalf();
    this.#speaking = next;
    this.#given = "";
  }

  #giveUpHalf(): void {
    const rest = this.#text.end();
    if (this.#speaking && rest !== "") this.#give(this.#speaking.type, { text: rest, block: this.#speaking.block });
  }

  #give(type: Said, piece: SpokenPiece): void {
    this.heard++;
    if (piece.text === "" && !piece.provider_metadata) return;
    if (piece.text !== "") this.#spoke = true;
    const chunk: ModelChunk = { type, ...piece };
    if (this.#calls === 0) {
      this.#out.push(chunk);
      return;
    }
    this.#held.push(chunk);
    this.#hold(piece.text.length);
  }

  #metadataOf(all: SharedV4ProviderMetadata | undefined): Record<string, object> | null {
    const { key } = this.#rules;
    const own = key === null ? null : asObject(all?.[key]);
    return own && key !== null ? { [key]: own } : null;
  }

  /** What a block starts and ends with is often the same. */
  #fresh(metadata: Record<string, object>): Record<string, object> | null {
    const text = JSON.stringify(metadata);
    if (text === this.#given) return null;
    this.#given = text;
    return metadata;
  }

  #hold(units: number): void {
    this.heard++;
    this.#heldUnits += units;
    if (this.#heldUnits > MAX_HELD_UNITS) this.#fail(CUT_OFF);
  }

  #call(part: LanguageModelV4ToolCall): void {
    this.heard++;
    // A tool that the provider runs itself was not offered.
    if (part.providerExecuted) return;
    const metadata = this.#metadataOf(part.providerMetadata);
    const units = metadata ? JSON.stringify(metadata).length : 0;
    const fits = part.toolCallId.length <= MAX_CALL_ID_UNITS && part.toolName.length <= MAX_TOOL_NAME_UNITS && units <= MAX_SIGNATURE_UNITS;
    if (!fits || this.#calls >= MAX_REPLY_CALLS) return this.#fail(CUT_OFF);
    this.#giveUpHalf();
    this.#calls++;
    this.#held.push({
      type: "tool_call",
      call: {
        type: "tool_call",
        call_id: part.toolCallId.toWellFormed(),
        name: part.toolName.toWellFormed(),
        arguments: part.input.toWellFormed(),
        ...(metadata ? { provider_metadata: metadata } : {}),
      },
    });
    // Some arrive whole, without pieces that were counted; arguments are then counted twice at worst.
    this.#hold(units + (this.#heldUnits < part.input.length ? part.input.length : 0));
  }

  /** The SDK's error is about the event before it, which says more: it may be one that is merely new. */
  #error(): void {
    const type = asText(asObject(this.#event)?.type);
    if (this.#rules.events && type !== null && !this.#rules.events.has(type)) return;
    this.#fail(this.#event === null || this.#event === undefined ? CUT_OFF : toEventFailure(eventText(this.#event)));
  }

  #fail(failure: ModelFailure): void {
    if (this.over) return;
    this.#giveUpHalf();
    this.over = true;
    this.#out.push(...this.#held.filter(({ type }) => type !== "tool_call"), { type: "failure", failure });
  }

  #finish({ finishReason: { unified, raw }, usage }: FinishPart): void {
    if (this.over) return;
    if (this.#refused) return this.#fail({ kind: "refused", status: null });
    if (unified === "interrupted" || unified === "error") return this.#fail(CUT_OFF);
    const kind = !this.#spoke && raw !== undefined ? classifyFailure({ status: null, code: raw, type: null, message: "" }) : null;
    if (kind === "overflow" && this.#calls === 0) return this.#fail({ kind, status: null });
    this.#giveUpHalf();
    this.over = true;
    this.#out.push(...this.#held, { type: "finish", finish: this.#reason(unified), usage: toCallUsage(usage) });
  }

  #reason(unified: FinishPart["finishReason"]["unified"]): FinishReason {
    switch (unified) {
      case "stop":
        return this.#calls > 0 ? "tool_calls" : "stop";
      case "length":
        return "length";
      case "content-filter":
        return "content_filter";
      case "tool-calls":
        return "tool_calls";
      default:
        return "other";
    }
  }
}
