/**
 * What an isolate knows of what tenants' endpoints want, so that a turn asks no tenant's object. "Nothing" holds only for what was committed
 * before the question: a session keeps what is newer until another answer, so that an endpoint misses nothing that follows its creation.
 */

import type { KnownInterest } from "./announcement-ports";
import { refresh, setNewest } from "./known-answers";
import type { Background, Clock } from "./ports";

/** An endpoint is heard of within this time. */
export const INTEREST_MS = 60_000;
/** From then on one session asks again beside the others, so that not all of them ask at once when the time is over. */
const REFRESH_AFTER_MS = INTEREST_MS / 2;

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
  /** Whether `peek` would answer. Nothing is asked for. */
  isKnown(tenant: string): boolean;
  /** Takes over an answer that came another way. `mark`: of before the question, as `at` and `generation`. */
  learn(tenant: string, types: readonly string[], asked: { readonly mark: number; readonly at: number; readonly generation: number }): void;
}

export function createKnownInterest({ ask, now, generation, max, background }: Deps): KnownInterestCache {
  const entries = new Map<string, Entry>();
  let marks = 0;
  const mark = (): number => ++marks;

  const learn: KnownInterestCache["learn"] = (tenant, types, { mark: asked, at, generation: seen }) => {
    const entry = { types, asked, until: at + INTEREST_MS, refreshAt: at + REFRESH_AFTER_MS, generation: seen };
    // A later question may have been answered first.
    if ((entries.get(tenant)?.asked ?? 0) < asked) setNewest(entries, [tenant, entry], max);
  };
  async function askNow(tenant: string): Promise<KnownInterest> {
    const asked = { at: now(), mark: mark(), generation: generation(tenant) };
    const types = (await ask(tenant)) ?? [];
    learn(tenant, types, asked);
    return { types, asked: asked.mark };
  }
  function findFresh(tenant: string): Entry | null {
    const entry = entries.get(tenant);
    return entry && entry.until > now() && entry.generation === generation(tenant) ? entry : null;
  }
  function peek(tenant: string): KnownInterest | null {
    const entry = findFresh(tenant);
    if (entry) refresh(entry, { background, now }, () => askNow(tenant));
    return entry;
  }
  return { mark, peek, isKnown: (tenant) => findFresh(tenant) !== null, learn, lookUp: async (tenant) => peek(tenant) ?? askNow(tenant) };
}
