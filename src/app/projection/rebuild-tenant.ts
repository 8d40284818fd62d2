/** A tenant's own row and its models', compared with what its object says and written again by it where they differ. */
import type { TenantId } from "../../domain/ids";
import { ok } from "../../lib/result";
import { countRows, diffRows, type RowDifference } from "../diff-rows";
import type { TenantMaintenance, TenantOutcome, TenantRows } from "../tenant-api";

export interface TenantRebuildReport {
  readonly tenant: TenantId;
  /** What was wrong, or not there yet: rows follow a change within seconds. */
  readonly differences: readonly RowDifference[];
  /** Nothing is wrong now. */
  readonly repaired: boolean;
  readonly rows: number;
}

/** Throws what D1 throws; that there is no such tenant is a value. `object`: asked anew at each call. */
export async function rebuildTenant(
  { object, rows }: { readonly object: () => TenantMaintenance; readonly rows: TenantRows },
  tenant: TenantId,
): Promise<TenantOutcome<TenantRebuildReport>> {
  const before = await compare({ object, rows }, tenant);
  if (!before.ok) return before;
  const { differences } = before.value;
  if (differences.length === 0) return ok({ tenant, differences, repaired: true, rows: before.value.rows });
  const written = await object().projectAgain();
  if (!written.ok) return written;
  const after = await compare({ object, rows }, tenant);
  if (!after.ok) return after;
  return ok({ tenant, differences, repaired: after.value.differences.length === 0, rows: after.value.rows });
}

async function compare(
  { object, rows }: { readonly object: () => TenantMaintenance; readonly rows: TenantRows },
  tenant: TenantId,
): Promise<TenantOutcome<{ readonly differences: readonly RowDifference[]; readonly rows: number }>> {
  const exported = await object().exportTenant();
  if (!exported.ok) return exported;
  const found = await rows.read(tenant);
  return ok({ differences: diffRows(rows.expect(exported.value), found), rows: countRows(found) });
}
