/**
 * A cache of look-ups in a tenant's object, so that chat goes on while that object is out of reach, and waits for it as rarely as can be. It
 * answers from memory for `ttlMs`. From half of that time on, one caller asks again in the background, so a name in constant use is never
 * waited for. Once the time is over the caller waits. When that look-up fails or hangs, the last known answer serves for `LAST_ANSWER_MS`. It throws
 * only for names that were not known within that time. A missing entry is not cached: it may be added at any moment.
 */
import { RETRY_AFTER_MS, refresh, setNewest } from "../../app/known-answers";
import type { Background, Clock } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import { within } from "../../lib/timer";

/** The time in milliseconds that an answer is cached. A change takes effect within it. */
export const LOOK_UP_TTL_MS = 30_000;
/** The part of its time after which an answer is asked for again in the background. */
export const REFRESH_AFTER = 0.5;
/** How long an answer serves at most, from when it was asked for, while the tenant's object is out of reach. The same for keys and for all look-ups. */
export const LAST_ANSWER_MS = 60 * 60_000;
/** A look-up that hangs has failed after this time where an answer is known, */
const HANGS_MS = 2_000;
/** and after this time where none is. */
const HANGS_UNKNOWN_MS = 10_000;

/** Runs a look-up under the time limit of all look-ups. `last`: an answer is known that can serve. */
export const limitLookUp = <T>(schedule: Schedule | undefined, last: boolean, work: Promise<T>): Promise<T> =>
  schedule ? within(last ? HANGS_MS : HANGS_UNKNOWN_MS, schedule, work) : work;

export interface LookUpCacheDeps<T> {
  /** Null when there is no entry of that name. */
  readonly ask: (name: string) => Promise<T | null>;
  readonly now: Clock;
  readonly ttlMs?: number;
  /** An answer that was cached under another generation is asked for again. Absent: only time decides. */
  readonly generation?: (name: string) => number;
  /** The most answers that are kept; the ones that were asked for first leave. Absent: the caller has few names. */
  readonly max?: number;
  /** Keeps a look-up alive beside its caller. Absent: an answer is asked for again only when its time is over. */
  readonly background?: Background;
  /** Absent: a look-up has no time limit here. */
  readonly schedule?: Schedule;
}

/** The time of a question, and the generation in which it was asked. An answer may be as old as its question. */
export interface Asked {
  readonly at: number;
  readonly generation: number;
}

interface Known<T> extends Asked {
  readonly value: T;
  /** When the next caller asks again in the background. */
  refreshAt: number;
  readonly until: number;
}

export type LookUp<T> = (name: string) => Promise<T | null>;

/** A look-up whose callers may also take or bring an answer without waiting. */
export interface LookUpCache<T> extends LookUp<T> {
  /** What is known and fresh. It is asked for again in the background as by a look-up. */
  peek(name: string): T | null;
  /** Keeps an answer that came another way, unless a newer one is known. `asked`: absent, now. */
  learn(name: string, value: T, asked?: Asked): void;
}

export function createLookUpCache<T>(deps: LookUpCacheDeps<T>): LookUpCache<T> {
  const { ask, now, ttlMs = LOOK_UP_TTL_MS, generation = () => 0, max, background, schedule } = deps;
  const known = new Map<string, Known<T>>();
  const keep = (name: string, answer: Known<T>): void => setNewest(known, [name, answer], max);
  const toFresh = (value: T, asked: Asked): Known<T> => ({
    ...asked,
    value,
    refreshAt: asked.at + ttlMs * REFRESH_AFTER,
    until: asked.at + ttlMs,
  });
  const canServe = (last: Known<T> | undefined): last is Known<T> => last !== undefined && last.at + LAST_ANSWER_MS > now();

  async function askNow(name: string): Promise<T | null> {
    const asked = { at: now(), generation: generation(name) };
    const value = await limitLookUp(schedule, canServe(known.get(name)), ask(name));
    const present = known.get(name);
    // What was learned while this look-up was under way is newer.
    if (present && present.at > asked.at) return present.value;
    if (value === null) known.delete(name);
    else keep(name, toFresh(value, asked));
    return value;
  }

  function peek(name: string): T | null {
    const last = known.get(name);
    if (!last || last.until <= now() || last.generation !== generation(name)) return null;
    refresh(last, { background, now }, () => askNow(name));
    return last.value;
  }

  async function lookUp(name: string): Promise<T | null> {
    const fresh = peek(name);
    if (fresh !== null) return fresh;
    const last = known.get(name);
    try {
      return await askNow(name);
    } catch (cause) {
      if (!canServe(last)) throw cause;
      const again = now() + RETRY_AFTER_MS;
      keep(name, { ...last, refreshAt: again, until: again, generation: generation(name) });
      return last.value;
    }
  }
  function learn(name: string, value: T, asked: Asked = { at: now(), generation: generation(name) }): void {
    if ((known.get(name)?.at ?? Number.NEGATIVE_INFINITY) <= asked.at) keep(name, toFresh(value, asked));
  }
  return Object.assign(lookUp, { peek, learn });
}
