/** `Idempotency-Key`, as the session's and the tenant's object keep it. */

/** How long a request's key is remembered, in milliseconds: the 24 hours that the API promises. */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1_000;
