/**
 * What an isolate knows of what tenants' endpoints want, so that a turn asks no tenant's object. "Nothing" holds only for what was committed
 * before the question: a session keeps what is newer until another answer, so that an endpoint misses nothing that follows its creation.
 */

import type { KnownInterest } from "./announcement-ports";
import type { Background, Clock } from "./ports";

/** An endpoint is heard of within this time. */
export const INTEREST_MS = 60_000;
/** From then on one session asks again beside the others, so that not all of them ask at once when the time is over. */
const REFRESH_AFTER_MS = INTEREST_MS / 2;
const RETRY_AFTER_MS = 5_000;

interface Deps {
  /** The types that are wanted. Null: there is no such tenant. */
  readonly ask: (tenant: string) => Promise<readonly string[] | null>;
  readonly now: Clock;
  /** What was learned under another generation is asked for again. */
  readonly generation: (tenant: string) => number;
  /** The most tenants that are kept. The one that was asked for first leaves. */
  readonly max: number;
  /** Keeps a look-up alive beside its caller. Absent: an answer is asked for again only when its time is over. */
  readonly background?: Background;
}

interface Entry extends KnownInterest {
  readonly until: number;
  refreshAt: number;
  readonly generation: number;
}

export interface KnownInterestCache {
  mark(): number;
  peek(tenant: string): KnownInterest | null;
  lookUp(tenant: string): Promise<KnownInterest>;
}

export function createKnownInterest({ ask, now, generation, max, background }: Deps): KnownInterestCache {
  const entries = new Map<string, Entry>();
  let marks = 0;
  const mark = (): number => ++marks;

  function keep(tenant: string, entry: Entry): void {
    entries.delete(tenant);
    entries.set(tenant, entry);
    const [oldest] = entries.keys();
    if (entries.size > max && oldest !== undefined) entries.delete(oldest);
  }
  async function askNow(tenant: string): Promise<KnownInterest> {
    const at = now();
    const before = { asked: mark(), until: at + INTEREST_MS, refreshAt: at + REFRESH_AFTER_MS, generation: generation(tenant) };
    const entry = { types: (await ask(tenant)) ?? [], ...before };
    // A later question may have been answered first.
    if ((entries.get(tenant)?.asked ?? 0) < entry.asked) keep(tenant, entry);
    return entry;
  }
  function peek(tenant: string): KnownInterest | null {
    const entry = entries.get(tenant);
    if (!entry || entry.until <= now() || entry.generation !== generation(tenant)) return null;
    if (background && entry.refreshAt <= now()) {
      entry.refreshAt = now() + RETRY_AFTER_MS;
      background(askNow(tenant).catch(() => null));
    }
    return entry;
  }
  return { mark, peek, lookUp: async (tenant) => peek(tenant) ?? askNow(tenant) };
}
