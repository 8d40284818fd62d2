/** The network between the platforms and the server. It delays, doubles and reorders, and delivers again until an answer of 2xx arrives. */
import { setTimeout as delay } from "node:timers/promises";
import { createRandom, type Random } from "../../support/random.ts";
import { drawFate } from "./plan.ts";

/** A webhook that a platform sends. */
export interface Envelope {
  readonly url: string;
  readonly body: string;
  /** The message's mark. Null: the platform tells the bot of its own messages. */
  readonly mark: number | null;
  /** How long the platform waits for an answer. */
  readonly deadlineMs: number;
  /** `attempt`: from 0. */
  readonly sign: (attempt: number) => Readonly<Record<string, string>>;
}

/** What became of a delivery. Times in milliseconds. */
export interface Trace {
  readonly firstSentAt: number;
  /** When the first answer of 2xx came. Null: none did. */
  answeredAt: number | null;
  posts: number;
}

/** Milliseconds between two attempts. Twice as long after each that failed, as platforms do, but for a server that starts within seconds. */
const RETRY = { least: 100, most: 600, doublings: 4 };

/** Connections at the same time. Telegram has 40 at most for one bot. More than the server can answer in time would only come again. */
const CONNECTIONS = 12;

export class Courier {
  readonly traces = new Map<number, Trace>();
  /** Answers that no crash explains, by status. */
  readonly refusals = new Map<number, string>();
  posts = 0;
  /** Posts that the server answered, whatever it said. */
  heard = 0;
  readonly #seed: number;
  readonly #underWay = new Set<Promise<void>>();
  #echoes = 0;
  #free = CONNECTIONS;
  readonly #waiting: (() => void)[] = [];

  constructor(seed: number) {
    this.#seed = seed;
  }

  carry(envelope: Envelope): void {
    const name = envelope.mark ?? 1_000_000 + ++this.#echoes;
    const carried = this.#carry(envelope, createRandom(Math.imul(this.#seed + 1, 7_919) + name)).finally(() =>
      this.#underWay.delete(carried),
    );
    this.#underWay.add(carried);
  }

  /** Deliveries that were answered with 2xx. */
  get answered(): number {
    return [...this.traces.values()].filter(({ answeredAt }) => answeredAt !== null).length;
  }

  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #carry(envelope: Envelope, random: Random): Promise<void> {
    const fate = drawFate(random);
    await delay(fate.delay);
    const trace: Trace = { firstSentAt: performance.now(), answeredAt: null, posts: 0 };
    if (envelope.mark !== null) this.traces.set(envelope.mark, trace);
    const deliver = async (lostAnswers: number): Promise<void> => {
      for (let lost = 0, failed = 0; ; ) {
        if (await this.#connect(() => this.#post(envelope, trace))) {
          trace.answeredAt ??= performance.now();
          if (lost++ >= lostAnswers) return;
          failed = 0;
        } else failed += 1;
        await delay(random.between(RETRY.least, RETRY.most) * 2 ** Math.min(failed, RETRY.doublings));
      }
    };
    await Promise.all([deliver(fate.lostAnswers), ...(fate.isDoubled ? [deliver(0)] : [])]);
    if (fate.again === null) return;
    await delay(fate.again);
    await deliver(0);
  }

  async #connect<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  /** Whether the platform got an answer of 2xx in time. */
  async #post({ url, body, sign, deadlineMs }: Envelope, trace: Trace): Promise<boolean> {
    const leaving = new AbortController();
    const request = { method: "POST", body, headers: sign(trace.posts), signal: leaving.signal };
    trace.posts += 1;
    this.posts += 1;
    // A timer resolves as well, because an aborted signal alone does not always end a request.
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => {
      late.resolve(null);
      leaving.abort();
    }, deadlineMs);
    const status = await Promise.race([late.promise, this.#readStatus(url, request)]);
    clearTimeout(timer);
    return status !== null && status >= 200 && status < 300;
  }

  async #readStatus(url: string, request: RequestInit): Promise<number | null> {
    try {
      const response = await fetch(url, request);
      const text = await response.text();
      this.heard += 1;
      const isRefused = response.status >= 400 && response.status < 500;
      if (isRefused) this.refusals.set(response.status, text.slice(0, 300));
      return response.status;
    } catch {
      return null;
    }
  }
}
