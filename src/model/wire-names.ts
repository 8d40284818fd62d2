/**
 * Makes ids and names of tool calls fit the providers' wire formats. A model or another provider may have written longer
 * ones, other characters, or the same id twice. OpenAI takes 64 characters of an id (40 in chat completions); Anthropic
 * takes letters, digits, `_` and `-`, and each id once in a request. The result depends only on the order of appearance, so
 * that a request keeps its prefix as it grows.
 */
import { sha256Sync } from "../lib/sha256-sync";

const OTHER = /[^a-zA-Z0-9_-]/g;
const MOST_NAME_UNITS = 64;
/** Room for the suffix that makes an id unique. */
const SUFFIX_UNITS = 8;

export const toWireName = (name: string): string => name.replaceAll(OTHER, "_").slice(0, MOST_NAME_UNITS) || "unnamed";

/** A call's id and name as they were sent. */
interface WireCall {
  readonly id: string;
  readonly name: string;
}

export class WireIds {
  readonly #used = new Set<string>();
  readonly #most: number;
  /** The calls of the response that was read last, in order, by their original id. */
  #open = new Map<string, WireCall[]>();

  /** `most` is the maximum length of an id, in UTF-16 units. */
  constructor(most = 64) {
    this.#most = most;
  }

  /** Starts a response. Results are matched with the calls of the response before them. */
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

  /**
   * The sent call that a result answers: of several calls with one id, the first that has no result yet. Gemini demands the
   * call's own name with the result.
   */
  answered(id: string, name: string): WireCall {
    return this.#open.get(id)?.shift() ?? { id: this.#unique(id), name };
  }

  #unique(id: string): string {
    let wire = this.toWire(id, 1);
    for (let n = 2; this.#used.has(wire); n++) wire = this.toWire(id, n);
    this.#used.add(wire);
    return wire;
  }

  /** `n`: the number of the try, because the request has the earlier ones already. */
  protected toWire(id: string, n: number): string {
    const clean = id.replaceAll(OTHER, "_") || "call";
    if (n === 1 && clean.length <= this.#most) return clean;
    const stem = clean.slice(0, this.#most - SUFFIX_UNITS);
    return n === 1 ? stem : `${stem}_${n}`;
  }
}

const CALL_ID_UNITS = 9;
const CALL_ID = /^[a-zA-Z0-9]{9}$/;

/**
 * Ids of nine letters and digits, which is all that Mistral takes and every other endpoint takes as well. The result depends on the id alone,
 * so that it stays the same in a session's later requests.
 */
export class CallIds extends WireIds {
  protected override toWire(id: string, n: number): string {
    return n === 1 && CALL_ID.test(id) ? id : sha256Sync(n === 1 ? id : `${id} ${n}`).slice(0, CALL_ID_UNITS);
  }
}
