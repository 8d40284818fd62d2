/**
 * Access tokens: JWTs that a key makes for a browser. They are signed under a key derived from the deployment's pepper
 * and verified without a look-up, so none can be revoked: they are short-lived instead (docs/api/browsers.md). Those of an end user end
 * with the end user's erasure (`token-ends`).
 */
import { errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { AccessReach, TokenHolder, VerifiedHolder } from "../../app/principal";
import { parseId } from "../../domain/ids";
import { ACCESS_TOKEN_SCOPES } from "../../domain/scopes";
import { signWithPepper } from "../../lib/peppered";

/** The only algorithm that is accepted, whatever a token's header names. */
const ALGORITHM = "HS256";
/** Keeps a JWT that was made for another purpose from being taken for an access token. */
const TYPE = "longhand-access+jwt";
const THREE_PARTS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The deployment that makes or verifies a token, and its time in epoch milliseconds. */
interface Issuer {
  readonly now: number;
  /** The environment's name: it keeps apart deployments that share a pepper. */
  readonly env: string;
  readonly pepper: string;
}

const toIssuerName = (env: string): string => `longhand/${env}`;

/** Signing keys are cached. A deployment has one or two peppers, and deriving a key for each request would cost more than the check. */
const derived = new Map<string, CryptoKey>();

async function deriveKey(pepper: string): Promise<CryptoKey> {
  const known = derived.get(pepper);
  if (known) return known;
  const bytes = await signWithPepper("longhand/access-token-key/1", pepper);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  derived.set(pepper, key);
  return key;
}

export async function signAccessToken(holder: TokenHolder, { now, env, pepper }: Issuer): Promise<string> {
  const { tenant, key, scopes, expires_at, access_token } = holder;
  return new SignJWT({ key, scope: scopes.join(" "), ...access_token.reach })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
    .setIssuer(toIssuerName(env))
    .setSubject(tenant)
    .setJti(access_token.id)
    .setIssuedAt(Math.floor(now / 1_000))
    .setExpirationTime(Math.floor(expires_at / 1_000))
    .sign(await deriveKey(pepper));
}

/** True for a text in the form of a token. An API key never has it. */
export const isTokenShaped = (text: string): boolean => THREE_PARTS.test(text);

/** Null when this deployment did not sign the token, or it has expired. */
export async function verifyAccessToken(token: string, { now, env, pepper }: Issuer): Promise<VerifiedHolder | null> {
  if (!isTokenShaped(token)) return null;
  const rules = { algorithms: [ALGORITHM], typ: TYPE, issuer: toIssuerName(env), currentDate: new Date(now), requiredClaims: ["exp"] };
  try {
    const { payload } = await jwtVerify(token, await deriveKey(pepper), rules);
    return readHolder(payload);
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** A scope or a claim that this build does not know grants nothing. */
function readHolder({ sub = "", jti = "", exp, iat = 0, ...claims }: JWTPayload): VerifiedHolder | null {
  const [tenant, id, key, reach] = [parseId("ten", sub), parseId("tok", jti), parseId("key", String(claims.key)), readReach(claims)];
  if (!tenant || !id || !key || !reach || exp === undefined) return null;
  const words = String(claims.scope).split(" ");
  const scopes = ACCESS_TOKEN_SCOPES.filter((scope) => words.includes(scope));
  return { tenant, key, scopes, expires_at: exp * 1_000, issued_at: iat * 1_000, access_token: { id, reach } };
}

/** Null unless exactly one of the two is claimed: a token without a limit must open nothing. */
function readReach({ session, end_user }: JWTPayload): AccessReach | null {
  if (typeof end_user === "string") return session === undefined && end_user !== "" ? { end_user } : null;
  const id = typeof session === "string" && end_user === undefined ? parseId("ses", session) : null;
  return id && { session: id };
}
