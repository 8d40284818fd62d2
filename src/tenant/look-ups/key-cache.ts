/**
 * An isolate's cache of key look-ups, by hash. A revoked key is refused at the latest `ttlMs` after its last look-up. From half of that time
 * on, one request asks again in the background, so a key in constant use is never waited for. While its owner's object fails or hangs, a key that was
 * valid opens for `LAST_ANSWER_MS`, as all look-ups serve, unless this isolate knows of a change since. Concurrent look-ups are not shared: a
 * Worker must not wait for another request's I/O.
 */
import { RETRY_AFTER_MS, refresh, setNewest } from "../../app/known-answers";
import type { Background, Clock } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import { type Asked, LAST_ANSWER_MS, limitLookUp, REFRESH_AFTER } from "./look-up-cache";

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
   * exception of `ask` is passed on where the key was not known to be valid. `owner`: the tenant, or other owner of keys, whose changes end what is cached.
   */
  find(hash: string, owner: string, ask: () => Promise<H | null>): Promise<H | null>;
}

interface Entry<H> extends Asked {
  readonly holder: H | null;
  /** When the next request asks again in the background. */
  refreshAt: number;
  until: number;
}

interface KeyCacheDeps {
  readonly ttlMs: number;
  readonly max: number;
  readonly now: Clock;
  /** An answer that was cached under another generation is asked for again. Absent: only time decides. */
  readonly readGeneration?: (owner: string) => number;
  /** Keeps a look-up alive beside its request. Absent: a key is asked for again only when its time is over. */
  readonly background?: Background;
  /** Absent: a look-up has no time limit here. */
  readonly schedule?: Schedule;
}

/** `max` bounds the cached valid keys, and separately the refused ones, so that a flood of bad keys evicts no valid one. */
export function createKeyCache<H extends Holder>(deps: KeyCacheDeps): KeyCache<H> {
  const { ttlMs, max, now, readGeneration = () => 0, background, schedule } = deps;
  const valid = new Map<string, Entry<H>>();
  const refused = new Map<string, Entry<H>>();

  const isCurrent = ({ holder, generation }: Entry<H>, owner: string): boolean => holder === null || generation === readGeneration(owner);
  /** A key ends with its own expiry at the latest. */
  const toEnd = (holder: H | null, end: number): number => Math.min(end, holder?.expires_at ?? Number.POSITIVE_INFINITY);

  /** Each use makes an entry the newest, so that the one that was used longest ago leaves. */
  function findKnown(hash: string): Entry<H> | undefined {
    const entries = valid.has(hash) ? valid : refused;
    const entry = entries.get(hash);
    if (entry) setNewest(entries, [hash, entry], max);
    return entry;
  }
  function remember(hash: string, holder: H | null, asked: Asked): void {
    valid.delete(hash);
    refused.delete(hash);
    const isServed = holder !== null && !holder.suspended;
    const until = toEnd(holder, asked.at + (isServed ? ttlMs : KEY_CACHE_NEGATIVE_TTL_MS));
    const refreshAt = isServed ? asked.at + ttlMs * REFRESH_AFTER : until;
    setNewest(holder ? valid : refused, [hash, { ...asked, holder, refreshAt, until }], max);
  }
  /** The entry of a key that may open while its owner's object is out of reach. */
  const canServe = (entry: Entry<H> | undefined, owner: string): entry is Entry<H> & { readonly holder: H } =>
    entry?.holder != null && isCurrent(entry, owner) && toEnd(entry.holder, entry.at + LAST_ANSWER_MS) > now();

  async function askNow(hash: string, owner: string, { ask, last }: { readonly ask: () => Promise<H | null>; readonly last: boolean }) {
    // The answer may be as old as the question, so its time runs from the question.
    const asked = { at: now(), generation: readGeneration(owner) };
    const holder = await limitLookUp(schedule, last, ask());
    remember(hash, holder, asked);
    return holder;
  }
  return {
    find: async (hash, owner, ask) => {
      const known = findKnown(hash);
      if (known && known.until > now() && isCurrent(known, owner)) {
        refresh(known, { background, now }, () => askNow(hash, owner, { ask, last: true }));
        return known.holder;
      }
      const last = canServe(known, owner) ? known : null;
      try {
        return await askNow(hash, owner, { ask, last: last !== null });
      } catch (cause) {
        if (!last) throw cause;
        last.refreshAt = now() + RETRY_AFTER_MS;
        last.until = toEnd(last.holder, last.refreshAt);
        return last.holder;
      }
    },
  };
}
