/**
 * What a session remembers of its tenant's object, so that chat goes on while that object is out of reach. It answers
 * from memory for `ttlMs`, then asks again; if that fails, the last known answer stands, however old. It throws only
 * for what it never saw. What is not there is not remembered: it may be added in the next moment.
 */
import type { Clock } from "../app/ports";

/** How long an answer holds: a change takes effect within this time, in milliseconds. */
export const LOOK_UP_TTL_MS = 30_000;
/** How long the last known answer serves after a failed look-up before the tenant's object is asked again. */
const RETRY_AFTER_MS = 5_000;

interface LookUpCacheDeps<T> {
  /** Null: there is none of that name. */
  readonly ask: (name: string) => Promise<T | null>;
  readonly now: Clock;
  readonly ttlMs?: number;
  /** What was remembered under another one is asked for again; absent: time alone decides. */
  readonly generation?: () => number;
}

export type LookUp<T> = (name: string) => Promise<T | null>;

export function createLookUpCache<T>({ ask, now, ttlMs = LOOK_UP_TTL_MS, generation = () => 0 }: LookUpCacheDeps<T>): LookUp<T> {
  const known = new Map<string, { readonly value: T; readonly until: number; readonly generation: number }>();

  async function askNow(name: string): Promise<T | null> {
    const askedAt = now();
    const asked = generation();
    const value = await ask(name);
    if (value === null) known.delete(name);
    else known.set(name, { value, until: askedAt + ttlMs, generation: asked });
    return value;
  }
  return async (name) => {
    const last = known.get(name);
    if (last && last.until > now() && last.generation === generation()) return last.value;
    try {
      return await askNow(name);
    } catch (cause) {
      if (!last) throw cause;
      known.set(name, { value: last.value, until: now() + RETRY_AFTER_MS, generation: generation() });
      return last.value;
    }
  };
}
