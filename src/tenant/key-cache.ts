/**
 * What an isolate remembers of key look-ups, by hash. A revoked key is refused at the latest one `ttlMs` after its
 * last look-up. Look-ups under way are not shared: a Worker must not wait for another request's I/O.
 */
import type { Clock } from "../app/ports";
import type { Principal } from "../app/tenant-api";

/** How long a valid key's look-up holds: revocation takes effect within this time, in milliseconds. */
export const KEY_CACHE_TTL_MS = 30_000;
/** How long a refusal holds: short, it only takes the edge off a client that keeps trying. */
export const KEY_CACHE_NEGATIVE_TTL_MS = 5_000;

export interface KeyCache {
  /** The principal of the key with this hash, or null if there is none; `ask` is called when that is not known. Its throw is not remembered. */
  find(hash: string, ask: () => Promise<Principal | null>): Promise<Principal | null>;
}

interface Entry {
  readonly principal: Principal | null;
  readonly until: number;
}

interface Lru {
  get(key: string): Entry | undefined;
  set(key: string, entry: Entry): void;
  delete(key: string): void;
}

/** A Map keeps the order of insertion: what is used is put in again, what is first was used least recently. */
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

/** `max`: valid keys remembered, and as many refused ones, apart, so that a flood of bad keys pushes out no good one. */
export function createKeyCache({ ttlMs, max, now }: { readonly ttlMs: number; readonly max: number; readonly now: Clock }): KeyCache {
  const valid = createLru(max);
  const refused = createLru(max);

  /** A key's own expiry ends its entry too. Undefined: not known. */
  function recall(hash: string): Principal | null | undefined {
    const entry = valid.get(hash) ?? refused.get(hash);
    return entry && entry.until > now() ? entry.principal : undefined;
  }
  function remember(hash: string, principal: Principal | null, askedAt: number): void {
    valid.delete(hash);
    refused.delete(hash);
    if (!principal) refused.set(hash, { principal, until: askedAt + KEY_CACHE_NEGATIVE_TTL_MS });
    else valid.set(hash, { principal, until: Math.min(askedAt + ttlMs, principal.expires_at ?? Number.POSITIVE_INFINITY) });
  }
  return {
    find: async (hash, ask) => {
      const known = recall(hash);
      if (known !== undefined) return known;
      // The answer may be as old as the question: its time runs from there.
      const askedAt = now();
      const principal = await ask();
      remember(hash, principal, askedAt);
      return principal;
    },
  };
}
