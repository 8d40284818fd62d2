/**
 * Authenticates the caller. The tenant comes from the key, or from the access token that a key made, and from nothing else
 * (docs/architecture.md). `/v1` is closed by default: a route that declares no scope still requires a key, and a route that
 * does not say so takes no access token.
 */
import type { Context, MiddlewareHandler } from "hono";
import type { Principal } from "../app/principal";
import type { TenantId } from "../domain/ids";
import { isHeldToSessions } from "../domain/key-restriction";
import type { Scope } from "../domain/scopes";
import { err, ok, type Result } from "../lib/result";
import { isAllowedOrigin } from "./browsers";
import type { Asker, HttpDeps, HttpEnv } from "./deps";
import { refuseFlood } from "./floods";
import { type RequestError, sendProblem } from "./problem";

/** The kinds of credentials, as the OpenAPI document names them. */
export const API_KEY = "api_key";
export const ADMIN_KEY = "admin_key";
export const ACCESS_TOKEN = "access_token";
export const STREAM_TOKEN = "stream_token";

const ADMIN_PATH = "/v1/admin/";
const BEARER = /^Bearer +([\x21-\x7e]{1,4096})$/i;
const STREAM_PATH = /^\/v1\/sessions\/[^/]+\/(?:stream|events)$/;

/**
 * Which access tokens a route takes: those that reach the session in its path, those of end users, or none. `chat`: any, and the route
 * itself compares the token with the session that its body or the chat's id names.
 */
export type TokenUse = "session" | "end_user" | "chat" | null;

/** True for streams, which a browser's `EventSource` opens. It sends no header, so these take an access token in the query. */
export const isStreamPath = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method.toUpperCase() === "GET" && STREAM_PATH.test(path);

/** Paths whose clients may send their key as `x-api-key`: those of the Anthropic API. */
const KEY_HEADER_PATH = /^\/v1\/(?:messages|models)(?:\/|$)/;
const KEY = /^[\x21-\x7e]{1,4096}$/;

/** The key or token of the request, wherever its API's clients send it. */
export function readBearer(c: Context<HttpEnv>): string | null {
  const bearer = BEARER.exec(c.req.header("authorization") ?? "")?.[1];
  if (bearer !== undefined || !KEY_HEADER_PATH.test(c.req.path)) return bearer ?? null;
  return KEY.exec(c.req.header("x-api-key") ?? "")?.[0] ?? null;
}

const invalidToken = (detail: string): RequestError => ({ code: "invalid_request", errors: [{ field: "token", detail }] });

/** Null when the request has no credential. An API key is refused in a URL, because URLs are logged by what lies between. */
function readCredential(c: Context<HttpEnv>): Result<string | null, RequestError> {
  const bearer = readBearer(c);
  const inQuery = isStreamPath(c.req) ? c.req.query("token") : undefined;
  if (inQuery === undefined) return ok(bearer);
  if (c.req.header("authorization") !== undefined) return err(invalidToken("send either this or the header Authorization"));
  if (inQuery.startsWith("lh_")) return err(invalidToken("must be an access token: an API key does not belong in a URL"));
  return ok(inQuery);
}

/** Null when there is no valid credential. The expiry is checked here because a cached look-up may be older than it. */
async function findValid(credential: string | null, { authenticate: findPrincipal, now }: HttpDeps): Promise<Principal | null> {
  const principal = credential === null ? null : await findPrincipal(credential);
  const expired = principal?.expires_at != null && principal.expires_at <= now();
  return expired ? null : principal;
}

/** For `/mcp`, every path below `/api`, and every path below `/v1` except the admin's. */
export function authenticate(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    if (c.req.path.startsWith(ADMIN_PATH)) return await next();
    const credential = readCredential(c);
    if (!credential.ok) return sendProblem(c, credential.error);
    const principal = await findValid(credential.value, deps);
    const flood = await refuseFlood(c, deps, principal);
    if (flood) return sendProblem(c, flood);
    if (!principal) return sendProblem(c, { code: "unauthorized" });
    if (principal.suspended) return sendProblem(c, { code: "tenant_suspended" });
    c.set("principal", principal);
    if (!(await isAllowedOrigin(c, () => listOrigins(deps, principal.tenant)))) return sendProblem(c, { code: "origin_not_allowed" });
    await next();
    if (changesTenant(c.req)) deps.noteChange(principal.tenant);
  };
}

