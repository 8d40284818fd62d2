/**
 * Authenticates the caller. The tenant comes from the key and from nothing else (docs/architecture.md). `/v1` is closed by
 * default: a route that declares no scope still requires a key.
 */
import type { Context, MiddlewareHandler } from "hono";
import { timingSafeEqual } from "hono/utils/buffer";
import type { Principal } from "../app/tenant-api";
import type { Scope } from "../domain/scopes";
import type { HttpDeps, HttpEnv } from "./deps";
import { sendProblem } from "./problem";

const ADMIN_PATH = "/v1/admin/";
const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

function readBearer(c: Context<HttpEnv>): string | null {
  return BEARER.exec(c.req.header("authorization") ?? "")?.[1] ?? null;
}

/** Null when there is no valid key. The expiry is checked here because a cached look-up may be older than it. */
async function findValid(key: string | null, { authenticate: findPrincipal, now }: HttpDeps): Promise<Principal | null> {
  const principal = key === null ? null : await findPrincipal(key);
  const expired = principal?.expires_at != null && principal.expires_at <= now();
  return expired ? null : principal;
}

/** For every path below `/v1` except the admin's. */
export function authenticate(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    if (c.req.path.startsWith(ADMIN_PATH)) return await next();
    const principal = await findValid(readBearer(c), deps);
    if (!principal) return sendProblem(c, { code: "unauthorized" });
    c.set("principal", principal);
    await next();
    if (changesTenant(c.req)) deps.noteChange(principal.tenant);
  };
}

/** True when a request may change what isolates cache of its tenant. Requests to sessions and files change nothing of that. */
const changesTenant = ({ method, path }: Context<HttpEnv>["req"]): boolean => method !== "GET" && !/^\/v1\/(?:sessions|files)/.test(path);

/** Returns a check whether the key of this request is still valid, for answers that outlive the request. */
export function keyCheck(c: Context<HttpEnv>, deps: HttpDeps): () => Promise<boolean> {
  const key = readBearer(c);
  return async () => (await findValid(key, deps)) !== null;
}

/** Null accepts any valid key. */
export function requireScope(scope: Scope | null): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const principal = c.get("principal");
    if (!principal) return sendProblem(c, { code: "unauthorized" });
    if (scope !== null && !principal.scopes.includes(scope)) return sendProblem(c, { code: "forbidden", scope });
    return await next();
  };
}

/** The caller's principal. `requireScope` makes sure that there is one, so its absence is a defect. */
export function readPrincipal(c: Context<HttpEnv>): Principal {
  const principal = c.get("principal");
  if (!principal) throw new Error("A route that requires a principal was reached without one");
  return principal;
}

/** Requires the deployment's own key. If none is configured, every request is refused. */
export function requireAdmin({ config }: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const given = readBearer(c);
    const isAdmin = given !== null && config.adminKey !== null && (await timingSafeEqual(given, config.adminKey));
    return isAdmin ? await next() : sendProblem(c, { code: "unauthorized" });
  };
}
