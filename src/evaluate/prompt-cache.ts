/**
 * A provider's prompt cache. A request reads from it the longest prefix that it shares with an earlier request of its
 * session, rounded down in steps.
 */
/** A part of a request. Two blocks are equal only if they are the same object. */
export interface Block {
  readonly tokens: number;
}

/** Number of tokens that two blocks have in common at their start. */
interface Compare<B extends Block> {
  common(left: B, right: B): number;
}

/**
 * The rule of providers that cache by themselves (docs/policy-figures.md): nothing below the first number, then in steps of the
 * second.
 */
const LEAST_TOKENS = 1_024;
const STEP_TOKENS = 128;

type Node<B> = Map<B, Node<B>>;

/** Tokens that are read from the cache when `shared` tokens match. */
export const roundToCached = (shared: number): number => inSteps(shared, STEP_TOKENS);

const inSteps = (shared: number, step: number): number => (shared < LEAST_TOKENS ? 0 : shared - (shared % step));

export class PromptCache<B extends Block> {
  readonly #root: Node<B> = new Map();
  readonly #compare: Compare<B>;
  readonly #step: number;

  /** `step` replaces the providers' own. */
  constructor(compare: Compare<B>, step = STEP_TOKENS) {
    this.#compare = compare;
    this.#step = step;
  }

  /**
   * Returns how many tokens of `request` the cache holds, and adds all of it. `perToken` is the provider's tokens per token
   * of the blocks.
   */
  read(request: readonly B[], perToken = 1): number {
    const shared = this.#longest(request);
    let node = this.#root;
    for (const segment of request) {
      const next: Node<B> = node.get(segment) ?? new Map();
      node.set(segment, next);
      node = next;
    }
    return inSteps(Math.floor(shared * perToken), this.#step);
  }

  #longest(request: readonly B[]): number {
    let node = this.#root;
    let shared = 0;
    for (const segment of request) {
      const next = node.get(segment);
      if (!next) return shared + Math.max(0, ...[...node.keys()].map((other) => this.#compare.common(segment, other)));
      shared += segment.tokens;
      node = next;
    }
    return shared;
  }
}
