/**
 * A session's cache of look-ups in its tenant's object, so that chat goes on while that object is out of reach. It
 * answers from memory for `ttlMs`, then asks again. When that fails it returns the last known answer, however old. It
 * throws only for names that it has never seen. A missing entry is not cached: it may be added at any moment.
 */
import type { Clock } from "../app/ports";

/** The time in milliseconds that an answer is cached. A change takes effect within it. */
export const LOOK_UP_TTL_MS = 30_000;
/** The time in milliseconds that the last known answer serves after a failed look-up, before the tenant's object is asked again. */
const RETRY_AFTER_MS = 5_000;

interface LookUpCacheDeps<T> {
  /** Null when there is no entry of that name. */
  readonly ask: (name: string) => Promise<T | null>;
  readonly now: Clock;
  readonly ttlMs?: number;
  /** An answer that was cached under another generation is asked for again. Absent: only time decides. */
  readonly generation?: (name: string) => number;
  /** The most answers that are kept; the ones that were asked for first leave. Absent: the caller has few names. */
  readonly max?: number;
}

interface Known<T> {
  readonly value: T;
  readonly until: number;
  readonly generation: number;
}

export type LookUp<T> = (name: string) => Promise<T | null>;

export function createLookUpCache<T>({ ask, now, ttlMs = LOOK_UP_TTL_MS, generation = () => 0, max }: LookUpCacheDeps<T>): LookUp<T> {
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
    else keep(name, { value, until: askedAt + ttlMs, generation: asked });
    return value;
  }
  return async (name) => {
    const last = known.get(name);
    if (last && last.until > now() && last.generation === generation(name)) return last.value;
    try {
      return await askNow(name);
    } catch (cause) {
      if (!last) throw cause;
      keep(name, { value: last.value, until: now() + RETRY_AFTER_MS, generation: generation(name) });
      return last.value;
    }
  };
}
