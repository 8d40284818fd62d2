/**
 * An isolate's cache of key look-ups, by hash. A revoked key is refused at the latest `ttlMs` after its last look-up.
 * Concurrent look-ups are not shared: a Worker must not wait for another request's I/O.
 */
import type { Clock } from "../app/ports";
import type { Principal } from "../app/principal";
import type { TenantId } from "../domain/ids";

/** The time in milliseconds that a valid key's look-up is cached. Revocation takes effect within it. */
export const KEY_CACHE_TTL_MS = 30_000;
/** The time in milliseconds that a refusal is cached. It is short: it only slows a client that keeps trying. */
export const KEY_CACHE_NEGATIVE_TTL_MS = 5_000;

interface KeyCache {
  /**
   * The principal of the key with this hash; null when there is none. It calls `ask` when the cache has no answer. An
   * exception of `ask` is passed on and not cached.
   */
  find(hash: string, tenant: TenantId, ask: () => Promise<Principal | null>): Promise<Principal | null>;
}

interface Entry {
  readonly principal: Principal | null;
  readonly until: number;
  readonly generation: number;
}

/** The time and the generation of a look-up. */
interface Asked {
  readonly askedAt: number;
  readonly generation: number;
}

interface Lru {
  get(key: string): Entry | undefined;
  set(key: string, entry: Entry): void;
  delete(key: string): void;
}

/** An LRU cache. A Map keeps insertion order: each use inserts the entry again, so the first entry is the least recently used. */
function createLru(max: number): Lru {
  const entries = new Map<string, Entry>();
  function set(key: string, entry: Entry): void {
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
  readonly readGeneration?: (tenant: TenantId) => number;
}

/** `max` bounds the cached valid keys, and separately the refused ones, so that a flood of bad keys evicts no valid one. */
export function createKeyCache({ ttlMs, max, now, readGeneration = () => 0 }: KeyCacheDeps): KeyCache {
  const valid = createLru(max);
  const refused = createLru(max);

  /** The cached answer. An entry ends with its key's own expiry at the latest. Undefined: not cached. */
  function recall(hash: string): Principal | null | undefined {
    const entry = valid.get(hash) ?? refused.get(hash);
    if (!entry || entry.until <= now()) return undefined;
    const { principal, generation } = entry;
    return principal && generation !== readGeneration(principal.tenant) ? undefined : principal;
  }
  function remember(hash: string, principal: Principal | null, { askedAt, generation }: Asked): void {
    valid.delete(hash);
    refused.delete(hash);
    if (!principal) refused.set(hash, { principal, until: askedAt + KEY_CACHE_NEGATIVE_TTL_MS, generation });
    else valid.set(hash, { principal, until: Math.min(askedAt + ttlMs, principal.expires_at ?? Number.POSITIVE_INFINITY), generation });
  }
  return {
    find: async (hash, tenant, ask) => {
      const known = recall(hash);
      if (known !== undefined) return known;
      // The answer may be as old as the question, so its time runs from the question.
      const asked = { askedAt: now(), generation: readGeneration(tenant) };
      const principal = await ask();
      remember(hash, principal, asked);
      return principal;
    },
  };
}
