/** A session's way to the part of its tenant's object that outlives it: the ledger of erased sessions. */
import type { UsageArchive } from "../app/ports";
import type { TenantApi } from "../app/tenant-api";

/** `stub`: an object that gets a fresh stub for each call. */
export function createUsageArchive(stub: Pick<TenantApi, "keepUsage">): UsageArchive {
  return {
    keep: async (session, usage) => {
      const kept = await stub.keepUsage({ session, usage });
      // A tenant that was never created has no ledger, and no one to bill.
      return kept.ok ? kept.value : [];
    },
  };
}
