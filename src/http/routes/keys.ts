/** Makes, lists, rotates and revokes a tenant's keys. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { keyView, shownOnce } from "../../contract/tenant";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { AT, KEY, OLD_KEY, onePage } from "../examples/shared";
import { keyExample } from "../examples/tenant";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { issueKey, markReplayed, refuseExpiry, rotateKey } from "../issue-key";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, tenantRoute } from "../routing";
import { chooseScopes } from "../schemas/key-restriction";
import { namedPageQuery, takeListPage } from "../schemas/page";
import { keyInput, rotateInput } from "../schemas/tenant";

const tag = "keys";
const scope = "keys:write";
const keyPath = z.object({ key_id: id("key") });

const list = tenantRoute({
  method: "get",
  path: "/v1/keys",
  tag,
  scope,
  operationId: "listKeys",
  summary: "List API keys",
  description: "Lists all keys of the tenant, including revoked ones, without their secrets.",
  request: { query: namedPageQuery({ first: "desc" }) },
  responses: { 200: json("A page, the newest first", listView(keyView), onePage(keyExample)) },
});

const create = tenantRoute({
  method: "post",
  path: "/v1/keys",
  tag,
  scope,
  operationId: "createKey",
  summary: "Create an API key",
  description: "The new key's scopes and expiry must not exceed those of the calling key. The secret is shown by this answer only.",
  refuses: ["beyond_own_key", "key_limit"],
  request: { headers: idempotencyHeaders, body: jsonBody(keyInput, { name: "backend", scopes: ["sessions:read", "sessions:write"] }) },
  responses: { 201: json("The key. It is shown only once", keyView.extend({ key: shownOnce }), { ...keyExample, key: "lh_production_…" }) },
});

const rotate = tenantRoute({
  method: "post",
  path: "/v1/keys/{key_id}/rotate",
  tag,
  scope,
  operationId: "rotateKey",
  summary: "Rotate an API key",
  description:
    "Creates a key with the same name, scopes and expiry, and ends the old one after the overlap, in which both are valid. A key may rotate itself; it rotates others only if it has all their scopes and expires no sooner. A key is rotated once: rotate its successor next.",
  refuses: ["key_not_found", "beyond_own_key", "key_ended", "key_limit"],
  request: { params: keyPath, headers: idempotencyHeaders, body: jsonBody(rotateInput, { overlap_seconds: 3_600 }, false) },
  responses: {
    201: json("The new key. It is shown only once", keyView.extend({ key: shownOnce }), {
      ...keyExample,
      rotated_from: OLD_KEY,
      last_used_at: null,
      key: "lh_production_…",
    }),
  },
});

const revoke = tenantRoute({
  method: "delete",
  path: "/v1/keys/{key_id}",
  tag,
  scope,
  operationId: "revokeKey",
  summary: "Revoke an API key",
  description: "The calling key must have all scopes of the key that it revokes. Cached checks of the key expire within 30 seconds.",
  refuses: ["key_not_found", "beyond_own_key"],
  request: { params: keyPath },
  responses: { 200: json("The revoked key", keyView, { ...keyExample, revoked_at: AT, revoked_by: KEY }) },
});

export function registerKeys(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const keys = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listKeys(),
    );
    return keys.ok
      ? c.json(
          takeListPage(keys.value, c.req.valid("query"), ({ id }) => id),
          200,
        )
      : sendProblem(c, keys.error);
  });

  app.openapi(create, async (c) => {
    const maker = readPrincipal(c);
    // An absent field defaults to what the caller's key has. The tenant's object refuses what exceeds that.
    const { name, scopes: named, restriction, clients, expires_at = maker.expires_at } = c.req.valid("json");
    const { scopes, refused } = chooseScopes({ scopes: named, restriction, most: maker.scopes });
    if (refused) return sendProblem(c, { code: "invalid_request", errors: [{ field: "scopes", detail: refused }] });
    const detail = refuseExpiry(expires_at, deps.now());
    if (detail) return sendProblem(c, { code: "invalid_request", errors: [{ field: "expires_at", detail }] });
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const order = { tenant: maker.tenant, name, scopes, restriction, clients, expires_at, by: maker.key, act: readAct(c), idempotency };
    const issued = await issueKey(deps, order);
    if (!issued.ok) return sendProblem(c, issued.error);
    markReplayed(c, issued.value);
    return c.json({ ...issued.value.view, key: issued.value.key }, 201);
  });

  app.openapi(rotate, async (c) => {
    const { tenant, key: by } = readPrincipal(c);
    const { key_id: from } = c.req.valid("param");
    const overlap_ms = c.req.valid("json").overlap_seconds * 1_000;
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const issued = await rotateKey(deps, { tenant, from, overlap_ms, by, act: readAct(c), idempotency });
    if (!issued.ok) return sendProblem(c, issued.error);
    markReplayed(c, issued.value);
    return c.json({ ...issued.value.view, key: issued.value.key }, 201);
  });

  app.openapi(revoke, async (c) => {
    const { key_id } = c.req.valid("param");
    const { tenant, key } = readPrincipal(c);
    const revoked = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.revokeKey(readAct(c), key_id, key),
    );
    return revoked.ok ? c.json(revoked.value, 200) : sendProblem(c, revoked.error);
  });
}
