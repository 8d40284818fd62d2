/** Lists the limits of a caller with what is used of them. */
import { callSubject, requestSubject, windowEnd } from "../app/rate-grants";
import type { LimitedCaller } from "../app/tenant-limits-api";
import type { LimitUse } from "../contract/limit-use";
import type { Tenant } from "./core/tenant";

type Owner = LimitUse["of"];

/** What is counted for each kind of limit. Undefined: not here. */
function readUsed(tenant: Tenant, limit: string, { of, id, now }: { of: Owner; id: string; now: number }) {
  const { rates, slots, directory, files } = tenant;
  const isOfTenant = of === "tenant";
  if (limit === "requests_per_minute") return { used: rates.readGranted(requestSubject(of, id), now), resets_at: windowEnd(now) };
  if (limit === "model_calls_per_minute") return { used: rates.readGranted(callSubject(of, id), now), resets_at: windowEnd(now) };
  if (limit === "sessions" && isOfTenant) return { used: directory.count(), resets_at: null };
  if (limit === "sessions") return { used: directory.countForUser(tenant.digestEndUser(id)), resets_at: null };
  if (limit === "concurrent_turns") return { used: slots.readLeased({ what: "turns", of, id }, now), resets_at: null };
  if (limit === "concurrent_streams") return { used: slots.readLeased({ what: "streams", of, id }, now), resets_at: null };
  if (limit === "files") return { used: files.count().files, resets_at: null };
  if (limit === "stored_bytes") return { used: files.count().bytes, resets_at: null };
  return { used: null, resets_at: null };
}

export function listLimitUse(tenant: Tenant, { key, end_user }: LimitedCaller, now: number): readonly LimitUse[] {
  const limits = tenant.limits.read();
  if (!limits) return [];
  // What the tenant and its key use in all is not an end user's to read.
  const owners: readonly (readonly [Owner, string])[] =
    end_user === null
      ? [
          ["tenant", ""],
          ["key", key],
        ]
      : [["end_user", end_user]];
  return owners.flatMap(([of, id]) =>
    Object.entries(limits[of]).flatMap(([limit, max]) =>
      max == null ? [] : [{ of, limit, max, ...readUsed(tenant, limit, { of, id, now }) }],
    ),
  );
}
