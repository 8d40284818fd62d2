/** Makes access tokens for browsers. Nothing is stored, so there is no list of them and no revocation. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AccessReach, TokenHolder } from "../../app/tenant-api";
import { type AccessTokenView, accessTokenView } from "../../contract/access-token";
import { ACCESS_TOKEN_SCOPES } from "../../domain/scopes";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendProblem } from "../problem";
import { json, jsonBody, tenantRoute } from "../routing";
import { accessTokenInput, boundByKey } from "../schemas/access-token";
import { findSession } from "../session-calls";

const create = tenantRoute({
  method: "post",
  path: "/v1/tokens",
  tag: "keys",
  scope: null,
  summary: "Create a short-lived access token for a browser: for one session, or for the sessions of one end user",
  request: { body: jsonBody(accessTokenInput) },
  responses: { 201: json("The token. It is valid until it expires, even if its key is revoked before", accessTokenView) },
});

async function toView(deps: HttpDeps, holder: TokenHolder): Promise<AccessTokenView> {
  const { scopes, expires_at, access_token } = holder;
  const { session = null, end_user = null } = access_token.reach;
  return {
    id: access_token.id,
    token: await deps.signAccessToken(holder),
    session_id: session,
    end_user,
    scopes: ACCESS_TOKEN_SCOPES.filter((scope) => scopes.includes(scope)),
    expires_at,
  };
}

export function registerAccessTokens(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(create, async (c) => {
    const { session_id: session, end_user, ...asked } = c.req.valid("json");
    const { tenant, key } = readPrincipal(c);
    // A cached look-up may be older than the key's end, and a token outlives its key.
    const own = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.ownKey(key),
    );
    if (!own.ok) return sendProblem(c, own.error);
    const bounds = boundByKey(asked, { key: own.value, now: deps.now() });
    if (!bounds.ok) return sendProblem(c, bounds.error);
    if (session !== undefined) {
      const found = await findSession(deps, c, session);
      if (!found.ok) return sendProblem(c, found.error);
    }
    const reach: AccessReach = session === undefined ? { end_user: end_user ?? "" } : { session };
    const holder = { tenant, key, ...bounds.value, access_token: { id: deps.newId("tok"), reach } };
    return c.json(await toView(deps, holder), 201);
  });
}
