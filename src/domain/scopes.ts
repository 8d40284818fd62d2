/** The rights that an API key may have. */
export const SCOPES = ["sessions:read", "sessions:write", "models:write", "tools:write", "keys:write"] as const;
/** The scopes that an access token may have. It never manages a tenant. */
export const ACCESS_TOKEN_SCOPES = ["sessions:read", "sessions:write"] as const satisfies readonly (typeof SCOPES)[number][];
export type Scope = (typeof SCOPES)[number];
