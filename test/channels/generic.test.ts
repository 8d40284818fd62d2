/** The adapter for a tenant's own system, against the published examples of Standard Webhooks and GitHub, and against the official library. */
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import type { OutboundAct, WebhookRequest } from "../../src/app/channels/channel";
import type { GenericCredentials } from "../../src/channels/generic/credentials";
import { createGenericAdapter } from "../../src/channels/generic/generic";
import { drawn } from "../support/effort";

/** The example of the reference libraries. */
const EXAMPLE = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const NOW = EXAMPLE.timestamp * 1_000;
/** The example of GitHub's documentation. */
const HUB = {
  secret: "It's a Secret to Everybody",
  body: "Hello, World!",
  signature: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
};
const OTHER_SECRET = `whsec_${btoa("another secret of this test")}`;

const reply_url = "https://example.com/replies";
const standard: GenericCredentials = { signature: "standard_webhooks", secret: EXAMPLE.secret, reply_url };
const github: GenericCredentials = { signature: "github", secret: HUB.secret, reply_url, reply_secret: OTHER_SECRET };
const adapter = createGenericAdapter(() => NOW);

const toRequest = (body: string, headers: HeadersInit = {}): WebhookRequest => ({
  method: "POST",
  url: new URL("https://longhand.test/webhooks/t/c"),
  headers: new Headers(headers),
  body: new Uint8Array(new TextEncoder().encode(body)),
});

const exampleHeaders = {
  "webhook-id": EXAMPLE.id,
  "webhook-timestamp": String(EXAMPLE.timestamp),
  "webhook-signature": EXAMPLE.signature,
};
const verifyExample = (changes: Readonly<Record<string, string | null>>, { body = EXAMPLE.body, now = NOW } = {}) => {
  const entries = Object.entries({ ...exampleHeaders, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null);
  return adapter.verify(toRequest(body, entries), standard, now);
};
const WRONG = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

describe("a signature of Standard Webhooks", () => {
  it("of the published example is verified", async () => {
    expect(await verifyExample({})).toBe("verified");
  });

  it.each<[string, Readonly<Record<string, string | null>>, string]>([
    ["without an id", { "webhook-id": null }, "unsigned"],
    ["without a time", { "webhook-timestamp": null }, "unsigned"],
    ["without a signature", { "webhook-signature": null }, "unsigned"],
    ["with an empty signature", { "webhook-signature": "" }, "unsigned"],
    ["of other bytes", { "webhook-signature": WRONG }, "wrong"],
    ["of another id", { "webhook-id": "msg_other" }, "wrong"],
    ["of another time", { "webhook-timestamp": String(EXAMPLE.timestamp + 1) }, "wrong"],
    ["without its version", { "webhook-signature": EXAMPLE.signature.slice(3) }, "wrong"],
    ["of a version that is not known", { "webhook-signature": `v9,${EXAMPLE.signature.slice(3)}` }, "wrong"],
    ["that is no base64", { "webhook-signature": "v1,*" }, "wrong"],
    ["whose id was sent twice", { "webhook-id": `${EXAMPLE.id}, ${EXAMPLE.id}` }, "wrong"],
    ["whose time was sent twice", { "webhook-timestamp": `${EXAMPLE.timestamp}, ${EXAMPLE.timestamp}` }, "wrong"],
    ["that was sent twice", { "webhook-signature": `${EXAMPLE.signature}, ${EXAMPLE.signature}` }, "wrong"],
    ["whose time is no number", { "webhook-timestamp": "soon" }, "wrong"],
    ["behind eight others", { "webhook-signature": [...Array(8).fill(WRONG), EXAMPLE.signature].join(" ") }, "wrong"],
    ["among others, as while a secret is rotated", { "webhook-signature": `v1a,abc ${WRONG} ${EXAMPLE.signature}` }, "verified"],
  ])("%s", async (_, changes, verdict) => {
    expect(await verifyExample(changes)).toBe(verdict);
  });

  it("is compared with the raw bytes of the body", async () => {
    expect(await verifyExample({}, { body: '{"test":2432232314}' })).toBe("wrong");
  });

  it.each([
    ["five minutes old", 300_000, "verified"],
    ["older", 301_000, "expired"],
    ["five minutes ahead", -300_000, "verified"],
    ["further ahead", -301_000, "expired"],
  ])("that is %s", async (_, age, verdict) => {
    expect(await verifyExample({}, { now: NOW + age })).toBe(verdict);
  });

  it("of an id with a full stop is refused: a part of the body could be read as the time", async () => {
    const id = `msg.${EXAMPLE.timestamp}`;
    const signature = new Webhook(EXAMPLE.secret).sign(id, new Date(NOW), EXAMPLE.body);

    expect(await verifyExample({ "webhook-id": id, "webhook-signature": signature })).toBe("wrong");
  });

  it("by the official library is verified, whatever the body is, and by another secret is not", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (body) => {
        const sign = (secret: string) => ({ "webhook-signature": new Webhook(secret).sign(EXAMPLE.id, new Date(NOW), body) });

        expect(await verifyExample(sign(EXAMPLE.secret), { body })).toBe("verified");
        expect(await verifyExample(sign(OTHER_SECRET), { body })).toBe("wrong");
      }),
      { numRuns: 30 },
    );
  });
});

