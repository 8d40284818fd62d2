/** Which texts are access tokens of this deployment, and which are not, however they were made. */
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, it } from "vitest";
import type { AccessReach, TokenHolder } from "../../src/app/principal";
import { signWithPepper } from "../../src/lib/peppered";
import { isTokenShaped, signAccessToken, verifyAccessToken } from "../../src/tenant/keys/access-token";
import { generateApiKey } from "../../src/tenant/keys/api-key";
import { makeId } from "../http/support";

const NOW = 1_795_000_000_000;
const here = { env: "test", pepper: "a pepper for the tests", now: NOW };
const reach: AccessReach = { session: makeId("ses") };

const holder = (changes: Partial<TokenHolder> = {}): TokenHolder => ({
  tenant: makeId("ten"),
  key: makeId("key"),
  scopes: ["sessions:read", "sessions:write"],
  expires_at: NOW + 60_000,
  access_token: { id: makeId("tok"), reach },
  ...changes,
});

const claims = { key: makeId("key"), scope: "sessions:read", session: makeId("ses"), sub: makeId("ten"), jti: makeId("tok") };
const good = { iss: "longhand/test", iat: NOW / 1_000, exp: NOW / 1_000 + 60, ...claims };
const header = { alg: "HS256", typ: "longhand-access+jwt" };

/** Signs as this deployment does, with anything in it. */
async function forge(payload: object, protectedHeader: { alg: string } & Record<string, unknown> = header): Promise<string> {
  const key = await signWithPepper("longhand/access-token-key/1", here.pepper);
  return new SignJWT({ ...payload }).setProtectedHeader(protectedHeader).sign(key);
}

const toPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("an access token", () => {
  it.each<[string, AccessReach]>([
    ["one session", reach],
    ["an end user", { end_user: "ada@example.com" }],
    ["an end user in Chinese", { end_user: "用户-李雷" }],
    ["the longest end user", { end_user: "李".repeat(256) }],
    ["half of a surrogate pair", { end_user: "\ud83d" }],
  ])("of %s is read as it was signed", async (_, each) => {
    const made = holder({ access_token: { id: makeId("tok"), reach: each } });

    const token = await signAccessToken(made, here);

    expect(await verifyAccessToken(token, here)).toEqual({ ...made, issued_at: Math.floor(here.now / 1_000) * 1_000 });
    expect(token.length).toBeLessThanOrEqual(4_096);
    expect(isTokenShaped(token)).toBe(true);
  });

  it("is valid until its expiry and not at it", async () => {
    const token = await signAccessToken(holder(), here);

    expect(await verifyAccessToken(token, { ...here, now: NOW + 59_999 })).not.toBeNull();
    expect(await verifyAccessToken(token, { ...here, now: NOW + 60_000 })).toBeNull();
  });

  it("of a machine whose clock is ahead is valid on one whose clock is behind", async () => {
    const token = await signAccessToken(holder(), { ...here, now: NOW + 5_000 });

    expect(await verifyAccessToken(token, { ...here, now: NOW - 5_000 })).not.toBeNull();
  });

  it.each([
    ["with another pepper", { ...here, pepper: "another pepper of a deployment" }],
    ["with the same pepper and another environment", { ...here, env: "staging" }],
  ])("of a deployment %s is none", async (_, there) => {
    const token = await signAccessToken(holder(), there);

    expect(await verifyAccessToken(token, here)).toBeNull();
    expect(await verifyAccessToken(token, there)).not.toBeNull();
  });

  it("changed in any character is none", async () => {
    const token = await signAccessToken(holder(), here);
    // The last character of a part may hold bits that the decoder drops, so the second last is changed there.
    const places = [...token].flatMap((letter, at) => (letter === "." || token[at + 1] === "." || at === token.length - 1 ? [] : [at]));

    for (const at of places) {
      const changed = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
      expect([at, await verifyAccessToken(changed, here)]).toEqual([at, null]);
    }
  });
});

