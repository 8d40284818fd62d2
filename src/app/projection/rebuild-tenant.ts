/**
 * Compares a tenant's row, its models' rows and the usage of its erased sessions with what its object says. The object itself rewrites rows
 * that can change. The usage of erased sessions is written here: it never changes, but for the newest sums of requests without a session,
 * which the object sends again.
 */

import type { RowDifference, TenantRebuildReport } from "../../contract/rebuild";
import type { SessionId, TenantId } from "../../domain/ids";
import { ok } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import type { Act } from "../audit-chain";
import { countRows, diffRows } from "../diff-rows";
import type { ErasedSessionUsage, TenantMaintenance, TenantOutcome } from "../tenant-api";
import type { TenantRows } from "../tenant-rows";

/** Throws D1's errors; a missing tenant is an error value. `object`: called anew for each request to the tenant's object. */
export async function rebuildTenant(
  { object, rows, act }: Ports & { readonly act: Act },
  tenant: TenantId,
): Promise<TenantOutcome<TenantRebuildReport>> {
  const before = await compare({ object, rows }, tenant);
  if (!before.ok) return before;
  const bounded = await boundUsage({ object, rows }, tenant);
  if (!bounded.ok) return bounded;
  const usage = await repairUsage({ object, rows }, tenant);
  if (!usage.ok) return usage;
  const differences = [...before.value.differences, ...usage.value.differences];
  if (before.value.differences.length === 0)
    return ok({ tenant_id: tenant, differences, repaired: true, rows: before.value.rows + usage.value.rows });
  const written = await object().projectAgain(act);
  if (!written.ok) return written;
  const after = await compare({ object, rows }, tenant);
  if (!after.ok) return after;
  return ok({ tenant_id: tenant, differences, repaired: after.value.differences.length === 0, rows: after.value.rows + usage.value.rows });
}

/** Parts of the old usage that one rebuild removes. What is left is in no sum, and the next one removes more. */
const REMOVED_PARTS = 20;

/** Sets the bound of the tenant's usage, before its rows are compared and before those of its sessions are copied. */
async function boundUsage({ object, rows }: Ports, tenant: TenantId): Promise<TenantOutcome<null>> {
  const before = await object().usageBound();
  if (!before.ok) return before;
  if (before.value === null) return ok(null);
  for (let part = 0; part < REMOVED_PARTS; part++) {
    if (await rows.removeUsage({ tenant, before: before.value })) break;
    await giveWay();
  }
  return ok(null);
}

/** Erased sessions in one page. Most of them have a row or two. */
const PAGE_SESSIONS = 200;

/**
 * Corrects the usage of all erased sessions, page by page. Throws if a page could not be written: pages before it stay written, and the
 * next rebuild continues.
 */
async function repairUsage({ object, rows }: Ports, tenant: TenantId): Promise<TenantOutcome<Compared>> {
  const differences: RowDifference[] = [];
  let seen = 0;
  for (let after: SessionId | null = null; ; ) {
    const page: TenantOutcome<readonly ErasedSessionUsage[]> = await object().listErasedUsage({ after, sessions: PAGE_SESSIONS });
    if (!page.ok) return page;
    const upTo: SessionId | null = page.value.length < PAGE_SESSIONS ? null : (page.value.at(-1)?.session ?? null);
    const mended = await rows.mendErasedUsage({ tenant, after, upTo, usage: page.value });
    differences.push(...mended.differences);
    seen += mended.rows;
    if (upTo === null) return ok({ differences, rows: seen });
    after = upTo;
    await giveWay();
  }
}

export type RebuiltTenant = Pick<TenantMaintenance, "exportTenant" | "projectAgain" | "listErasedUsage" | "usageBound">;

interface Ports {
  readonly object: () => RebuiltTenant;
  readonly rows: TenantRows;
}

interface Compared {
  readonly differences: readonly RowDifference[];
  readonly rows: number;
}

async function compare({ object, rows }: Ports, tenant: TenantId): Promise<TenantOutcome<Compared>> {
  const exported = await object().exportTenant();
  if (!exported.ok) return exported;
  const found = await rows.read(tenant);
  return ok({ differences: diffRows(rows.expect(exported.value), found), rows: countRows(found) });
}
