/** What a tenant's retention does to a session, and why a session may be erased. */

export const RETENTION_ACTIONS = ["erase_session", "archive_session", "remove_tool_results"] as const;
export type RetentionAction = (typeof RETENTION_ACTIONS)[number];

/** `request`: a client or an admin asked for it. `retention`: a rule of the tenant's came to apply. */
export const ERASURE_CAUSES = ["request", "retention"] as const;
export type ErasureCause = (typeof ERASURE_CAUSES)[number];