describe("a signature of GitHub's style", () => {
  const verify = (headers: HeadersInit, body = HUB.body) => adapter.verify(toRequest(body, headers), github, NOW);

  it("of the published example is verified, in either case", async () => {
    expect(await verify({ "x-hub-signature-256": HUB.signature })).toBe("verified");
    expect(await verify({ "x-hub-signature-256": `sha256=${HUB.signature.slice(7).toUpperCase()}` })).toBe("verified");
  });

  it.each<[string, HeadersInit, string]>([
    ["that is missing", {}, "unsigned"],
    ["with SHA-1", { "x-hub-signature": HUB.signature }, "unsigned"],
    ["of another kind", { "x-hub-signature-256": HUB.signature.replace("sha256", "sha1") }, "wrong"],
    ["that is too short", { "x-hub-signature-256": HUB.signature.slice(0, -2) }, "wrong"],
    ["of other bytes", { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }, "wrong"],
    ["that was sent twice", { "x-hub-signature-256": `${HUB.signature}, ${HUB.signature}` }, "wrong"],
    ["of Standard Webhooks", exampleHeaders, "unsigned"],
  ])("%s", async (_, headers, verdict) => {
    expect(await verify(headers)).toBe(verdict);
  });

  it("is compared with the raw bytes of the body", async () => {
    expect(await verify({ "x-hub-signature-256": HUB.signature }, `${HUB.body}\n`)).toBe("wrong");
  });
});

const user = { id: "u-1", name: "Ada", language: "de" };
const said = { conversation: "c-1", user, message: { id: "m-1", text: "Hello" } };
const parse = (body: unknown, credentials: GenericCredentials = standard, headers: HeadersInit = exampleHeaders) =>
  adapter.parse(toRequest(typeof body === "string" ? body : JSON.stringify(body), headers), credentials);

