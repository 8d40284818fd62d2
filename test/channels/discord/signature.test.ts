import { createPrivateKey, createPublicKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { discordCredentials } from "../../../src/channels/discord/credentials";
import { discord } from "../../../src/channels/discord/discord";
import { makeKeys } from "../../support/stand-in/discord/interactions";
import { credentials, NOW, post, signText } from "./support";

const SECOND = String(NOW / 1_000);
const BODY = '{"type":2,"text":"你好"}';
const headersFor = (timestamp: string, body: string | Uint8Array = BODY) => ({
  "x-signature-timestamp": timestamp,
  "x-signature-ed25519": signText(timestamp, body),
});
const verify = (headers: Readonly<Record<string, string>>, body: string | Uint8Array = BODY, now = NOW) =>
  discord.verify(post(body, headers), credentials, now);

/** RFC 8032, 7.1, TEST 2. Its message is no number and text, as Discord signs them, so that only its key pair is of use here. */
const RFC_SECRET = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
const RFC_PUBLIC = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
const PKCS8 = "302e020100300506032b657004220420";

describe("Discord's signature", () => {
  test("the key of RFC 8032's second test verifies what it signs, in either case of its digits", async () => {
    const privateKey = createPrivateKey({ key: Buffer.from(PKCS8 + RFC_SECRET, "hex"), format: "der", type: "pkcs8" });
    expect(createPublicKey(privateKey).export({ type: "spki", format: "der" }).subarray(-32).toString("hex")).toBe(RFC_PUBLIC);
    const signature = signText(SECOND, BODY, { privateKey, publicKey: RFC_PUBLIC });
    const given = discordCredentials.parse({ application_id: "1", public_key: RFC_PUBLIC.toUpperCase(), bot_token: "x" });
    for (const written of [signature, signature.toUpperCase()]) {
      const headers = { "x-signature-timestamp": SECOND, "x-signature-ed25519": written };
      expect(await discord.verify(post(BODY, headers), given, NOW)).toBe("verified");
      expect(await discord.verify(post(`${BODY} `, headers), given, NOW)).toBe("wrong");
    }
  });

  test("covers the raw bytes, even where they are not UTF-8", async () => {
    const raw = Uint8Array.from([0xff, 0xfe, 0x00, 0x7b]);
    expect(await verify(headersFor(SECOND, raw), raw)).toBe("verified");
    expect(await verify(headersFor(SECOND, raw), Uint8Array.from([0xff, 0xff, 0x00, 0x7b]))).toBe("wrong");
  });

  test("covers the timestamp", async () => {
    expect(await verify({ ...headersFor(SECOND), "x-signature-timestamp": String(NOW / 1_000 - 1) })).toBe("wrong");
  });

  test.each([
    [-300_000, "verified"],
    [-301_000, "expired"],
    [300_000, "verified"],
    [301_000, "expired"],
  ])("a request of %i ms from now is %s", async (ms, expected) => {
    expect(await verify(headersFor(String((NOW + ms) / 1_000)))).toBe(expected);
  });

  test("a wrong signature is wrong, however old it is, and so is another application's", async () => {
    const old = String(NOW / 1_000 - 1_000);
    expect(await verify({ ...headersFor(old), "x-signature-ed25519": signText(old, BODY, makeKeys()) })).toBe("wrong");
    expect(await verify({ ...headersFor(SECOND), "x-signature-ed25519": signText(SECOND, BODY, makeKeys()) })).toBe("wrong");
  });

  test("a request without a signature is unsigned, and one without a timestamp is wrong", async () => {
    const { "x-signature-ed25519": signature, ...rest } = headersFor(SECOND);
    expect(await verify(rest)).toBe("unsigned");
    expect(await verify({ "x-signature-ed25519": signature })).toBe("wrong");
  });

  test.each([["x-signature-ed25519"], ["x-signature-timestamp"]])("a request with two headers %s is wrong", async (name) => {
    const request = post(BODY, headersFor(SECOND));
    request.headers.append(name, request.headers.get(name) ?? "");
    expect(await discord.verify(request, credentials, NOW)).toBe("wrong");
  });

  test.each([[""], ["00"], ["0".repeat(128)], ["f".repeat(128)], ["g".repeat(128)], ["0".repeat(130)]])(
    "the signature %j is wrong",
    async (signature) => {
      expect(await verify({ ...headersFor(SECOND), "x-signature-ed25519": signature })).toBe("wrong");
    },
  );

  test.each([["0x10"], ["-1"], ["1e9"], ["Infinity"], [" "], ["1764000000.5"]])(
    "the timestamp %j is wrong, even when it is signed",
    async (timestamp) => {
      expect(await verify(headersFor(timestamp))).toBe("wrong");
    },
  );

  test("a public key that is no point of the curve verifies nothing", async () => {
    for (const public_key of ["f".repeat(64), `02${"0".repeat(62)}`])
      expect(await discord.verify(post(BODY, headersFor(SECOND)), { ...credentials, public_key }, NOW)).toBe("wrong");
  });
});

describe("the credentials", () => {
  test.each([
    [{ application_id: "abc" }, "application_id"],
    [{ public_key: "00" }, "public_key"],
    [{ bot_token: "Bot abc" }, "bot_token"],
    [{ bot_token: "a\nb" }, "bot_token"],
    [{ api_url: "ftp://x.example" }, "api_url"],
    [{ more: 1 }, undefined],
  ])("%j name what is wrong", (wrong, field) => {
    const parsed = discordCredentials.safeParse({ ...credentials, ...wrong });
    expect(parsed.error?.issues[0]?.path[0]).toBe(field);
    expect(parsed.success).toBe(false);
  });
});
