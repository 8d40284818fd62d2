/** Refusals of what a credential does not open: part of the table in `problem`. */
import type { AdminKeyError } from "../app/deployment-api";
import type { TenantError } from "../app/tenant-api";
import type { AdminRole } from "../domain/admin-roles";
import type { Scope } from "../domain/scopes";
import { conflict, type RouteAnswer } from "./answer";

export type AccessError =
  | { readonly code: "unauthorized" }
  | { readonly code: "forbidden"; readonly scope: Scope }
  /** The route takes no access token, or not one for a single session. */
  | { readonly code: "key_required" }
  /** A field that an access token may not set. */
  | { readonly code: "beyond_access_token"; readonly field: string; readonly detail: string }
  | { readonly code: "origin_not_allowed" }
  /** The admin key has a smaller role than the operation needs. */
  | { readonly code: "role_missing"; readonly role: AdminRole };

type Answered =
  | AccessError
  | Extract<TenantError, { readonly code: "beyond_own_key" | "tenant_suspended" }>
  | Extract<AdminKeyError, { readonly code: "last_owner" }>;

export const accessAnswers: { readonly [E in Answered as E["code"]]: (error: E) => RouteAnswer } = {
  unauthorized: () => ({
    status: 401,
    title: "Unauthorized",
    detail: "A valid key is required: Authorization: Bearer …",
    headers: { "WWW-Authenticate": "Bearer" },
  }),
  forbidden: ({ scope }) => ({
    status: 403,
    title: "Scope missing",
    detail: `The key or access token does not have the scope ${scope}, or is restricted to some sessions.`,
    extra: { scope },
    headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
  }),
  key_required: () => ({
    status: 403,
    title: "API key required",
    detail: "This request needs an API key: the access token does not open it. Send it from your server.",
  }),
  beyond_access_token: ({ field, detail }) => ({
    status: 403,
    title: "Beyond the access token",
    detail: `${field}: ${detail}.`,
    errors: [{ field, detail }],
  }),
  tenant_suspended: () => ({
    status: 403,
    title: "Tenant suspended",
    detail: "The tenant is suspended: no key or access token opens anything. Nothing was removed. Ask the operator of the deployment.",
  }),
  origin_not_allowed: () => ({
    status: 403,
    title: "Origin not allowed",
    detail: "The page's origin is not among the tenant's allowed_origins. PATCH /v1/tenant adds it.",
  }),
  role_missing: ({ role }) => ({
    status: 403,
    title: "Role missing",
    detail: `The admin key does not have the role ${role}.`,
    extra: { role },
    headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${role}"` },
  }),
  last_owner: () => conflict("The last owner", "No other owner lasts as long as this key. Create another owner, or set ADMIN_KEY, first."),
  beyond_own_key: ({ field, detail }) => ({ status: 403, title: "Beyond the calling key", detail, errors: [{ field, detail }] }),
};