describe("a body", () => {
  it("brings a message with its place, person, files and command", () => {
    const files = [{ url: "https://example.com/a.png", name: "a.png", media_type: "image/png" }];
    const message = { id: "m-1", text: "/Start  with this\n图书馆", files, addressed: false };

    expect(parse({ id: "d-1", at: 5, conversation: "c-1", thread: "t-1", private: false, user, message })).toMatchObject({
      kind: "deliveries",
      answer: { status: 200 },
      deliveries: [
        {
          id: "d-1",
          at: 5,
          user,
          place: { chat: "c-1", thread: "t-1", is_private: false, target: { conversation: "c-1", thread: "t-1" } },
          event: {
            type: "message",
            message: "m-1",
            text: message.text,
            is_addressed: false,
            command: { name: "start", args: "with this\n图书馆" },
            files: [{ ref: "https://example.com/a.png", name: "a.png", media_type: "image/png", bytes: null }],
          },
        },
      ],
    });
  });

  it.each([
    ["an edit", { edit: { id: "m-1", text: "Hi" } }, { type: "edit", message: "m-1", text: "Hi" }],
    ["a deletion", { deletion: { id: "m-1" } }, { type: "deletion", message: "m-1" }],
    ["a button", { button: { message: "m-2", data: "yes" } }, { type: "button", message: "m-2", data: "yes" }],
  ])("brings %s", (_, event, parsed) => {
    expect(parse({ conversation: "c-1", user, ...event })).toMatchObject({ deliveries: [{ event: parsed }] });
  });

  it("without an id has that of the signed header; in GitHub's style, whose headers are not signed, that of its content", () => {
    const readId = (parsed: ReturnType<typeof parse>) => (parsed.kind === "deliveries" ? parsed.deliveries[0]?.id : null);
    const replayed = { "x-github-delivery": "another" };

    expect(readId(parse(said))).toBe(EXAMPLE.id);
    expect(readId(parse(said, github))).toMatch(/^[0-9a-f]{64}$/);
    expect(readId(parse(said, github, replayed))).toBe(readId(parse(said, github)));
    expect(readId(parse({ ...said, message: { id: "m-2", text: "Hello" } }, github))).not.toBe(readId(parse(said, github)));
  });

  it.each<[string, unknown, string]>([
    ["that is no JSON", "{", "body: not JSON in UTF-8"],
    ["that is no object", "[]", "body: "],
    ["without a conversation", { user, message: said.message }, "conversation: "],
    ["without a person", { conversation: "c-1", message: said.message }, "user: "],
    ["without an event", { conversation: "c-1", user }, "body: exactly one of message, edit, deletion, button is required"],
    ["with two events", { ...said, deletion: { id: "m-1" } }, "body: exactly one of"],
    ["with an id that is too long", { ...said, conversation: "x".repeat(129) }, "conversation: "],
    [
      "with half of a surrogate pair",
      '{"conversation":"\\ud800","user":{"id":"u"},"deletion":{"id":"m"}}',
      "conversation: is not valid Unicode",
    ],
    ["with a file at no web address", { ...said, message: { id: "m", files: [{ url: "file:///etc/passwd" }] } }, "message.files.0.url: "],
  ])("%s is refused, and the fault names its field", (_, body, detail) => {
    expect(parse(body)).toMatchObject({ kind: "malformed", detail: expect.stringContaining(detail) });
  });

  it("that is not UTF-8 is refused", () => {
    const request = { ...toRequest(""), body: new Uint8Array([0x7b, 0xff]) };
    expect(adapter.parse(request, standard)).toMatchObject({ kind: "malformed" });
  });

  it("never throws, whatever it is", () => {
    const near = fc.record(
      {
        id: fc.anything(),
        conversation: fc.oneof(fc.string(), fc.anything()),
        thread: fc.anything(),
        user: fc.oneof(fc.constant(user), fc.anything()),
        message: fc.oneof(fc.record({ id: fc.string(), text: fc.string({ unit: "binary" }), files: fc.anything() }), fc.anything()),
        edit: fc.anything(),
      },
      { requiredKeys: [] },
    );
    const bodies = fc.oneof(
      near.map((body) => JSON.stringify(body)),
      fc.json(),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(bodies, fc.constantFrom(standard, github), (body, credentials) => {
        const parsed = parse(body, credentials);
        expect(["deliveries", "malformed"]).toContain(parsed.kind);
      }),
      { numRuns: drawn(300) },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(adapter.parse({ ...toRequest(""), body: new Uint8Array(bytes) }, standard).kind).toBe("malformed");
      }),
      { numRuns: drawn(200) },
    );
  });

  it("of GitHub's ping is answered, and brings nothing", () => {
    expect(parse({ zen: "Keep it simple." }, github, { "x-github-event": "ping" })).toMatchObject({ kind: "handshake" });
  });
});

const send: OutboundAct = {
  type: "send",
  operation: "op-1",
  place: { chat: "c-1", thread: null, is_private: true, target: { conversation: "c-1", thread: null } },
  text: adapter.render("**Hello**, 图书馆"),
  buttons: [{ label: "Yes", data: "yes" }],
  is_plain: false,
};

