/** A provider's prompt cache: the longest prefix that a request shares with an earlier one of its session, in steps. */
/** What a request is made of: equal where it is the same object. */
export interface Block {
  readonly tokens: number;
}

/** Tokens that two blocks have in common at their start. */
interface Compare<B extends Block> {
  common(left: B, right: B): number;
}

/** What providers that cache by themselves do (docs/policy.md): nothing below the first, then by the second. */
const LEAST_TOKENS = 1_024;
const STEP_TOKENS = 128;

type Node<B> = Map<B, Node<B>>;

/** Tokens that are read from the cache when so many are known. */
export const cachedOf = (shared: number): number => inSteps(shared, STEP_TOKENS);

const inSteps = (shared: number, step: number): number => (shared < LEAST_TOKENS ? 0 : shared - (shared % step));

export class PromptCache<B extends Block> {
  #root: Node<B> = new Map();
  readonly #compare: Compare<B>;
  readonly #step: number;

  /** `step`: another one than providers have. */
  constructor(compare: Compare<B>, step = STEP_TOKENS) {
    this.#compare = compare;
    this.#step = step;
  }

  /** Nobody has asked for so long that nothing is kept. */
  forget(): void {
    this.#root = new Map();
  }

  /** Tokens of `request` that the cache holds; afterwards it holds all of it. `perToken`: the provider's tokens for one of the blocks'. */
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
