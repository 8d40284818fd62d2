/** The tenant's object as an erased session reaches it: the real store over SQLite, sometimes unreachable, or with lost responses. */
import { isDeepStrictEqual } from "node:util";
import type { UsageArchive } from "../../src/app/ports";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import type { SessionId } from "../../src/domain/ids";
import type { SyncSql } from "../../src/lib/sync-sql";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { NAMES } from "../tenant/support";
import type { Scope } from "./scheduler";
import type { World } from "./world";

type Watched = Pick<World, "scheduler" | "profile" | "violations" | "tenantSql">;

export class SimArchive {
  readonly sql: SyncSql;
  readonly #store: ReturnType<typeof createErasedUsage>;
  /** The totals that the session sent first. */
  handed: readonly ErasedUsage[] = [];
  /** Notes the erasure in the transaction that stores the sums. */
  noteBegun: (session: SessionId) => void = () => {};

  readonly world: Watched;

  constructor(world: Watched) {
    this.world = world;
    this.sql = world.tenantSql;
    this.#store = createErasedUsage(this.sql, NAMES);
  }

  for(scope: Scope): UsageArchive {
    return { ...this.#erased(scope), endThrowaway: async () => {} };
  }

  #erased(scope: Scope): Pick<UsageArchive, "keep"> {
    const { scheduler, profile, violations } = this.world;
    return {
      keep: async (session, usage) => {
        const same = usage.length === 0 || this.handed.length === 0 || isDeepStrictEqual(usage, this.handed);
        violations.check(same, "I17", () => "an erased session hands over two different ledgers");
        let kept: readonly ErasedUsage[] | null = null;
        const effect = (): void => {
          const fails = scheduler.random.chance(profile.d1Fails);
          if (fails && scheduler.random.chance(0.5)) return;
          if (usage.length > 0) this.handed = usage;
          const taken = this.sql.transaction(() => {
            this.noteBegun(session);
            return this.#store.keep(session, usage);
          });
          if (!fails) kept = taken;
        };
        await scheduler.gate(scope, "tenant's object", { effect, weight: 2 });
        if (kept) return kept;
        return scheduler.goWrong("the tenant's object is out of reach");
      },
    };
  }
}
