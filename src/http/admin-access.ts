/** Who may operate the deployment: the holder of ADMIN_KEY, and those of admin keys, each with a role. */
import type { Context, MiddlewareHandler } from "hono";
import type { AdminPrincipal } from "../app/deployment-api";
import { type AdminRole, includesRole } from "../domain/admin-roles";
import { isSameText } from "../lib/same-text";
import { sha256 } from "../lib/sha256";
import { readBearer } from "./auth";
import type { HttpDeps, HttpEnv } from "./deps";
import { refuseFlood } from "./floods";
import { sendProblem } from "./problem";

/** The holder of ADMIN_KEY. */
const FIRST_OWNER: AdminPrincipal = { key: null, role: "own", expires_at: null };

/** Compares digests, which have one length: the time shows neither the content nor the length of the expected text. */
const isSameSecret = async (given: string, expected: string): Promise<boolean> => isSameText(await sha256(given), await sha256(expected));

/** Null when the text is neither ADMIN_KEY nor a valid admin key. */
async function findAdmin(given: string, { config, adminKeys }: HttpDeps): Promise<AdminPrincipal | null> {
  const isFirst = config.adminKey !== null && (await isSameSecret(given, config.adminKey));
  return isFirst ? FIRST_OWNER : adminKeys.authenticate(given);
}

/** For every path below `/v1/admin`. Only refused keys are counted as floods, by their address: a valid admin is never locked out by guesses. */
export function requireAdmin(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const given = readBearer(c);
    const admin = given === null ? null : await findAdmin(given, deps);
    if (!admin) return sendProblem(c, (await refuseFlood(c, deps, null)) ?? { code: "unauthorized" });
    c.set("admin", admin);
    return await next();
  };
}

export function requireRole(role: AdminRole): MiddlewareHandler<HttpEnv> {
  return async (c, next) => (includesRole(readAdmin(c).role, role) ? await next() : sendProblem(c, { code: "role_missing", role }));
}

/** The calling admin. `requireAdmin` makes sure that there is one, so its absence is a defect. */
export function readAdmin(c: Context<HttpEnv>): AdminPrincipal {
  const admin = c.get("admin");
  if (!admin) throw new Error("A route of the admin was reached without one");
  return admin;
}