describe("a forged token", () => {
  it("is signed correctly in these tests: otherwise they would show nothing", async () => {
    expect(await verifyAccessToken(await forge(good), here)).not.toBeNull();
  });

  it("without a signature is none", async () => {
    const unsigned = new UnsecuredJWT({ ...good }).encode();

    expect(await verifyAccessToken(unsigned, here)).toBeNull();
    expect(await verifyAccessToken(`${toPart({ ...header, alg: "none" })}.${toPart(good)}.x`, here)).toBeNull();
    expect(await verifyAccessToken(`${toPart(header)}.${toPart(good)}.`, here)).toBeNull();
  });

  it.each(["HS384", "HS512"])("under %s is none, even with the right key", async (alg) => {
    const key = await signWithPepper("longhand/access-token-key/1", here.pepper);
    const long = new Uint8Array(64);
    long.set(key);

    expect(await verifyAccessToken(await new SignJWT(good).setProtectedHeader({ ...header, alg }).sign(long), here)).toBeNull();
  });

  it("under a key pair, whose public half its header carries, is none", async () => {
    const pair = await generateKeyPair("ES256", { extractable: true });
    const jwk = await exportJWK(pair.publicKey);
    const token = await new SignJWT(good).setProtectedHeader({ ...header, alg: "ES256", jwk }).sign(pair.privateKey);

    expect(await verifyAccessToken(token, here)).toBeNull();
  });

  it.each([
    ["the pepper itself", () => new TextEncoder().encode(here.pepper)],
    ["an empty label's HMAC", () => signWithPepper("", here.pepper)],
    ["the checksum's label", () => signWithPepper("longhand/api-key-checksum/1\n", here.pepper)],
  ])("under %s is none", async (_, readKey) => {
    const token = await new SignJWT(good).setProtectedHeader(header).sign(await readKey());

    expect(await verifyAccessToken(token, here)).toBeNull();
  });

  it.each<[string, object]>([
    ["no expiry", { ...good, exp: undefined }],
    ["an expiry that is text", { ...good, exp: "4000000000" }],
    ["another issuer", { ...good, iss: "longhand/tes" }],
    ["no issuer", { ...good, iss: undefined }],
    ["no tenant", { ...good, sub: undefined }],
    ["a malformed tenant", { ...good, sub: "ten_1" }],
    ["no key", { ...good, key: undefined }],
    ["no id", { ...good, jti: undefined }],
    ["no session and no end user", { ...good, session: undefined }],
    ["a session and an end user", { ...good, end_user: "ada" }],
    ["a malformed session", { ...good, session: "*" }],
    ["a session that is null", { ...good, session: null }],
    ["an empty end user", { ...good, session: undefined, end_user: "" }],
    ["a list of end users", { ...good, session: undefined, end_user: ["ada"] }],
    ["a start in the future", { ...good, nbf: NOW / 1_000 + 30 }],
  ])("with the right key and %s is none", async (_, payload) => {
    expect(await verifyAccessToken(await forge(payload), here)).toBeNull();
  });

  it.each([undefined, "JWT", "at+jwt"])("with the right key and the type %s is none", async (typ) => {
    expect(await verifyAccessToken(await forge(good, { alg: "HS256", ...(typ && { typ }) }), here)).toBeNull();
  });

  it("with a header that asks for unknown rules is none", async () => {
    const key = await signWithPepper("longhand/access-token-key/1", here.pepper);
    const unknown = { ...header, crit: ["exp2"], exp2: 1 };
    const token = await new SignJWT(good).setProtectedHeader(unknown).sign(key, { crit: { exp2: true } });

    expect(await verifyAccessToken(token, here)).toBeNull();
  });

  it("with scopes that a token cannot have has none of them", async () => {
    const verified = await verifyAccessToken(await forge({ ...good, scope: "keys:write models:write sessions:read *" }), here);

    expect(verified?.scopes).toEqual(["sessions:read"]);
  });

  it.each(["", ".", "..", "a.b", "a.b.c", "a.b.c.d", "e30.e30.e30", "{}.{}.{}", "a.b.c\n", "…", "x".repeat(4_000)])(
    "%j is none",
    async (text) => {
      expect(await verifyAccessToken(text, here)).toBeNull();
    },
  );
});

it("an API key never has the form of an access token", async () => {
  expect(isTokenShaped(await generateApiKey({ env: "test", tenant: makeId("ten") }, here.pepper))).toBe(false);
});
