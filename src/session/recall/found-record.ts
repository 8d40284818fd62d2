/** The part of the record that one search has read. Nothing is read, split or matched twice. */
import { type Passage, toPassages } from "../../context/recall/passages";
import type { RecallQuery } from "../../context/recall/query";
import { inheritsIn, type Ranked } from "../../context/recall/rank";
import type { PositionRange } from "../../context/recall/request";
import { findTermMatches, type TermMatch } from "../../context/recall/snippet";
import type { ItemMeta } from "../../domain/message";

export interface SearchInput {
  readonly query: string;
  /** The most tokens of the text. */
  readonly tokens: number;
  /** The most hits. */
  readonly limit: number;
  /** The positions to search, in order. */
  readonly ranges: readonly PositionRange[];
  readonly isWanted: (position: number) => boolean;
  readonly isShown: (position: number) => boolean;
}

export interface ReadItem {
  readonly meta: ItemMeta;
  readonly text: string;
}

interface FoundPassage {
  readonly text: string;
  readonly matches: readonly TermMatch[];
}

export class FoundRecord {
  readonly query: RecallQuery;
  readonly #readAll: (positions: readonly number[]) => readonly ReadItem[];
  readonly #items = new Map<number, { readonly meta: ItemMeta; readonly passages: readonly Passage[] } | null>();
  readonly #passages = new Map<string, FoundPassage>();

  constructor(query: RecallQuery, readAll: (positions: readonly number[]) => readonly ReadItem[]) {
    this.query = query;
    this.#readAll = readAll;
  }

  read(positions: readonly number[]): void {
    const unknown = [...new Set(positions)].filter((position) => !this.#items.has(position));
    for (const position of unknown) this.#items.set(position, null);
    for (const { meta, text } of this.#readAll(unknown)) this.#items.set(meta.position, { meta, passages: toPassages(text) });
  }

  /** Null when the item may not be found. */
  meta(position: number): ItemMeta | null {
    return this.#items.get(position)?.meta ?? null;
  }

  passage({ position, passage }: Pick<Ranked, "position" | "passage">): FoundPassage {
    const key = `${position}.${passage}`;
    const known = this.#passages.get(key);
    if (known) return known;
    const text = this.#items.get(position)?.passages[passage]?.text ?? "";
    const found = { text, matches: findTermMatches(text, this.query) };
    this.#passages.set(key, found);
    return found;
  }

  /** True when the hit belongs in an answer: the item may be found, and has matching words of its own or inherits a neighbour's. */
  isHit(hit: Ranked): boolean {
    const meta = this.meta(hit.position);
    return meta !== null && inheritsIn(hit, meta.kind);
  }
}
