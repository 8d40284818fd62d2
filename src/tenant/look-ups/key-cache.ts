/**
 * An isolate's cache of key look-ups, by hash. A revoked key is refused at the latest `ttlMs` after its last look-up. From half of that time
 * on, one request asks again in the background, so a key in constant use is never waited for. Concurrent look-ups are not shared: a Worker must not wait for another request's I/O.
 */
import type { Background, Clock } from "../../app/ports";
import { REFRESH_AFTER, RETRY_AFTER_MS } from "./look-up-cache";

/** The time in milliseconds that a valid key's look-up is cached. Revocation takes effect within it. */
export const KEY_CACHE_TTL_MS = 30_000;
/** The time in milliseconds that a refusal is cached. It is short: it only slows a client that keeps trying. */
export const KEY_CACHE_NEGATIVE_TTL_MS = 5_000;

/** Who has a key. */
interface Holder {
  readonly expires_at: number | null;
  /** The key opens nothing for now: cached as shortly as a refusal. */
  readonly suspended?: true;
}

interface KeyCache<H extends Holder> {
  /**
   * The holder of the key with this hash; null when there is none. It calls `ask` when the cache has no answer. An
   * exception of `ask` is passed on and not cached. `owner`: the tenant, or other owner of keys, whose changes end what is cached.
   */
  find(hash: string, owner: string, ask: () => Promise<H | null>): Promise<H | null>;
}

interface Entry<H> {
  readonly holder: H | null;
  /** When the next request asks again in the background. */
  refreshAt: number;
  readonly until: number;
  readonly generation: number;
}

/** The time and the generation of a look-up. */
interface Asked {
  readonly askedAt: number;
  readonly generation: number;
}

interface Lru<H> {
  get(key: string): Entry<H> | undefined;
  set(key: string, entry: Entry<H>): void;
  delete(key: string): void;
}

/** An LRU cache. A Map keeps insertion order: each use inserts the entry again, so the first entry is the least recently used. */
function createLru<H>(max: number): Lru<H> {
  const entries = new Map<string, Entry<H>>();
  function set(key: string, entry: Entry<H>): void {
    entries.delete(key);
    entries.set(key, entry);
    const oldest = entries.keys().next();
    if (entries.size > max && !oldest.done) entries.delete(oldest.value);
  }
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (entry) set(key, entry);
      return entry;
    },
    set,
    delete: (key) => {
      entries.delete(key);
    },
  };
}

interface KeyCacheDeps {
  readonly ttlMs: number;
  readonly max: number;
  readonly now: Clock;
  /** An answer that was cached under another generation is asked for again. Absent: only time decides. */
  readonly readGeneration?: (owner: string) => number;
  /** Keeps a look-up alive beside its request. Absent: a key is asked for again only when its time is over. */
  readonly background?: Background;
}

/** `max` bounds the cached valid keys, and separately the refused ones, so that a flood of bad keys evicts no valid one. */
export function createKeyCache<H extends Holder>(deps: KeyCacheDeps): KeyCache<H> {
  const { ttlMs, max, now, readGeneration = () => 0, background } = deps;
  const valid = createLru<H>(max);
  const refused = createLru<H>(max);

  /** An entry ends with its key's own expiry at the latest. Undefined: not cached. */
  function recall(hash: string, owner: string): Entry<H> | undefined {
    const entry = valid.get(hash) ?? refused.get(hash);
    if (!entry || entry.until <= now()) return undefined;
    return entry.holder && entry.generation !== readGeneration(owner) ? undefined : entry;
  }
  function remember(hash: string, holder: H | null, { askedAt, generation }: Asked): void {
    valid.delete(hash);
    refused.delete(hash);
    const isServed = holder !== null && !holder.suspended;
    const until = Math.min(askedAt + (isServed ? ttlMs : KEY_CACHE_NEGATIVE_TTL_MS), holder?.expires_at ?? Number.POSITIVE_INFINITY);
    const refreshAt = isServed ? askedAt + ttlMs * REFRESH_AFTER : until;
    (holder ? valid : refused).set(hash, { holder, refreshAt, until, generation });
  }
  return {
    find: async (hash, owner, ask) => {
      async function askNow(): Promise<H | null> {
        // The answer may be as old as the question, so its time runs from the question.
        const asked = { askedAt: now(), generation: readGeneration(owner) };
        const holder = await ask();
        remember(hash, holder, asked);
        return holder;
      }
      const known = recall(hash, owner);
      if (!known) return askNow();
      if (background && known.refreshAt <= now()) {
        known.refreshAt = now() + RETRY_AFTER_MS;
        background(askNow().catch(() => null));
      }
      return known.holder;
    },
  };
}
