/**
 * Changes of tenants that this isolate has heard of: as their object, or as the Worker that passed the request on. What the isolate
 * remembers of such a tenant is asked for again at once; other isolates go on with what they remember until its time is over.
 */

/** Tenants whose last change is told apart; of the others the newest that was forgotten stands for all. */
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

/** Grows with each change that was heard of. What was asked under another generation may be out of date. */
export const generationOf = (tenant: string): number => generations.get(tenant) ?? floor;
