/** The rights that an API key may have: a resource, and what the key may do with it. `docs/keys.md` has each operation's scope. */
export const SCOPES = [
  "sessions:read",
  "sessions:write",
  "sessions:erase",
  "files:read",
  "files:write",
  "models:write",
  "credentials:write",
  "tools:read",
  "tools:write",
  "settings:write",
  "retention:write",
  "usage:read",
  "exports:write",
  "webhooks:read",
  "webhooks:write",
  "keys:write",
  "audit:read",
  "channels:read",
  "channels:write",
] as const;
/** The scopes that an access token may have. It never manages a tenant. */
export const ACCESS_TOKEN_SCOPES = ["sessions:read", "sessions:write"] as const satisfies readonly (typeof SCOPES)[number][];
export type Scope = (typeof SCOPES)[number];
