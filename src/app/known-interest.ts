/**
 * What an isolate knows of what tenants' endpoints want, so that a turn asks no tenant's object. "Nothing" holds only for what was committed
 * before the question: a session keeps what is newer until another answer, so that an endpoint misses nothing that follows its creation.
 */

import type { KnownInterest } from "./announcement-ports";
import type { Clock } from "./ports";

/** An endpoint is heard of within this time. */
export const INTEREST_MS = 60_000;

interface Deps {
  /** The types that are wanted. Null: there is no such tenant. */
  readonly ask: (tenant: string) => Promise<readonly string[] | null>;
  readonly now: Clock;
  /** What was learned under another generation is asked for again. */
  readonly generation: (tenant: string) => number;
  /** The most tenants that are kept. The one that was asked for first leaves. */
  readonly max: number;
}

interface Entry extends KnownInterest {
  readonly until: number;
  readonly generation: number;
}

export interface KnownInterestCache {
  mark(): number;
  peek(tenant: string): KnownInterest | null;
  lookUp(tenant: string): Promise<KnownInterest>;
}

export function createKnownInterest({ ask, now, generation, max }: Deps): KnownInterestCache {
  const entries = new Map<string, Entry>();
  let marks = 0;
  const mark = (): number => ++marks;

  function keep(tenant: string, entry: Entry): void {
    entries.delete(tenant);
    entries.set(tenant, entry);
    const [oldest] = entries.keys();
    if (entries.size > max && oldest !== undefined) entries.delete(oldest);
  }
  function peek(tenant: string): KnownInterest | null {
    const entry = entries.get(tenant);
    return entry && entry.until > now() && entry.generation === generation(tenant) ? entry : null;
  }
  return {
    mark,
    peek,
    lookUp: async (tenant) => {
      const fresh = peek(tenant);
      if (fresh) return fresh;
      const before = { asked: mark(), until: now() + INTEREST_MS, generation: generation(tenant) };
      const entry = { types: (await ask(tenant)) ?? [], ...before };
      keep(tenant, entry);
      return entry;
    },
  };
}
