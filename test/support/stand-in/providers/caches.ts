/** Prompt caches as the providers document them. Each belongs to one account: it starts empty and only grows. */
import { createHash } from "node:crypto";
import { countTokens } from "../count-tokens.ts";

export const countAll = (segments: readonly string[]): number => segments.reduce((sum, segment) => sum + countTokens(segment), 0);

function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

/** Tokens of the common beginning of two prompts. */
function commonTokens(one: readonly string[], other: readonly string[]): number {
  let tokens = 0;
  for (const [place, segment] of one.entries()) {
    const known = other[place] ?? "";
    if (segment === known) tokens += countTokens(segment);
    else return tokens + countTokens(segment.slice(0, commonLength(segment, known)));
  }
  return tokens;
}

/**
 * Automatic caching. OpenAI: from 1,024 tokens on, in steps of 128 (platform.openai.com/docs/guides/prompt-caching).
 * Google's implicit caching: from 1,024 on, no steps documented (ai.google.dev/gemini-api/docs/caching).
 */
export class CommonPrefixCache {
  readonly #least: number;
  readonly #step: number;
  readonly #prompts = new Map<string, (readonly string[])[]>();

  constructor({ least, step }: { readonly least: number; readonly step: number }) {
    this.#least = least;
    this.#step = step;
  }

  /** Tokens read for a prompt under a routing key. */
  read(key: string, segments: readonly string[]): number {
    const longest = (this.#prompts.get(key) ?? []).reduce((best, known) => Math.max(best, commonTokens(segments, known)), 0);
    return longest < this.#least ? 0 : Math.floor(longest / this.#step) * this.#step;
  }

  write(key: string, segments: readonly string[]): void {
    this.#prompts.set(key, [...(this.#prompts.get(key) ?? []), segments]);
  }
}

export interface MarkedBlock {
  /** The block without its cache marker. */
  readonly text: string;
  readonly breakpoint: boolean;
  /** Settings of which a change invalidates the cache behind them, such as Anthropic's. They have no tokens. */
  readonly weightless?: true;
}

/** A breakpoint is compared with itself and the blocks before it, this many in total (docs.claude.com, prompt caching). */
const LOOKBACK = 20;
/** Shorter prefixes are not cached; 1,024 for most models. */
const LEAST_CACHED = 1_024;

/** Anthropic's cache: written at breakpoints, and read at the longest stored prefix within reach of a breakpoint. */
export class BreakpointCache {
  readonly #written = new Set<string>();

  /** Tokens read, and tokens that the request adds. Call `write` with the same prompt after the response. */
  measure(blocks: readonly MarkedBlock[]): { readonly read: number; readonly written: number; readonly input: number } {
    const chain = buildChain(blocks);
    const marked = chain.filter(({ breakpoint, tokens }) => breakpoint && tokens >= LEAST_CACHED);
    const reads = marked.map(({ place }) =>
      chain.slice(Math.max(0, place + 1 - LOOKBACK), place + 1).findLast(({ hash }) => this.#written.has(hash)),
    );
    const read = reads.reduce((most, link) => Math.max(most, link?.tokens ?? 0), 0);
    return { read, written: Math.max(0, (marked.at(-1)?.tokens ?? 0) - read), input: chain.at(-1)?.tokens ?? 0 };
  }

  write(blocks: readonly MarkedBlock[]): void {
    for (const { breakpoint, tokens, hash } of buildChain(blocks)) if (breakpoint && tokens >= LEAST_CACHED) this.#written.add(hash);
  }
}

/** Each block with the tokens and the hash of everything up to it. */
function buildChain(blocks: readonly MarkedBlock[]) {
  let hash = "";
  let tokens = 0;
  return blocks.map(({ text, breakpoint, weightless }, place) => {
    hash = createHash("sha256").update(hash).update(text).digest("hex");
    tokens += weightless ? 0 : countTokens(text);
    return { place, hash, tokens, breakpoint };
  });
}
