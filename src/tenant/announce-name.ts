/**
 * Tells the deployment's list a tenant's name, status and database, behind the tenant's write to the read model. That write is repeated until it succeeds, so a
 * tenant whose creation was cut off is listed, too, and one that was renamed is listed under its new name.
 */
import type { TenantChange } from "../app/tenant-api";
import type { ListedTenant } from "../contract/deployment";

type Announced = Pick<TenantChange, "tenant" | "settings" | "created_at"> & Pick<ListedTenant, "status" | "database">;

/** Calls `register` only with what it has not accepted since the object woke: most changes are of other settings. */
export function createNameAnnouncer(register: (tenant: ListedTenant) => Promise<unknown>): (change: Announced) => Promise<void> {
  let announced: string | null = null;
  return async ({ tenant: id, settings: { name }, created_at, status, database }) => {
    const news = JSON.stringify([name, status, database]);
    if (announced === news) return;
    await register({ id, name, created_at, status, database });
    announced = news;
  };
}
