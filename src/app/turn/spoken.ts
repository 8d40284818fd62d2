/** What a model says in one reply, as it comes: blocks of text and thinking with what the provider wants back, and calls, in their order. */
import type { Part, ProviderMetadata, ToolCallPart } from "../../domain/message";
import type { SpokenPiece } from "../ports";

interface Block {
  readonly type: "text" | "reasoning";
  readonly block: string | undefined;
  text: string;
  metadata: ProviderMetadata | null;
}

/** A call, and the thinking that came between it and the one before. */
interface SpokenCall {
  readonly call: ToolCallPart;
  readonly thinking: readonly Part[];
}

export class Spoken {
  readonly #blocks: Block[] = [];
  /** Each with the number of blocks that came before it. */
  readonly #calls: { readonly call: ToolCallPart; readonly after: number }[] = [];
  #units = 0;

  add(type: Block["type"], { text, block, provider_metadata }: SpokenPiece): void {
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

  /** Whether there is a word, or a thought, so far. */
  get hasWords(): boolean {
    return this.#blocks.some(({ text }) => text !== "");
  }

  /** UTF-16 units of all of it, calls and metadata included. */
  get units(): number {
    return this.#units;
  }

  /** What stays of a reply that is cut off. No provider takes a thought back without what followed it, so that none is asked to. */
  get partial(): Part[] {
    return this.#blocks.flatMap(({ type, text }): Part[] => (text === "" ? [] : [{ type, text }]));
  }

  /** The whole reply: the words, and the calls, each with the thinking right before it, which must not be torn from it. */
  get whole(): { readonly words: readonly Part[]; readonly calls: readonly SpokenCall[] } {
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

/** By provider: what came first may be completed later, as a signature is at a block's end. */
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
