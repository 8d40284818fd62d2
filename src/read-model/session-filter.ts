/**
 * Selects sessions by what clients know of them, for lists and searches. Every selection begins at an index, which the SQL
 * names: without statistics SQLite would choose another one.
 */
import type { SESSION_ORDERS, SessionFilter } from "../app/read-api";
import type { TenantId } from "../domain/ids";

type Value = string | number;

/** SQL that selects sessions as `s`. The parameters are plain `?`, in the order of the text. */
export interface SessionSelection {
  readonly from: string;
  readonly where: string;
  readonly params: readonly Value[];
  /** Conditions on one session `s` of the tenant that another index has found, and their parameters. */
  readonly check: { readonly where: string; readonly params: readonly Value[] };
}

/** The order that the selection's index should have. */
type OrderColumn = (typeof SESSION_ORDERS)[number];

type Entry = readonly [name: string, value: string];

/**
 * Metadata that at most this many sessions have is read first, and its sessions are sorted. Metadata that more have is
 * checked along the order's index, where a page is then found soon.
 */
const MOST_LISTED = 2_000;

export async function selectSessions(
  db: D1Database,
  tenant: TenantId,
  filter: SessionFilter,
  orderBy: OrderColumn,
): Promise<SessionSelection> {
  const entries = Object.entries(filter.metadata);
  const named = filter.externalId !== null || filter.endUser !== null;
  const rarest = named ? null : await findRarest(db, tenant, entries);
  const bounds = toBounds(filter);
  const rest = entries.filter((entry) => entry !== rarest);
  const has = `EXISTS (SELECT 1 FROM session_metadata AS m
    WHERE m.tenant_id = s.tenant_id AND m.session_id = s.id AND m.name = ? AND m.value = ?)`;
  const stored = filter.archived === null ? [] : [`s.archived_at IS ${filter.archived ? "NOT NULL" : "NULL"}`];
  const conditions = [...stored, ...bounds.map(([sql]) => sql), ...rest.map(() => has)];
  const params = [...bounds.map(([, value]) => value), ...rest.flat()];
  const check = {
    where: ["1", ...stored, ...bounds.map(([sql]) => sql), ...entries.map(() => has)].join(" AND "),
    params: [...bounds.map(([, value]) => value), ...entries.flat()],
  };
  if (!rarest) {
    const from = `sessions AS s INDEXED BY ${indexFor(filter, orderBy)}`;
    return { from, where: ["s.tenant_id = ?", ...conditions].join(" AND "), params: [tenant, ...params], check };
  }
  const listed = "d.tenant_id = ? AND d.name = ? AND d.value = ? AND s.tenant_id = d.tenant_id AND s.id = d.session_id";
  return {
    from: "session_metadata AS d INDEXED BY session_metadata_by_value CROSS JOIN sessions AS s",
    where: [listed, ...conditions].join(" AND "),
    params: [tenant, ...rarest, ...params],
    check,
  };
}

/** The entry that the fewest sessions have, if those are few enough to be listed. */
async function findRarest(db: D1Database, tenant: TenantId, entries: readonly Entry[]): Promise<Entry | null> {
  if (entries.length === 0) return null;
  const count = db.prepare(`SELECT count(*) AS sessions FROM (SELECT 1 FROM session_metadata INDEXED BY session_metadata_by_value
    WHERE tenant_id = ?1 AND name = ?2 AND value = ?3 LIMIT ${MOST_LISTED + 1})`);
  const counts = await db.batch<{ sessions: number }>(entries.map((entry) => count.bind(tenant, ...entry)));
  const sizes = counts.map(({ results }) => results[0]?.sessions ?? 0);
  const least = Math.min(...sizes);
  return least <= MOST_LISTED ? (entries[sizes.indexOf(least)] ?? null) : null;
}

function indexFor({ externalId, endUser, archived }: SessionFilter, orderBy: OrderColumn): string {
  if (externalId !== null) return "sessions_by_external_id";
  if (endUser !== null) return orderBy === "updated_at" ? "sessions_of_user_by_update" : "sessions_of_user_by_creation";
  const some = archived === null ? "sessions" : archived ? "sessions_archived" : "sessions_active";
  return `${some}_${orderBy === "updated_at" ? "by_update" : "by_creation"}`;
}

function toBounds(filter: SessionFilter): readonly (readonly [sql: string, value: Value])[] {
  const bounds: readonly (readonly [string, Value | null])[] = [
    ["s.external_id = ?", filter.externalId],
    ["s.end_user = ?", filter.endUser],
    ["s.created_at > ?", filter.createdAfter],
    ["s.created_at < ?", filter.createdBefore],
    ["s.updated_at > ?", filter.updatedAfter],
    ["s.updated_at < ?", filter.updatedBefore],
  ];
  return bounds.flatMap(([sql, value]) => (value === null ? [] : [[sql, value] as const]));
}