describe("a reply", () => {
  it.each<[string, GenericCredentials, string]>([
    ["the channel's secret", standard, EXAMPLE.secret],
    ["the secret of replies, if there is one", { ...standard, reply_secret: OTHER_SECRET }, OTHER_SECRET],
    ["the secret of replies in GitHub's style", github, OTHER_SECRET],
  ])("is posted to its address, signed by %s", (_, credentials, secret) => {
    const now = Date.now();
    const request = createGenericAdapter(() => now).build(send, credentials);
    const { url = "", method = "", headers = {}, body = "" } = request ?? {};

    expect([method, url]).toEqual(["POST", reply_url]);
    expect(headers).toMatchObject({ "webhook-id": "op-1", "content-type": "application/json" });
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: "reply",
      timestamp: new Date(now).toISOString(),
      data: { operation: "op-1", conversation: "c-1", thread: null, text: "**Hello**, 图书馆", buttons: [{ label: "Yes", data: "yes" }] },
    });
    expect(() => new Webhook(btoa("a secret that is not the channel's")).verify(body, headers)).toThrow();
  });

  it("that is built again has the same id, so that its receiver recognises it", () => {
    const later = createGenericAdapter(() => NOW + 60_000).build(send, standard);
    expect(later?.headers["webhook-id"]).toBe(adapter.build(send, standard)?.headers["webhook-id"]);
    expect(later?.headers["webhook-timestamp"]).toBe(String(EXAMPLE.timestamp + 60));
  });

  it("is the only act: there is no typing and no edit", () => {
    expect(adapter.build({ type: "typing", place: send.place }, standard)).toBeNull();
    expect(adapter.build({ type: "acknowledge_button", place: send.place, delivery: "d" }, standard)).toBeNull();
  });

  const answer = (status: number, { body = "", headers = {} }: { readonly body?: string; readonly headers?: HeadersInit } = {}) =>
    adapter.read(send, { status, headers: new Headers(headers), body });

  it.each([
    [200, { kind: "done", message: null }],
    [204, { kind: "done", message: null }],
    [302, { kind: "refused", reason: "status 302" }],
    [400, { kind: "refused", reason: "status 400" }],
    [408, { kind: "unknown", reason: "status 408" }],
    [410, { kind: "refused", reason: "status 410" }],
    [429, { kind: "rate_limited", retry_in_ms: 30_000 }],
    [500, { kind: "unknown", reason: "status 500" }],
    [503, { kind: "failed", reason: "status 503" }],
  ])("that is answered %i", (status, outcome) => {
    expect(answer(status)).toEqual(outcome);
  });

  it("that got no answer may have arrived", () => {
    expect(adapter.read(send, null)).toEqual({ kind: "unknown", reason: "no answer" });
  });

  it("has the id that its receiver tells, and waits as long as it asks", () => {
    expect(answer(200, { body: '{"message_id":"m-9"}' })).toEqual({ kind: "done", message: "m-9" });
    expect(answer(200, { body: '{"message_id":9}' })).toEqual({ kind: "done", message: null });
    expect(answer(429, { headers: { "retry-after": "7" } })).toEqual({ kind: "rate_limited", retry_in_ms: 7_000 });
    expect(answer(429, { headers: { "retry-after": "999999" } })).toEqual({ kind: "rate_limited", retry_in_ms: 3_600_000 });
    expect(answer(429, { headers: { "retry-after": "tomorrow" } })).toEqual({ kind: "rate_limited", retry_in_ms: 30_000 });
  });
});

describe("the secrets", () => {
  it.each<[string, unknown]>([
    ["without a kind of signature", { secret: EXAMPLE.secret, reply_url }],
    ["with a secret without its prefix", { ...standard, secret: EXAMPLE.secret.slice(6) }],
    ["with a secret that is too short", { ...standard, secret: `whsec_${btoa("short")}` }],
    ["with a secret that is too long", { ...standard, secret: `whsec_${btoa("x".repeat(65))}` }],
    ["with a secret of GitHub that is too short", { ...github, secret: "short" }],
    ["of GitHub without one for replies", { signature: "github", secret: HUB.secret, reply_url }],
    ["with an address that is none", { ...standard, reply_url: "example.com" }],
    ["with a field that there is not", { ...standard, admin: true }],
  ])("%s are refused", (_, credentials) => {
    expect(adapter.credentials.safeParse(credentials).success).toBe(false);
  });

  it("of both kinds are taken", () => {
    expect(adapter.credentials.safeParse(standard).success).toBe(true);
    expect(adapter.credentials.safeParse(github).success).toBe(true);
  });
});
