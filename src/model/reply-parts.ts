/**
 * Converts the parts of the AI SDK's stream to our chunks. One object reads one reply, in order. The bounds are those of the
 * decoder of chat completions (`chat-stream`, `tool-call-assembly`): a reply that exceeds them fails and is not cut.
 */
import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { ModelFailure, ModelStreamPart } from "../app/ports";
import { MAX_CALL_ID_UNITS, MAX_REPLY_CALLS, MAX_SIGNATURE_UNITS, MAX_TOOL_NAME_UNITS } from "../domain/message";
import type { CallUsage, FinishReason } from "../domain/model-call";
import { BlockAssembly, type BlockRules, type BlockStreamPart, pickOwnMetadata } from "./block-assembly";
import { CUT_OFF, eventText, toEventFailure } from "./call-failure";
import { classifyFailure } from "./classify-failure";
import { asCount, asObject, asText } from "./wire-chunk";

/**
 * Limit for the arguments, metadata and held text of one reply together, in UTF-16 units. Without it, a provider could fill
 * the memory.
 */
const MAX_HELD_UNITS = 1_000_000;

export interface ReplyRules extends BlockRules {
  /**
   * Types of the events that carry the reply: an unreadable one of these is a failure. Unreadable events of other types are
   * skipped, because providers add new types. Null when every event carries the reply.
   */
  readonly events: ReadonlySet<string> | null;
  /** True for an event that says that the prompt itself was refused. Absent where the provider reports that as an error. */
  readonly isRefusal?: (event: object) => boolean;
  /** True for an event that names the end of the reply. */
  readonly isEnd: (event: Readonly<Record<string, unknown>>) => boolean;
}

type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

export class ReplyParts {
  readonly #rules: ReplyRules;
  readonly #blocks: BlockAssembly;
  /**
   * The first call and everything after it, in order. Calls are emitted only when the reply has ended normally, and their
   * place among the thoughts must not change.
   */
  readonly #held: ModelStreamPart[] = [];
  #calls = 0;
  #heldUnits = 0;
  /** UTF-16 units of the streamed arguments that are already counted but belong to no finished call yet. */
  #argumentUnits = 0;
  #spoke = false;
  #refused = false;
  #event: unknown = null;
  #out: ModelStreamPart[] = [];
  /** True once `finish` or `failure` was emitted. Later parts are ignored. */
  over = false;
  /** The reply has named its end. Only its usage may follow. */
  isSaid = false;
  /** Number of parts so far that show that the model is writing. */
  heard = 0;

  constructor(rules: ReplyRules) {
    this.#rules = rules;
    this.#blocks = new BlockAssembly(rules);
  }

  take(part: LanguageModelV4StreamPart): readonly ModelStreamPart[] {
    if (!this.over) this.#read(part);
    return this.#flush();
  }

  /** Ends the reply when the stream has ended. A stream without a finish part was cut off. */
  end(): readonly ModelStreamPart[] {
    if (!this.over) this.#fail(CUT_OFF);
    return this.#flush();
  }

