/** The rights that an API key may have. */
export const SCOPES = ["sessions:read", "sessions:write", "models:write", "tools:write", "keys:write"] as const;
export type Scope = (typeof SCOPES)[number];
