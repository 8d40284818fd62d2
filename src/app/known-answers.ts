/** What the caches of answers of a tenant's object share: they keep the newest, and ask again beside the caller that they answer from memory. */
import type { Background, Clock } from "./ports";

/**
 * The time in milliseconds that the last known answer serves after a failed look-up, before the tenant's object is asked again. A look-up in
 * the background is given up after it: the request that it belonged to may be gone.
 */
export const RETRY_AFTER_MS = 5_000;

/** The newest entry is the last one. Past `max`, the first one leaves. */
export function setNewest<K, V>(entries: Map<K, V>, [key, value]: readonly [K, V], max = Number.POSITIVE_INFINITY): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > max && oldest !== undefined) entries.delete(oldest);
}

interface Beside {
  /** Absent: an answer is asked for again only when its time is over. */
  readonly background: Background | undefined;
  readonly now: Clock;
}

/** Asks again without making a caller wait, when the answer is due: the first caller of many. */
export function refresh(known: { refreshAt: number }, { background, now }: Beside, askNow: () => Promise<unknown>): void {
  if (!background || known.refreshAt > now()) return;
  known.refreshAt = now() + RETRY_AFTER_MS;
  background(askNow().catch(() => null));
}
