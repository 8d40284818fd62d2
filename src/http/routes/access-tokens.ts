/** Makes access tokens for browsers. Nothing is stored, so there is no list of them and no revocation. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AccessReach, TokenHolder } from "../../app/principal";
import { type AccessTokenView, accessTokenView } from "../../contract/access-token";
import { ACCESS_TOKEN_SCOPES } from "../../domain/scopes";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { SESSION } from "../examples/shared";
import { accessTokenExample } from "../examples/tenant";
import { boundToken } from "../key-reach";
import { sendProblem } from "../problem";
import { json, jsonBody, tenantRoute } from "../routing";
import { accessTokenInput, boundByKey } from "../schemas/access-token";
import { findSession } from "../session-calls";

const create = tenantRoute({
  method: "post",
  path: "/v1/tokens",
  tag: "keys",
  scope: null,
  operationId: "createAccessToken",
  summary: "Create an access token",
  description:
    "Makes a short-lived token that a browser holds in place of a key. It opens one session, or the sessions of one end user, and there only the operations on which a person chats. It cannot be revoked: it is valid until it expires, also after its key was revoked.",
  refuses: ["beyond_own_key", "session_not_found", "session_erased"],
  request: { body: jsonBody(accessTokenInput, { session_id: SESSION, expires_in: 900 }) },
  responses: { 201: json("The token. It is shown only here", accessTokenView, accessTokenExample) },
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
    const reached = boundToken(c, { session_id: session, end_user });
    if (!reached.ok) return sendProblem(c, reached.error);
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
