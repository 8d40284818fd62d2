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

interface LookUpCacheDeps<T> {
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
  /** When the next caller asks again in the background. */
  refreshAt: number;
  readonly until: number;
  readonly generation: number;
}

export type LookUp<T> = (name: string) => Promise<T | null>;

export function createLookUpCache<T>(deps: LookUpCacheDeps<T>): LookUp<T> {
  const { ask, now, ttlMs = LOOK_UP_TTL_MS, generation = () => 0, max, background } = deps;
  const known = new Map<string, Known<T>>();

  function keep(name: string, answer: Known<T>): void {
    known.delete(name);
    known.set(name, answer);
    const [oldest] = known.keys();
    if (max !== undefined && known.size > max && oldest !== undefined) known.delete(oldest);
  }

  async function askNow(name: string): Promise<T | null> {
    const askedAt = now();
    const asked = generation(name);
    const value = await ask(name);
    if (value === null) known.delete(name);
    else keep(name, { value, refreshAt: askedAt + ttlMs * REFRESH_AFTER, until: askedAt + ttlMs, generation: asked });
    return value;
  }

  /** Asks without making the caller wait. What is known serves until the answer comes. */
  function refresh(name: string, last: Known<T>): void {
    if (!background || last.refreshAt > now()) return;
    last.refreshAt = now() + RETRY_AFTER_MS;
    background(askNow(name).catch(() => null));
  }
  return async (name) => {
    const last = known.get(name);
    if (last && last.until > now() && last.generation === generation(name)) {
      refresh(name, last);
      return last.value;
    }
    try {
      return await askNow(name);
    } catch (cause) {
      if (!last) throw cause;
      const again = now() + RETRY_AFTER_MS;
      keep(name, { value: last.value, refreshAt: again, until: again, generation: generation(name) });
      return last.value;
    }
  };
}
