/** A lease outlives the call it is for by this much, so that a result in time is never late. */
const LEASE_MARGIN_MS = 15_000;

/** When a lease for a call of `timeoutMs` ends, in epoch milliseconds. */
export const leaseUntil = (now: number, timeoutMs: number): number => now + timeoutMs + LEASE_MARGIN_MS;
