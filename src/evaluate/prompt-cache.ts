/** A provider's prompt cache: the longest prefix that a request shares with an earlier one of its session, in steps. */
import type { Segment, Segments } from "./segments";

/** What providers that cache by themselves do (docs/policy.md): nothing below the first, then by the second. */
const LEAST_TOKENS = 1_024;
const STEP_TOKENS = 128;

type Node = Map<Segment, Node>;

/** Tokens that are read from the cache when so many are known. */
export const cachedOf = (shared: number): number => (shared < LEAST_TOKENS ? 0 : shared - (shared % STEP_TOKENS));

export class PromptCache {
  readonly #root: Node = new Map();
  readonly #segments: Segments;

  constructor(segments: Segments) {
    this.#segments = segments;
  }

  /** Tokens of `request` that the cache holds; afterwards it holds all of it. */
  read(request: readonly Segment[]): number {
    const shared = this.#longest(request);
    let node = this.#root;
    for (const segment of request) {
      const next: Node = node.get(segment) ?? new Map();
      node.set(segment, next);
      node = next;
    }
    return cachedOf(shared);
  }

  #longest(request: readonly Segment[]): number {
    let node = this.#root;
    let shared = 0;
    for (const segment of request) {
      const next = node.get(segment);
      if (!next) return shared + Math.max(0, ...[...node.keys()].map((other) => this.#segments.common(segment, other)));
      shared += segment.tokens;
      node = next;
    }
    return shared;
  }
}
