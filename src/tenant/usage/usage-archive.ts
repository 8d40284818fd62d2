/** A session's access to the ledger of erased sessions, which its tenant's object keeps. */
import type { UsageArchive } from "../../app/ports";
import type { TenantApi } from "../../app/tenant-api";

/** `stub` must make a fresh stub for each call. */
export function createUsageArchive(stub: Pick<TenantApi, "keepUsage" | "endThrowaway">): UsageArchive {
  return {
    keep: async (session, usage, cause) => {
      const kept = await stub.keepUsage({ session, usage, ...(cause && { cause }) });
      // A tenant that was never created has no ledger.
      return kept.ok ? kept.value : [];
    },
    endThrowaway: async (session, usage) => void (await stub.endThrowaway({ session, usage })),
  };
}
