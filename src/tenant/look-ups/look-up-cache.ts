/**
 * A cache of look-ups in a tenant's object, so that chat goes on while that object is out of reach, and waits for it as rarely as can be. It
 * answers from memory for `ttlMs`. From half of that time on, one caller asks again in the background, so a name in constant use is never
 * waited for. Once the time is over the caller waits. When that look-up fails it returns the last known answer, however old. It throws only
 * for names that it has never seen. A missing entry is not cached: it may be added at any moment.
 */
import type { Background, Clock } from "../../app/ports";

/** The time in milliseconds that an answer is cached. A change takes effect within it. */
export const LOOK_UP_TTL_MS = 30_000;
/** The part of its time after which an answer is asked for again in the background. */
export const REFRESH_AFTER = 0.5;
/**
 * The time in milliseconds that the last known answer serves after a failed look-up, before the tenant's object is asked again. A look-up in
 * the background is given up after it: the request that it belonged to may be gone.
 */
export const RETRY_AFTER_MS = 5_000;

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
}

interface Known<T> {
  readonly value: T;
  /** When it was asked for. */
  readonly at: number;
  /** When the next caller asks again in the background. */
  refreshAt: number;
  readonly until: number;
  readonly generation: number;
}

export type LookUp<T> = (name: string) => Promise<T | null>;

/** A look-up whose callers may also take or bring an answer without waiting. */
export interface LookUpCache<T> extends LookUp<T> {
  /** What is known and fresh. It is asked for again in the background as by a look-up. */
  peek(name: string): T | null;
  /** Keeps an answer that came another way. */
  learn(name: string, value: T): void;
}

export function createLookUpCache<T>(deps: LookUpCacheDeps<T>): LookUpCache<T> {
  const { ask, now, ttlMs = LOOK_UP_TTL_MS, generation = () => 0, max, background } = deps;
  const known = new Map<string, Known<T>>();

  function keep(name: string, answer: Known<T>): void {
    known.delete(name);
    known.set(name, answer);
    const [oldest] = known.keys();
    if (max !== undefined && known.size > max && oldest !== undefined) known.delete(oldest);
  }

  const toFresh = (value: T, { at, generation: seen }: { readonly at: number; readonly generation: number }): Known<T> => ({
    value,
    at,
    refreshAt: at + ttlMs * REFRESH_AFTER,
    until: at + ttlMs,
    generation: seen,
  });

  async function askNow(name: string): Promise<T | null> {
    const asked = { at: now(), generation: generation(name) };
    const value = await ask(name);
    const present = known.get(name);
    // What was learned while this look-up was under way is newer.
    if (present && present.at > asked.at) return present.value;
    if (value === null) known.delete(name);
    else keep(name, toFresh(value, asked));
    return value;
  }

  /** Asks without making the caller wait. What is known serves until the answer comes. */
  function refresh(name: string, last: Known<T>): void {
    if (!background || last.refreshAt > now()) return;
    last.refreshAt = now() + RETRY_AFTER_MS;
    background(askNow(name).catch(() => null));
  }

  function peek(name: string): T | null {
    const last = known.get(name);
    if (!last || last.until <= now() || last.generation !== generation(name)) return null;
    refresh(name, last);
    return last.value;
  }

  async function lookUp(name: string): Promise<T | null> {
    const fresh = peek(name);
    if (fresh !== null) return fresh;
    const last = known.get(name);
    try {
      return await askNow(name);
    } catch (cause) {
      if (!last) throw cause;
      const again = now() + RETRY_AFTER_MS;
      keep(name, { ...last, refreshAt: again, until: again, generation: generation(name) });
      return last.value;
    }
  }
  const learn = (name: string, value: T): void => keep(name, toFresh(value, { at: now(), generation: generation(name) }));
  return Object.assign(lookUp, { peek, learn });
}
