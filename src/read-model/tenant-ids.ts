/** The tenants that have a row, in whichever database. */
import type { TenantIds } from "../app/tenant-rows";
import { parseId, type TenantId } from "../domain/ids";
import { type DatabaseBindings, listDatabases } from "./database-for";

/** A database that was added, and has no tables yet, has no tenants. */
function ignoreUnmigrated(error: unknown): readonly TenantId[] {
  if (String(error).includes("no such table")) return [];
  throw error;
}

export function createTenantIds(env: DatabaseBindings): TenantIds {
  /** One more than the page has, so that its end is known. */
  async function readIds(db: D1Database, after: string, limit: number): Promise<readonly TenantId[]> {
    const statement = db.prepare("SELECT tenant_id FROM tenants WHERE tenant_id > ? ORDER BY tenant_id LIMIT ?");
    const { results } = await statement.bind(after, limit + 1).all<{ tenant_id: string }>();
    return results.flatMap(({ tenant_id }) => parseId("ten", tenant_id) ?? []);
  }
  return {
    listTenantIds: async ({ after, limit }) => {
      const [first, ...more] = listDatabases(env).values();
      const read = (db: D1Database) => readIds(db, after ?? "", limit);
      const found = await Promise.all([...(first ? [read(first)] : []), ...more.map((db) => read(db).catch(ignoreUnmigrated))]);
      const ids = [...new Set(found.flat())].sort();
      return { data: ids.slice(0, limit), has_more: ids.length > limit };
    },
  };
}
