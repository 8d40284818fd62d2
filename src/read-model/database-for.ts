import type { TenantId } from "../domain/ids";

/**
 * The database of a tenant's read model. Today there is one. A tenant that outgrows it (10 GB, one thread) gets its own
 * here, and no caller changes.
 */
export const databaseFor = (env: { readonly DB: D1Database }, _tenant: TenantId): D1Database => env.DB;

/** All databases that hold rows of tenants. */
export const allDatabases = (env: { readonly DB: D1Database }): readonly D1Database[] => [env.DB];
