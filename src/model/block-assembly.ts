/**
 * Reads blocks of text and thinking from the parts of the AI SDK's stream. Their pieces are well formed and carry the
 * metadata that the provider wants back.
 */
import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelStreamPart } from "../app/ports";
import { WellFormedText } from "./well-formed";
import { asObject } from "./wire-chunk";

type SpokenPart = Extract<
  LanguageModelV4StreamPart,
  { type: "text-start" | "text-delta" | "text-end" | "reasoning-start" | "reasoning-delta" | "reasoning-end" }
>;
export type BlockStreamPart = Extract<ModelStreamPart, { type: "text" | "reasoning" }>;

export interface BlockRules {
  /** The key of the provider's own metadata, in the stream and in what is stored. Null when none is kept. */
  readonly key: string | null;
  /** True when the metadata of this part is what the provider wants back, false when it is only the beginning of it. */
  readonly isWhole: (part: SpokenPart) => boolean;
}

type Metadata = Record<string, object>;

export function pickOwnMetadata(all: SharedV4ProviderMetadata | undefined, key: string | null): Metadata | null {
  const own = key === null ? null : asObject(all?.[key]);
  return own && key !== null ? { [key]: own } : null;
}

export class BlockAssembly {
  readonly #rules: BlockRules;
  readonly #text = new WellFormedText();
  #block: { readonly type: BlockStreamPart["type"]; readonly id: string } | null = null;
  /** The metadata that was emitted last, as JSON. The start and the end of a block often carry the same. */
  #given = "";

  constructor(rules: BlockRules) {
    this.#rules = rules;
  }

  add(part: SpokenPart): readonly BlockStreamPart[] {
    const type = part.type.startsWith("text") ? "text" : "reasoning";
    const before = this.#block?.type === type && this.#block.id === part.id ? [] : this.#open({ type, id: part.id });
    const delta = part.type === "text-delta" || part.type === "reasoning-delta" ? part.delta : "";
    const isEnd = part.type === "text-end" || part.type === "reasoning-end";
    const text = (delta === "" ? "" : this.#text.add(delta)) + (isEnd ? this.#text.end() : "");
    const metadata = this.#rules.isWhole(part) ? this.#fresh(pickOwnMetadata(part.providerMetadata, this.#rules.key)) : null;
    if (text === "" && !metadata) return before;
    return [...before, { type, text, block: part.id, ...(metadata ? { provider_metadata: metadata } : {}) }];
  }

  /** Returns what remains of a character whose second half never came. */
  end(): readonly BlockStreamPart[] {
    const text = this.#text.end();
    return this.#block && text !== "" ? [{ type: this.#block.type, text, block: this.#block.id }] : [];
  }

  #open(block: { readonly type: BlockStreamPart["type"]; readonly id: string }): readonly BlockStreamPart[] {
    const rest = this.end();
    this.#block = block;
    this.#given = "";
    return rest;
  }

  #fresh(metadata: Metadata | null): Metadata | null {
    const text = metadata ? JSON.stringify(metadata) : "";
    if (text === "" || text === this.#given) return null;
    this.#given = text;
    return metadata;
  }
}
