import type { TenantId } from "../domain/ids";

/**
 * The database of a tenant's read model. Today there is one; a tenant that outgrows it (10 GB, one thread) gets its own
 * here, and nobody else has to know.
 */
export const databaseFor = (env: { readonly DB: D1Database }, _tenant: TenantId): D1Database => env.DB;
