import { describe, expect, test } from "vitest";
import { slackCredentials } from "../../../src/channels/slack/credentials";
import { slack } from "../../../src/channels/slack/slack";
import { credentials, NOW, post, sign } from "./support";

const SECOND = String(NOW / 1_000);
const BODY = '{"type":"event_callback","text":"你好"}';
const headersFor = (timestamp: string, body = BODY) => ({
  "x-slack-request-timestamp": timestamp,
  "x-slack-signature": sign("secret", timestamp, body),
});
const verify = (headers: Readonly<Record<string, string>>, body: string | Uint8Array = BODY, now = NOW) =>
  slack.verify(post(body, { headers }), credentials, now);

describe("Slack's signature", () => {
  test("the example that Slack publishes is verified", async () => {
    const example = slackCredentials.parse({ signing_secret: "8f742231b10e8888abcd99yyyzzz85a5", bot_token: "xoxb-1" });
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const at = (ms: number) => slack.verify(post(body, { headers }), example, ms);
    expect(await at(1_531_420_618_000)).toBe("verified");
    expect(await slack.verify(post(`${body}&x=1`, { headers }), example, 1_531_420_618_000)).toBe("wrong");
  });

  test("covers the raw bytes, even where they are not UTF-8", async () => {
    const raw = Uint8Array.from([0xff, 0xfe, 0x00, 0x7b]);
    const { createHmac } = await import("node:crypto");
    const mac = createHmac("sha256", "secret").update(`v0:${SECOND}:`).update(raw).digest("hex");
    const headers = { "x-slack-request-timestamp": SECOND, "x-slack-signature": `v0=${mac}` };
    expect(await verify(headers, raw)).toBe("verified");
    expect(await verify(headers, Uint8Array.from([0xff, 0xff, 0x00, 0x7b]))).toBe("wrong");
  });

  test.each([
    [-300_000, "verified"],
    [-301_000, "expired"],
    [300_000, "verified"],
    [301_000, "expired"],
  ])("a request of %i ms from now is %s", async (ms, expected) => {
    expect(await verify(headersFor(String((NOW + ms) / 1_000)))).toBe(expected);
  });

  test("a wrong signature is wrong, however old it is", async () => {
    const old = String(NOW / 1_000 - 1_000);
    expect(await verify({ ...headersFor(old), "x-slack-signature": sign("other", old, BODY) })).toBe("wrong");
  });

  test("a request without a signature is unsigned, and one without a timestamp is wrong", async () => {
    const { "x-slack-signature": signature, ...rest } = headersFor(SECOND);
    expect(await verify(rest)).toBe("unsigned");
    expect(await verify({ "x-slack-signature": signature })).toBe("wrong");
  });

  test.each([["x-slack-signature"], ["x-slack-request-timestamp"]])("a request with two headers %s is wrong", async (name) => {
    const request = post(BODY, { headers: headersFor(SECOND) });
    request.headers.append(name, request.headers.get(name) ?? "");
    expect(await slack.verify(request, credentials, NOW)).toBe("wrong");
  });

  test.each([[""], ["v0="], ["v1="], ["v0=zz"]])("a signature that begins with %j alone is wrong", async (signature) => {
    expect(await verify({ ...headersFor(SECOND), "x-slack-signature": signature })).toBe("wrong");
  });

  test.each([["0x10"], ["-1"], ["1e9"], ["Infinity"], [" "], ["１２"]])(
    "the timestamp %j is wrong, even when it is signed",
    async (timestamp) => {
      const headers = { "x-slack-signature": sign("secret", timestamp, BODY), "x-slack-request-timestamp": encodeURI(timestamp) };
      expect(await verify(headers)).toBe("wrong");
    },
  );
});
