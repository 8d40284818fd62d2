/**
 * The changes of tenants that this isolate knows: from the tenant's object, or from the Worker that passed the request
 * on. Cached answers of such a tenant are asked for again at once. Other isolates keep their cached answers until these
 * expire.
 */

/** The most tenants whose last change is kept by name. For all others the newest change that was dropped counts. */
const MAX_TENANTS = 10_000;

const generations = new Map<string, number>();
let newest = 0;
let floor = 0;

export function noteChange(tenant: string): void {
  generations.delete(tenant);
  generations.set(tenant, ++newest);
  const [oldest] = generations;
  if (generations.size <= MAX_TENANTS || !oldest) return;
  generations.delete(oldest[0]);
  floor = oldest[1];
}

/** A number that grows with each known change of the tenant. An answer that was cached under another generation may be out of date. */
export const readGeneration = (tenant: string): number => generations.get(tenant) ?? floor;
