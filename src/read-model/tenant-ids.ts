/** The tenants that have a row, in whichever database. */
import type { TenantIds } from "../app/tenant-rows";
import { parseId, type TenantId } from "../domain/ids";
import { allDatabases } from "./database-for";

export function createTenantIds(env: { readonly DB: D1Database }): TenantIds {
  /** One more than the page has, so that its end is known. */
  async function readIds(db: D1Database, after: string, limit: number): Promise<readonly TenantId[]> {
    const statement = db.prepare("SELECT tenant_id FROM tenants WHERE tenant_id > ? ORDER BY tenant_id LIMIT ?");
    const { results } = await statement.bind(after, limit + 1).all<{ tenant_id: string }>();
    return results.flatMap(({ tenant_id }) => parseId("ten", tenant_id) ?? []);
  }
  return {
    listTenantIds: async ({ after, limit }) => {
      const found = await Promise.all(allDatabases(env).map((db) => readIds(db, after ?? "", limit)));
      const ids = [...new Set(found.flat())].sort();
      return { data: ids.slice(0, limit), has_more: ids.length > limit };
    },
  };
}