  #flush(): readonly ModelStreamPart[] {
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
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.heard++;
        return this.#say(this.#blocks.add(part));
      case "tool-input-start":
        this.heard++;
        return;
      case "tool-input-delta":
        this.heard++;
        this.#argumentUnits += part.delta.length;
        return this.#hold(part.delta.length);
      case "tool-call":
        this.heard++;
        return this.#call(part);
      case "error":
        return this.#error();
      case "finish":
        return this.#finish(part);
      default:
        // Files and sources that a model produces were not requested.
        return;
    }
  }

  #see(event: unknown): void {
    this.#event = event;
    const seen = asObject(event);
    if (seen && this.#rules.isRefusal?.(seen)) this.#refused = true;
    if (seen && this.#rules.isEnd(seen)) this.isSaid = true;
  }

  #say(chunks: readonly BlockStreamPart[]): void {
    for (const chunk of chunks) {
      if (chunk.text !== "") this.#spoke = true;
      const metadata = chunk.provider_metadata ? JSON.stringify(chunk.provider_metadata).length : 0;
      if (this.#calls === 0) this.#out.push(chunk);
      else this.#held.push(chunk);
      this.#hold(metadata + (this.#calls === 0 ? 0 : chunk.text.length));
    }
  }

  #hold(units: number): void {
    this.#heldUnits += units;
    if (this.#heldUnits > MAX_HELD_UNITS) this.#fail(CUT_OFF);
  }

  #call(part: LanguageModelV4ToolCall): void {
    // A tool that the provider runs itself was never offered, so its call is ignored.
    if (part.providerExecuted) return;
    const metadata = pickOwnMetadata(part.providerMetadata, this.#rules.key);
    const units = metadata ? JSON.stringify(metadata).length : 0;
    const fits = part.toolCallId.length <= MAX_CALL_ID_UNITS && part.toolName.length <= MAX_TOOL_NAME_UNITS && units <= MAX_SIGNATURE_UNITS;
    if (!fits || this.#calls >= MAX_REPLY_CALLS) return this.#fail(CUT_OFF);
    this.#say(this.#blocks.end());
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
    const uncounted = Math.max(0, part.input.length - this.#argumentUnits);
    this.#argumentUnits = 0;
    this.#hold(units + uncounted);
  }

  /**
   * The SDK's error is about the event before it, which has more detail. An unreadable event of an unknown type is no
   * failure: it may be new.
   */
  #error(): void {
    const type = asText(asObject(this.#event)?.type);
    if (this.#rules.events && type !== null && !this.#rules.events.has(type)) return;
    this.#fail(this.#event === null || this.#event === undefined ? CUT_OFF : toEventFailure(eventText(this.#event)));
  }

  /** Ends the reply with a failure. Text that was emitted stays valid; calls of a reply that did not end normally are dropped. */
  #fail(failure: ModelFailure): void {
    if (this.over) return;
    this.over = true;
    this.#say(this.#blocks.end());
    this.#out.push(...this.#held.filter(({ type }) => type !== "tool_call"), { type: "failure", failure });
  }

  #finish({ finishReason: { unified, raw }, usage }: FinishPart): void {
    if (this.#refused) return this.#fail({ kind: "refused", status: null });
    if (unified === "interrupted" || unified === "error") return this.#fail(CUT_OFF);
    const said = this.#spoke || this.#calls > 0;
    if (!said && raw !== undefined && isOverflow(raw)) return this.#fail({ kind: "overflow", status: null });
    this.over = true;
    this.#say(this.#blocks.end());
    const finish = unified === "stop" && this.#calls > 0 ? "tool_calls" : toReason(unified);
    this.#out.push(...this.#held, { type: "finish", finish, usage: toCallUsage(usage) });
  }
}

/** Some providers end a reply that never began and name the context window as the reason. */
const isOverflow = (raw: string): boolean => classifyFailure({ status: null, code: raw, type: null, message: "" }) === "overflow";

function toReason(unified: FinishPart["finishReason"]["unified"]): FinishReason {
  switch (unified) {
    case "stop":
    case "length":
      return unified;
    case "content-filter":
      return "content_filter";
    case "tool-calls":
      return "tool_calls";
    default:
      return "other";
  }
}

/** Null when usage was not reported, or not in valid numbers. */
function toCallUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): CallUsage | null {
  const input = asCount(inputTokens.total);
  const output = asCount(outputTokens.total);
  if (input === null || output === null) return null;
  const written = asCount(inputTokens.cacheWrite);
  return {
    input,
    output,
    cached: asCount(inputTokens.cacheRead) ?? 0,
    reasoning: asCount(outputTokens.reasoning) ?? 0,
    ...(written === null ? {} : { cache_write: written }),
  };
}
