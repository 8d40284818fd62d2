/** What an erasure may be of. */
export const ERASURE_KINDS = ["session", "end_user", "tenant"] as const;