const listOrigins = async ({ knownSettings }: HttpDeps, tenant: TenantId): Promise<readonly string[]> =>
  (await knownSettings(tenant))?.allowed_origins ?? [];

/** Paths of sessions and files, in our words and in those of vendors. */
const TALK_PATH = /^\/(?:v1\/(?:sessions|files|responses|conversations|chat|messages)|api\/chat|mcp)(?:\/|$)/;

/** True when a request may change what isolates cache of its tenant. Requests to sessions and files and for access tokens change nothing of that. */
const changesTenant = ({ method, path }: Context<HttpEnv>["req"]): boolean =>
  method !== "GET" && !TALK_PATH.test(path) && path !== "/v1/tokens";

/** Returns a check whether the credential of this request is still valid for its page, for answers that outlive the request. */
export function keyCheck(c: Context<HttpEnv>, deps: HttpDeps): () => Promise<boolean> {
  const credential = readCredential(c);
  return async () => {
    const principal = credential.ok ? await findValid(credential.value, deps) : null;
    return principal !== null && !principal.suspended && (await isAllowedOrigin(c, () => listOrigins(deps, principal.tenant)));
  };
}

/** What an operation needs of its caller. A null `scope`: any valid key. */
export interface Access {
  readonly scope: Scope | null;
  readonly opensTo: TokenUse;
  /** The route itself keeps to the sessions that the caller reaches, though it names none in its path. Absent: false. */
  readonly bounded?: boolean;
}

/** A null `scope` accepts any valid key. */
export function requireScope(scope: Scope | null, opensTo: TokenUse, bounded = false): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const principal = c.get("principal");
    if (!principal) return sendProblem(c, { code: "unauthorized" });
    const refused = findRefusal(principal, { scope, opensTo, bounded, session: c.req.param("session_id") });
    if (refused) return sendProblem(c, refused);
    return await next();
  };
}

/** `session`: the one that the operation names. Absent: it names none. */
type Asked = Access & { readonly session?: string | undefined };

/** Why the caller may not do this. `session`: the one that the operation names, if it names one. */
export function findRefusal(principal: Principal, asked: Asked) {
  const { scope, opensTo, session } = asked;
  const refused = refuseToken(principal, opensTo);
  if (refused) return refused;
  if (scope !== null && !(principal.scopes.includes(scope) && isWithin(principal, asked))) return { code: "forbidden", scope } as const;
  const reached = opensTo === "chat" ? undefined : principal.access_token?.reach.session;
  return reached === undefined || reached === session ? null : ({ code: "session_not_found" } as const);
}

/** True where a key that is held to some sessions reaches no others: the session's object compares, or the route does. */
function isWithin({ restriction }: Principal, { opensTo, session, bounded = false }: Asked): boolean {
  return !isHeldToSessions(restriction) || session !== undefined || opensTo === "end_user" || bounded;
}

/** An end user's token passes here to every session: the session's object compares its end user with the caller's. */
function refuseToken({ access_token }: Principal, opensTo: TokenUse): RequestError | null {
  if (access_token === undefined || opensTo === "session" || opensTo === "chat") return null;
  return opensTo === "end_user" && access_token.reach.end_user !== undefined ? null : { code: "key_required" };
}

/** True for a caller that reaches some of the tenant's sessions, whichever its path names: the session's object compares. */
export const isHeldToSome = ({ access_token, restriction }: Principal): boolean =>
  access_token?.reach.end_user !== undefined || isHeldToSessions(restriction);

/** The caller's principal. `requireScope` makes sure that there is one, so its absence is a defect. */
export function readPrincipal(c: Asker): Principal {
  const principal = c.get("principal");
  if (!principal) throw new Error("A route that requires a principal was reached without one");
  return principal;
}
