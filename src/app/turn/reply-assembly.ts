/** Collects one streamed reply: blocks of text and thinking with the provider's metadata, and tool calls, in their order. */
import type { Part, ProviderMetadata, ToolCallPart } from "../../domain/message";
import type { BlockDelta } from "../ports";

interface Block {
  readonly type: "text" | "reasoning";
  readonly block: string | undefined;
  text: string;
  metadata: ProviderMetadata | null;
}

/** A call with the thinking between it and the call before it. */
interface CallWithThinking {
  readonly call: ToolCallPart;
  readonly thinking: readonly Part[];
}

export class ReplyAssembly {
  readonly #blocks: Block[] = [];
  /** Each call with the number of blocks before it. */
  readonly #calls: { readonly call: ToolCallPart; readonly after: number }[] = [];
  #units = 0;

  add(type: Block["type"], { text, block, provider_metadata }: BlockDelta): void {
    const open = this.#blocks.at(-1);
    const goesOn = open?.type === type && open.block === block && this.#calls.at(-1)?.after !== this.#blocks.length;
    const into: Block = goesOn ? open : { type, block, text: "", metadata: null };
    if (!goesOn) this.#blocks.push(into);
    into.text += text;
    this.#units += text.length;
    if (!provider_metadata) return;
    into.metadata = merge(into.metadata, provider_metadata);
    this.#units += JSON.stringify(provider_metadata).length;
  }

  addCall(call: ToolCallPart): void {
    this.#calls.push({ call, after: this.#blocks.length });
    this.#units += call.arguments.length + (call.provider_metadata ? JSON.stringify(call.provider_metadata).length : 0);
  }

  /** Whether the reply has any text or thinking so far. */
  get hasWords(): boolean {
    return this.#blocks.some(({ text }) => text !== "");
  }

  /** UTF-16 units of the whole reply, including calls and metadata. */
  get units(): number {
    return this.#units;
  }

  /**
   * The parts to keep of a reply that was cut off. Provider metadata is left out: no provider accepts signed thinking without what followed
   * it.
   */
  get partial(): Part[] {
    return this.#blocks.flatMap(({ type, text }): Part[] => (text === "" ? [] : [{ type, text }]));
  }

  /** The complete reply: its words, and its calls with the thinking right before each. Thinking and its call must stay together. */
  get whole(): { readonly words: readonly Part[]; readonly calls: readonly CallWithThinking[] } {
    const first = this.#calls[0]?.after ?? this.#blocks.length;
    const last = this.#calls.at(-1)?.after ?? this.#blocks.length;
    const isWithCall = (index: number): boolean => index >= first && index < last && this.#blocks[index]?.type === "reasoning";
    const words = this.#blocks.filter((_, index) => !isWithCall(index)).flatMap(toPart);
    const calls = this.#calls.map(({ call, after }, index) => {
      const from = this.#calls[index - 1]?.after ?? after;
      return { call, thinking: this.#blocks.slice(from, after).flatMap((block) => (block.type === "reasoning" ? toPart(block) : [])) };
    });
    return { words, calls };
  }
}

function toPart({ type, text, metadata }: Block): Part[] {
  if (metadata) return [{ type, text, provider_metadata: metadata }];
  return text === "" ? [] : [{ type, text }];
}

/** Merges metadata by provider: a later piece may complete an earlier one, as a signature at a block's end does. */
function merge(known: ProviderMetadata | null, more: ProviderMetadata): ProviderMetadata {
  const merged: Record<string, unknown> = { ...known };
  for (const [provider, value] of Object.entries(more)) {
    const before = merged[provider];
    merged[provider] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
  return merged;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
