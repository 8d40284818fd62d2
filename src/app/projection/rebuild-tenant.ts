/**
 * A tenant's own row, its models' and what stays of its erased sessions' ledgers, compared with what its object says. The object itself
 * writes what changes again; the usage of erased sessions never changes, so it is written here.
 */
import type { SessionId, TenantId } from "../../domain/ids";
import { ok } from "../../lib/result";
import { countRows, diffRows, type RowDifference } from "../diff-rows";
import type { ErasedSessionUsage, TenantMaintenance, TenantOutcome, TenantRows } from "../tenant-api";

export interface TenantRebuildReport {
  readonly tenant: TenantId;
  /** What was wrong, or not there yet: rows follow a change within seconds. */
  readonly differences: readonly RowDifference[];
  /** Nothing is wrong now. */
  readonly repaired: boolean;
  readonly rows: number;
}

/** Throws what D1 throws; that there is no such tenant is a value. `object`: asked anew at each call. */
export async function rebuildTenant({ object, rows }: Ports, tenant: TenantId): Promise<TenantOutcome<TenantRebuildReport>> {
  const before = await compare({ object, rows }, tenant);
  if (!before.ok) return before;
  const usage = await mendUsage({ object, rows }, tenant);
  if (!usage.ok) return usage;
  const differences = [...before.value.differences, ...usage.value.differences];
  if (before.value.differences.length === 0) return ok({ tenant, differences, repaired: true, rows: before.value.rows + usage.value.rows });
  const written = await object().projectAgain();
  if (!written.ok) return written;
  const after = await compare({ object, rows }, tenant);
  if (!after.ok) return after;
  return ok({ tenant, differences, repaired: after.value.differences.length === 0, rows: after.value.rows + usage.value.rows });
}

/** Erased sessions in one page: most have a row or two. */
const PAGE_SESSIONS = 200;

/** All of them, page by page. Throws if a page could not be written: what was written stays, and the next rebuild goes on. */
async function mendUsage({ object, rows }: Ports, tenant: TenantId): Promise<TenantOutcome<Compared>> {
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
  }
}

interface Ports {
  readonly object: () => TenantMaintenance;
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
