/**
 * Ids and names of tool calls as every provider's wire takes them. What a model or another provider wrote may be longer,
 * hold other characters, or repeat: OpenAI takes 64 characters of an id (40 in chat completions), Anthropic letters, digits,
 * `_` and `-`, and each id once in a request. Deterministic, and only in order of appearance, so that a request keeps its
 * prefix as it grows.
 */
const OTHER = /[^a-zA-Z0-9_-]/g;
const MOST_NAME_UNITS = 64;
/** Room for what makes an id the only one. */
const SUFFIX_UNITS = 8;

export const toWireName = (name: string): string => name.replaceAll(OTHER, "_").slice(0, MOST_NAME_UNITS) || "unnamed";

/** A call as it went out. */
interface WireCall {
  readonly id: string;
  readonly name: string;
}

export class WireIds {
  readonly #used = new Set<string>();
  readonly #most: number;
  /** Of the response that was read last: its calls in order, by the id that they had. */
  #open = new Map<string, WireCall[]>();

  /** `most`: characters of an id. */
  constructor(most = 64) {
    this.#most = most;
  }

  /** A response begins: results are matched with the calls before them. */
  startResponse(): void {
    this.#open = new Map();
  }

  call(id: string, name: string): string {
    const wire = { id: this.#unique(id), name };
    const same = this.#open.get(id);
    if (same) same.push(wire);
    else this.#open.set(id, [wire]);
    return wire.id;
  }

  /** The call that a result answers: of several with one id, the first that has none yet. Gemini wants the call's own name there. */
  answered(id: string, name: string): WireCall {
    return this.#open.get(id)?.shift() ?? { id: this.#unique(id), name };
  }

  #unique(id: string): string {
    const clean = id.replaceAll(OTHER, "_") || "call";
    const stem = clean.slice(0, this.#most - SUFFIX_UNITS);
    let wire = clean.length <= this.#most ? clean : stem;
    for (let n = 2; this.#used.has(wire); n++) wire = `${stem}_${n}`;
    this.#used.add(wire);
    return wire;
  }
}
