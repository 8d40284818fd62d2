/**
 * What an isolate remembers of key look-ups, by hash. A revoked key is refused at the latest one `ttlMs` after its
 * last look-up. Look-ups under way are not shared: a Worker must not wait for another request's I/O.
 */
import type { Clock } from "../app/ports";
import type { Principal } from "../app/tenant-api";
import type { TenantId } from "../domain/ids";

/** How long a valid key's look-up holds: revocation takes effect within this time, in milliseconds. */
export const KEY_CACHE_TTL_MS = 30_000;
/** How long a refusal holds: short, it only takes the edge off a client that keeps trying. */
export const KEY_CACHE_NEGATIVE_TTL_MS = 5_000;

interface KeyCache {
  /** The principal of the key with this hash, or null if there is none; `ask` is called when that is not known. Its throw is not remembered. */
  find(hash: string, tenant: TenantId, ask: () => Promise<Principal | null>): Promise<Principal | null>;
}

interface Entry {
  readonly principal: Principal | null;
  readonly until: number;
  readonly generation: number;
}

/** When, and under which generation, the tenant was asked. */
interface Asked {
  readonly askedAt: number;
  readonly generation: number;
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

interface KeyCacheDeps {
  readonly ttlMs: number;
  readonly max: number;
  readonly now: Clock;
  /** What was remembered of a tenant's key under another one is asked for again; absent: time alone decides. */
  readonly generationOf?: (tenant: TenantId) => number;
}

/** `max`: valid keys remembered, and as many refused ones, apart, so that a flood of bad keys pushes out no good one. */
export function createKeyCache({ ttlMs, max, now, generationOf = () => 0 }: KeyCacheDeps): KeyCache {
  const valid = createLru(max);
  const refused = createLru(max);

  /** A key's own expiry ends its entry too. Undefined: not known. */
  function recall(hash: string): Principal | null | undefined {
    const entry = valid.get(hash) ?? refused.get(hash);
    if (!entry || entry.until <= now()) return undefined;
    const { principal, generation } = entry;
    return principal && generation !== generationOf(principal.tenant) ? undefined : principal;
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
      // The answer may be as old as the question: its time runs from there.
      const asked = { askedAt: now(), generation: generationOf(tenant) };
      const principal = await ask();
      remember(hash, principal, asked);
      return principal;
    },
  };
}
