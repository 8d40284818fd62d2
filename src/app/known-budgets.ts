/** What an isolate knows of tenants' budgets. It is asked on each model call, so what is fresh is answered without a step in between. */

import type { KnownBudgets } from "./budget-counters";
import type { Clock } from "./ports";

/** A new budget holds within this time. */
export const KNOWN_MS = 60_000;
/** While the tenant's object is out of reach the last known budgets hold, and it is asked again after this time. */
const RETRY_AFTER_MS = 5_000;

interface Deps {
  /** Null: there is no such tenant. */
  readonly ask: (tenant: string) => Promise<KnownBudgets | null>;
  readonly now: Clock;
  /** What was learned under another generation is looked up again. */
  readonly generation: (tenant: string) => number;
  /** The most tenants that are kept. The one that was looked up first leaves. */
  readonly max: number;
}

interface Entry {
  readonly known: KnownBudgets;
  readonly until: number;
  readonly generation: number;
}

export interface KnownBudgetsCache {
  peek(tenant: string): KnownBudgets | null;
  lookUp(tenant: string): Promise<KnownBudgets>;
  learn(tenant: string, known: KnownBudgets): void;
}

const NONE: KnownBudgets = { revision: 0, budgets: [] };

export function createKnownBudgets({ ask, now, generation, max }: Deps): KnownBudgetsCache {
  const entries = new Map<string, Entry>();

  function keep(tenant: string, entry: Entry): void {
    entries.delete(tenant);
    entries.set(tenant, entry);
    const [oldest] = entries.keys();
    if (entries.size > max && oldest !== undefined) entries.delete(oldest);
  }

  function peek(tenant: string): KnownBudgets | null {
    const entry = entries.get(tenant);
    return entry && entry.until > now() && entry.generation === generation(tenant) ? entry.known : null;
  }

  return {
    peek,
    learn: (tenant, known) => keep(tenant, { known, until: now() + KNOWN_MS, generation: generation(tenant) }),
    lookUp: async (tenant) => {
      const fresh = peek(tenant);
      if (fresh) return fresh;
      const before = { until: now() + KNOWN_MS, generation: generation(tenant) };
      try {
        const known = (await ask(tenant)) ?? NONE;
        keep(tenant, { known, ...before });
        return known;
      } catch (cause) {
        const last = entries.get(tenant);
        if (!last) throw cause;
        keep(tenant, { known: last.known, until: now() + RETRY_AFTER_MS, generation: generation(tenant) });
        return last.known;
      }
    },
  };
}
