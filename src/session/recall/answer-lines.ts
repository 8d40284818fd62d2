/**
 * Builds the answer of a search as lines and hits side by side, so that the text says exactly what the hits do, within
 * its token budget.
 */

import type { Ranked } from "../../context/recall/rank";
import { fitted, NEIGHBOUR_UNITS, snippetUnits, timeBetween, toLabel, WITH_NEIGHBOURS } from "../../context/recall/render";
import { toSnippet } from "../../context/recall/snippet";
import { toEstimate } from "../../context/sizing";
import { estimateTokens } from "../../context/tokens";
import type { RecallHit, RecallNeighbour, RecallReport } from "../../contract/recall";
import { type ItemMeta, toTimeSaid } from "../../domain/message";
import type { FoundRecord, SearchInput } from "./found-record";

const HEADER = "Found in this conversation, best first (#position who: words; read on with from and to, or execution_id):";
/** With less room than this left, no further hit is tried. */
const LEAST_TOKENS = 20;
/** A neighbour that is among this many first hits is shown as a hit of its own. */
const SOON = 6;

export class AnswerLines {
  readonly #input: SearchInput;
  readonly #record: FoundRecord;
  readonly #lines: string[] = [HEADER];
  readonly #hits: RecallHit[] = [];
  readonly #said = new Set<number>();
  readonly #coming: ReadonlySet<number>;
  /** By position, the passage that holds the hit's own words. */
  readonly #passages: ReadonlyMap<number, number>;
  #left: number;
  #at: number | null = null;

  /** `first` are the hits that are added first. */
  constructor(input: SearchInput, record: FoundRecord, first: readonly Ranked[]) {
    const withWords = (hits: readonly Ranked[]): readonly Ranked[] => hits.filter(({ own }) => own > 0);
    this.#coming = new Set(withWords(first.slice(0, SOON)).map(({ position }) => position));
    this.#passages = new Map(withWords(first).map(({ position, passage }) => [position, passage]));
    this.#input = input;
    this.#record = record;
    this.#left = input.tokens - weigh([HEADER]);
  }

  get isFull(): boolean {
    return this.#left < LEAST_TOKENS || this.#hits.length >= this.#input.limit;
  }

  /** Adds a hit. One that does not fit is tried without its neighbours, then shorter, then skipped: a shorter one after it may fit. */
  add(hit: Ranked): void {
    const meta = this.#record.meta(hit.position);
    if (this.isFull || !meta || this.#said.has(hit.position) || !this.#record.isHit(hit)) return;
    const units = snippetUnits(this.#hits.length);
    const snippet = this.#snippet(hit, units);
    if (snippet === "") return;
    const neighbours = this.#hits.length < WITH_NEIGHBOURS ? this.#neighbours(hit.position) : [];
    if (this.#say(hit, meta, { snippet, neighbours }) || this.#say(hit, meta, { snippet, neighbours: [] })) return;
    this.#say(hit, meta, { snippet: this.#snippet(hit, units / 2), neighbours: [] });
  }

  /** Adds the lines of a hit. Returns false when there is no room. */
  #say(hit: Ranked, meta: ItemMeta, { snippet, neighbours }: Pick<RecallHit, "snippet" | "neighbours">): boolean {
    const in_view = this.#input.isShown(hit.position);
    const lines = [
      ...timeBetween(this.#at, toTimeSaid(meta)),
      `${toLabel(meta)}${in_view ? " (in view)" : ""}: ${snippet}`,
      ...neighbours.map((near) => `  ${toLabel(this.#record.meta(near.position) ?? meta)}: ${near.snippet}`),
    ];
    const tokens = weigh(lines);
    if (tokens > this.#left) return false;
    this.#left -= tokens;
    this.#at = toTimeSaid(meta);
    this.#lines.push(...lines);
    for (const { position } of [meta, ...neighbours]) this.#said.add(position);
    this.#hits.push({ ...toHit(meta), in_view, snippet, score: rounded(hit.score), neighbours });
    return true;
  }

  toReport(): RecallReport | null {
    if (this.#hits.length === 0) return null;
    const text = this.#lines.join("\n");
    return { data: this.#hits, text, tokens: toEstimate(estimateTokens(text)), next: null };
  }

  #snippet(of: Pick<Ranked, "position" | "passage">, units: number): string {
    const { text, matches } = this.#record.passage(of);
    return toSnippet(text, matches, fitted(units, text));
  }

  /** The messages before and after, unless they are in the answer already or will be soon as hits of their own. */
  #neighbours(position: number): RecallNeighbour[] {
    const isOther = (each: number): boolean => this.#input.isWanted(each) && !this.#said.has(each) && !this.#coming.has(each);
    const near = [position - 1, position + 1].filter(isOther);
    this.#record.read(near);
    return near.flatMap((each) => {
      const kind = this.#record.meta(each)?.kind;
      const snippet = kind ? this.#snippet({ position: each, passage: this.#passages.get(each) ?? 0 }, NEIGHBOUR_UNITS) : "";
      return kind && snippet !== "" ? [{ position: each, kind, snippet }] : [];
    });
  }
}

const toHit = (meta: ItemMeta) => ({
  position: meta.position,
  id: meta.id,
  kind: meta.kind,
  created_at: toTimeSaid(meta),
  execution_id: meta.tool?.execution ?? null,
});

const weigh = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + estimateTokens(line) + 1, 0);
const rounded = (score: number): number => Math.round(score * 1_000) / 1_000;
