/**
 * Selects sessions by what clients know of them, for lists and searches. Every selection begins at an index, which the SQL
 * names: without statistics SQLite would choose another one. What the index does not know is checked of each session, so a selection that
 * checks anything ends behind so many sessions, wherever their next one is.
 */
import type { SessionFilter, SessionListInput } from "../app/read-api";
import type { TenantId } from "../domain/ids";

type Value = string | number;

/** SQL that selects sessions as `s`. The parameters are plain `?`, in the order of the text. */
export interface SessionSelection {
  readonly from: string;
  readonly where: string;
  readonly params: readonly Value[];
  /** Where the selection ends although sessions may be left. Null: it has all of them. */
  readonly end: SessionPlace | null;
  /** Conditions on one session `s` of the tenant that another index has found, and their parameters. */
  readonly check: { readonly where: string; readonly params: readonly Value[] };
}

/** A session's place in an order. */
export interface SessionPlace {
  readonly at: number;
  readonly id: string;
}

/** The order that the selection's index should have, and the place behind which it begins. */
interface Asked extends Pick<SessionListInput, "orderBy" | "order"> {
  readonly after: SessionPlace | null;
}

type Entry = readonly [name: string, value: string];

/**
 * Metadata that at most this many sessions have is read first, and its sessions are sorted. Metadata that more have is
 * checked along the order's index, where a page is then found soon.
 */
const MOST_LISTED = 2_000;
/** Sessions that one selection checks. */
const MOST_CHECKED = 5_000;

export async function selectSessions(db: D1Database, tenant: TenantId, filter: SessionFilter, asked: Asked): Promise<SessionSelection> {
  const { orderBy } = asked;
  const behind = asked.after ? toBound(asked, asked.after, "behind") : NO_BOUND;
  const entries = Object.entries(filter.metadata);
  const named = filter.externalId !== null || filter.endUser !== null;
  const rarest = named ? null : await findRarest(db, tenant, entries);
  const bounds = toBounds(filter);
  const rest = entries.filter((entry) => entry !== rarest);
  const has = `EXISTS (SELECT 1 FROM session_metadata AS m
    WHERE m.tenant_id = s.tenant_id AND m.session_id = s.id AND m.name = ? AND m.value = ?)`;
  const stored = filter.archived === null ? [] : [`s.archived_at IS ${filter.archived ? "NOT NULL" : "NULL"}`];
  const params = [...bounds.map(([, value]) => value), ...rest.flat(), ...behind.params];
  const check = {
    where: ["1", ...stored, ...bounds.map(([sql]) => sql), ...entries.map(() => has)].join(" AND "),
    params: [...bounds.map(([, value]) => value), ...entries.flat()],
  };
  const toConditions = (stated: readonly string[]): readonly string[] => [...stored, ...stated, ...rest.map(() => has), behind.where];
  if (!rarest) {
    const from = `sessions AS s INDEXED BY ${indexFor(filter, orderBy)}`;
    const end = isChecking(filter, orderBy) ? await findEnd(db, from, { tenant, filter, asked }) : null;
    const until = end ? toBound(asked, end, "until") : NO_BOUND;
    const stated = bounds.map(([sql]) => asCheck(sql, asked, { behind: asked.after !== null, until: end !== null }));
    const where = ["s.tenant_id = ?", ...toConditions(stated), until.where].join(" AND ");
    return { from, where, params: [tenant, ...params, ...until.params], end, check };
  }
  const listed = "d.tenant_id = ? AND d.name = ? AND d.value = ? AND s.tenant_id = d.tenant_id AND s.id = d.session_id";
  return {
    from: "session_metadata AS d INDEXED BY session_metadata_by_value CROSS JOIN sessions AS s",
    where: [listed, ...toConditions(bounds.map(([sql]) => sql))].join(" AND "),
    params: [tenant, ...rarest, ...params],
    end: null,
    check,
  };
}

const NO_BOUND: Bound = { where: "1", params: [] };

interface Bound {
  readonly where: string;
  readonly params: readonly Value[];
}

function toBound({ orderBy, order }: Pick<Asked, "orderBy" | "order">, { at, id }: SessionPlace, side: "behind" | "until"): Bound {
  const isBelow = (order === "desc") === (side === "behind");
  return { where: `(s.${orderBy}, s.id) ${isBelow ? "<" : ">"}${side === "until" ? "=" : ""} (?, ?)`, params: [at, id] };
}

/**
 * Keeps SQLite from a bound of the filter where a place is the nearer bound of the same side: it uses one of them for the index, and cannot know
 * which is nearer. The plus sign leaves it a check.
 */
function asCheck(
  sql: string,
  { orderBy, order }: Pick<Asked, "orderBy" | "order">,
  has: Readonly<Record<"behind" | "until", boolean>>,
): string {
  if (!isAbout(sql, orderBy)) return sql;
  const isUpper = sql.includes("<");
  return has[isUpper === (order === "desc") ? "behind" : "until"] ? `+${sql}` : sql;
}

const isAbout = (sql: string, column: string): boolean => sql.startsWith(`s.${column} `);

/** Whether something of the filter is not in its index. One session has an external id. */
const isChecking = (filter: SessionFilter, orderBy: Asked["orderBy"]): boolean =>
  filter.externalId === null &&
  (Object.keys(filter.metadata).length > 0 ||
    (filter.endUser !== null && filter.archived !== null) ||
    toBounds(filter).some(([sql]) => !isAbout(sql, orderBy) && !isAbout(sql, "end_user")));

/** The last session that is checked, by the index alone. Null: there are no more than that. */
async function findEnd(
  db: D1Database,
  from: string,
  { tenant, filter, asked }: { readonly tenant: TenantId; readonly filter: SessionFilter; readonly asked: Asked },
): Promise<SessionPlace | null> {
  const { orderBy, order, after } = asked;
  const known = toBounds(filter).filter(([sql]) => isAbout(sql, orderBy) || isAbout(sql, "end_user"));
  const partial = filter.endUser === null && filter.archived !== null ? [`s.archived_at IS ${filter.archived ? "NOT NULL" : "NULL"}`] : [];
  const behind = after ? toBound(asked, after, "behind") : NO_BOUND;
  const stated = known.map(([sql]) => asCheck(sql, asked, { behind: after !== null, until: false }));
  const where = ["s.tenant_id = ?", ...partial, ...stated, behind.where].join(" AND ");
  return db
    .prepare(
      `SELECT s.${orderBy} AS at, s.id FROM ${from} WHERE ${where} ORDER BY s.${orderBy} ${order}, s.id ${order} LIMIT 1 OFFSET ${MOST_CHECKED - 1}`,
    )
    .bind(tenant, ...known.map(([, value]) => value), ...behind.params)
    .first<{ at: number; id: string }>();
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

function indexFor({ externalId, endUser, archived }: SessionFilter, orderBy: Asked["orderBy"]): string {
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
