/** workerd has its own WebCrypto, and the adapter's other tests run in Node. */
import { describe, expect, test } from "vitest";
import { discordCredentials } from "../../src/channels/discord/credentials";
import { discord } from "../../src/channels/discord/discord";
import { toHex } from "../../src/lib/hex";

const NOW = Date.UTC(2026, 10, 24, 12);
const SECOND = String(NOW / 1_000);
const BODY = '{"type":1,"text":"你好"}';

describe("Discord's signature in workerd", () => {
  test("is verified over the timestamp and the raw body, and a changed one of either is wrong", async () => {
    const pair = await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]);
    if (!("privateKey" in pair)) throw new Error("This is no pair of keys.");
    const exported = await crypto.subtle.exportKey("raw", pair.publicKey);
    if (!(exported instanceof ArrayBuffer)) throw new Error("This is no raw key.");
    const credentials = discordCredentials.parse({ application_id: "7", public_key: toHex(new Uint8Array(exported)), bot_token: "x" });
    const signed = new TextEncoder().encode(SECOND + BODY);
    const signature = toHex(new Uint8Array(await crypto.subtle.sign({ name: "Ed25519" }, pair.privateKey, signed)));
    const verify = (body: string, timestamp: string) => {
      const headers = new Headers({ "x-signature-ed25519": signature, "x-signature-timestamp": timestamp });
      const request = {
        method: "POST",
        url: new URL("https://chat.example/"),
        headers,
        body: Uint8Array.from(new TextEncoder().encode(body)),
      } as const;
      return discord.verify(request, credentials, NOW);
    };
    expect(await verify(BODY, SECOND)).toBe("verified");
    expect(await verify(`${BODY} `, SECOND)).toBe("wrong");
    expect(await verify(BODY, String(NOW / 1_000 + 1))).toBe("wrong");
  });

  test("of a key that is no point of the curve is wrong, and not a defect", async () => {
    const credentials = discordCredentials.parse({ application_id: "7", public_key: "f".repeat(64), bot_token: "x" });
    const headers = new Headers({ "x-signature-ed25519": "0".repeat(128), "x-signature-timestamp": SECOND });
    const request = { method: "POST", url: new URL("https://chat.example/"), headers, body: new Uint8Array() } as const;
    expect(await discord.verify(request, credentials, NOW)).toBe("wrong");
  });
});
