/** The list of the deployment's tenants. Each tenant's own object is the source of what it says. */
import type { ListedTenantsQuery } from "../app/deployment-api";
import type { ListedTenant } from "../contract/deployment";
import type { Page } from "../contract/page";
import { parseId, type TenantId } from "../domain/ids";
import { TENANT_STATUSES } from "../domain/tenant-status";
import { toFiller } from "../lib/scrub/filler";
import type { SyncSql } from "../lib/sync-sql";

export interface TenantList {
  /** Call it inside a transaction. Returns whether the tenant was not there yet. */
  register(tenant: ListedTenant): boolean;
  /** Marks the tenant as deleted and forgets its name, also if it is not in the list. Repeating it changes nothing. */
  close(tenant: TenantId, at: number): void;
  list(query: ListedTenantsQuery): Page<ListedTenant>;
}

type TenantRow = {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  readonly deleted_at: number | null;
  readonly status: string;
  readonly placed_in: string;
};

/** Before and after every row, in order of time and id. */
const ENDS = { asc: { created_at: -1, id: "" }, desc: { created_at: Number.MAX_SAFE_INTEGER, id: "~" } };

const DIRECTIONS = {
  asc: { beyond: ">", order: "created_at, id" },
  desc: { beyond: "<", order: "created_at DESC, id DESC" },
};

/** What a part of a name is compared in. SQLite's own `lower` knows ASCII alone. */
const foldName = (name: string): string => name.normalize("NFKC").toLowerCase();

function toTenant({ id: stored, name, created_at, deleted_at, status: said, placed_in: database }: TenantRow): ListedTenant {
  const id = parseId("ten", stored);
  if (!id) throw new Error("A stored tenant id is malformed");
  const status = TENANT_STATUSES.find((known) => known === said) ?? "suspended";
  return { id, name, created_at, status, database, ...(deleted_at !== null && { deleted_at }) };
}

export function createTenantList(sql: SyncSql): TenantList {
  return {
    register: ({ id, name, created_at, status, database }) => {
      const isKnown = sql.rows("SELECT 1 FROM tenants WHERE id = ?", id).length > 0;
      const set = "UPDATE tenants SET name = ?, folded = ?, status = ?, placed_in = ? WHERE id = ? AND deleted_at IS NULL";
      const insert = "INSERT INTO tenants (created_at, id, name, folded, status, placed_in) VALUES (?, ?, ?, ?, ?, ?)";
      if (isKnown) sql.rows(set, name, foldName(name), status, database, id);
      else sql.rows(insert, created_at, id, name, foldName(name), status, database);
      return !isKnown;
    },
    close: (tenant, at) => {
      sql.rows(`UPDATE tenants SET name = ${toFiller("name")}, folded = ${toFiller("folded")} WHERE id = ?`, tenant);
      sql.rows(
        `INSERT INTO tenants (created_at, id, name, folded, status, deleted_at) VALUES (?1, ?2, '', '', 'deleted', ?1)
         ON CONFLICT (id) DO UPDATE SET name = '', folded = '', status = 'deleted', deleted_at = coalesce(deleted_at, ?1)`,
        at,
        tenant,
      );
    },
    list: ({ after, limit, order, name, status }) => {
      const { beyond, order: by } = DIRECTIONS[order];
      const from = after ?? ENDS[order];
      const rows = sql.rows<TenantRow>(
        `SELECT id, name, created_at, deleted_at, status, placed_in FROM tenants
         WHERE (created_at, id) ${beyond} (?, ?) AND (? = '' OR instr(folded, ?) > 0) AND (? = '' OR status = ?) ORDER BY ${by} LIMIT ?`,
        from.created_at,
        from.id,
        foldName(name ?? ""),
        foldName(name ?? ""),
        status ?? "",
        status ?? "",
        limit + 1,
      );
      return { data: rows.slice(0, limit).map(toTenant), has_more: rows.length > limit };
    },
  };
}
