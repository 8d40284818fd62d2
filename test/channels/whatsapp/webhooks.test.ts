import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WebhookRequest } from "../../../src/app/channels/channel";
import { whatsappCredentials } from "../../../src/channels/whatsapp/credentials";
import { whatsapp } from "../../../src/channels/whatsapp/whatsapp";

const credentials = whatsappCredentials.parse({
  app_secret: "secret",
  access_token: "EAAJB",
  verify_token: "verify-token",
  phone_number_id: "106540352242922",
});
const URL_OF_HOOK = "https://chat.example/webhook";

const bytes = (body: string | Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(typeof body === "string" ? Buffer.from(body) : body);
const sign = (body: string | Uint8Array, secret = "secret"): string => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
const post = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): WebhookRequest => ({
  method: "POST",
  url: new URL(URL_OF_HOOK),
  headers: new Headers(headers),
  body: bytes(body),
});
const get = (query: string): WebhookRequest => ({
  method: "GET",
  url: new URL(`${URL_OF_HOOK}?${query}`),
  headers: new Headers(),
  body: bytes(""),
});
const verify = (request: WebhookRequest) => whatsapp.verify(request, credentials, 0);
const parse = (request: WebhookRequest) => whatsapp.parse(request, credentials);

const PERSON = "16505551234";
const message = (more: object = {}) => ({
  from: PERSON,
  id: "wamid.1",
  timestamp: "1764000000",
  type: "text",
  text: { body: "hello" },
  ...more,
});
const value = (messages: readonly unknown[], more: object = {}) => ({
  messaging_product: "whatsapp",
  metadata: { display_phone_number: "15550783881", phone_number_id: "106540352242922" },
  contacts: [{ profile: { name: "Ada" }, wa_id: PERSON }],
  messages,
  ...more,
});
const notification = (...values: readonly object[]): string =>
  JSON.stringify({
    object: "whatsapp_business_account",
    entry: [{ id: "1", changes: values.map((each) => ({ value: each, field: "messages" })) }],
  });
const readAll = (...messages: readonly unknown[]) => {
  const parsed = parse(post(notification(value(messages))));
  return parsed.kind === "deliveries" ? parsed.deliveries : [];
};
const readEvent = (more: object) => readAll(message(more))[0]?.event;

describe("Meta's signature", () => {
  const body = notification(value([message()]));

  test("is of the raw bytes, under the app's secret", async () => {
    expect(await verify(post(body, { "x-hub-signature-256": sign(body) }))).toBe("verified");
    expect(await verify(post(`${body} `, { "x-hub-signature-256": sign(body) }))).toBe("wrong");
    expect(await verify(post(body, { "x-hub-signature-256": sign(body, "other") }))).toBe("wrong");
    const raw = Uint8Array.from([0xff, 0x00]);
    expect(await verify(post(raw, { "x-hub-signature-256": sign(raw) }))).toBe("verified");
  });

  test("that is missing, doubled or of the old kind is refused", async () => {
    expect(await verify(post(body))).toBe("unsigned");
    expect(await verify(post(body, { "x-hub-signature": `sha1=${createHmac("sha1", "secret").update(body).digest("hex")}` }))).toBe(
      "unsigned",
    );
    const doubled = post(body, { "x-hub-signature-256": sign(body) });
    doubled.headers.append("x-hub-signature-256", sign(body));
    expect(await verify(doubled)).toBe("wrong");
    expect(await verify(post(body, { "x-hub-signature-256": sign(body).slice(7) }))).toBe("wrong");
  });
});

describe("the check of the address", () => {
  const query = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=";

  test("shows the tenant's token, and is answered with the challenge as text", async () => {
    expect(await verify(get(`${query}verify-token`))).toBe("verified");
    expect(parse(get(`${query}verify-token`))).toEqual({ kind: "handshake", answer: { status: 200, text: "1158201444" } });
  });

  test("with another token, a part of it, none or two is refused", async () => {
    expect(await verify(get(`${query}verify-tokex`))).toBe("wrong");
    expect(await verify(get(`${query}verify`))).toBe("wrong");
    expect(await verify(get(`${query}verify-token-and-more`))).toBe("wrong");
    expect(await verify(get("hub.mode=subscribe&hub.challenge=1"))).toBe("unsigned");
    expect(await verify(get(`${query}verify-token&hub.verify_token=verify-token`))).toBe("wrong");
  });

  test("of another mode or without a challenge is malformed", () => {
    expect(parse(get("hub.mode=unsubscribe&hub.challenge=1"))).toMatchObject({ kind: "malformed" });
    expect(parse(get("hub.mode=subscribe"))).toMatchObject({ kind: "malformed" });
  });
});

describe("messages", () => {
  test("of one request are a delivery each, with the name of the person", () => {
    const deliveries = readAll(message(), message({ id: "wamid.2", text: { body: "/Reset now" } }));
    expect(deliveries).toEqual([
      {
        id: "wamid.1",
        place: { chat: PERSON, thread: null, is_private: true, target: { to: PERSON, recipient: null, message: "wamid.1" } },
        user: { id: PERSON, name: "Ada", language: null },
        at: 1_764_000_000_000,
        event: { type: "message", message: "wamid.1", text: "hello", files: [], command: null, is_addressed: true },
      },
      expect.objectContaining({ id: "wamid.2", event: expect.objectContaining({ command: { name: "reset", args: "now" } }) }),
    ]);
  });

  test("of a person who hides the number have the id that Meta gives the business", () => {
    const user = "US.13491208655302741918";
    const contacts = [{ profile: { name: "Ada" }, user_id: user }];
    const parsed = parse(post(notification(value([message({ from: undefined, from_user_id: user })], { contacts }))));
    expect(parsed).toMatchObject({
      deliveries: [{ place: { chat: user, target: { to: null, recipient: user } }, user: { id: user, name: "Ada" } }],
    });
  });

  test.each(["image", "document", "audio", "video", "sticker"])(
    "with a file of the kind %s name it, and their caption is the text",
    (type) => {
      const file = { id: "2754859441498128", mime_type: "audio/ogg; codecs=opus", sha256: "x", filename: "a.bin", caption: "see" };
      expect(readEvent({ type, text: undefined, [type]: file })).toMatchObject({
        text: "see",
        files: [{ ref: "2754859441498128", name: "a.bin", media_type: "audio/ogg", bytes: null }],
      });
    },
  );

  test("that choose a button name the message that has it", () => {
    const interactive = { type: "button_reply", button_reply: { id: "undo", title: "Undo" } };
    expect(readEvent({ type: "interactive", interactive, context: { id: "wamid.9" } })).toEqual({
      type: "button",
      message: "wamid.9",
      data: "undo",
    });
    const chosen = { type: "list_reply", list_reply: { id: "undo", title: "Undo", description: "" } };
    expect(readEvent({ type: "interactive", interactive: chosen, context: { id: "wamid.9" } })).toMatchObject({
      type: "button",
      data: "undo",
    });
    expect(readEvent({ type: "interactive", interactive })).toMatchObject({ type: "message", text: "Undo" });
  });

  test("that cannot be read do not hold up the others", () => {
    const reaction = { ...message({ id: "wamid.2" }), type: "reaction", reaction: { emoji: "👍", message_id: "wamid.1" } };
    expect(
      readAll(reaction, null, message({ from: "x" }), message({ group_id: "g" }), message({ id: "wamid.3" })).map(({ id }) => id),
    ).toEqual(["wamid.3"]);
  });

  test("that the bot sent and that failed later are ignored, with the error for the channel's log", () => {
    const failed = { id: "wamid.1", status: "failed", errors: [{ code: 131_047, title: "Re-engagement message" }] };
    const statuses = value([], { messages: undefined, statuses: [{ id: "wamid.2", status: "read" }, failed] });
    expect(parse(post(notification(statuses)))).toMatchObject({ kind: "ignored", reason: "a message was not delivered: error 131047" });
  });

  test("to another number of the app, and statuses, are ignored and taken", () => {
    const other = value([message()], { metadata: { phone_number_id: "2" } });
    const statuses = value([], { messages: undefined, statuses: [{ id: "wamid.1", status: "read" }] });
    expect(parse(post(notification(other, statuses)))).toMatchObject({ kind: "ignored", answer: { status: 200 } });
  });

  test.each(["", "{", "[]", "{}", '{"object":"page","entry":[]}'])("%j is malformed", (body) => {
    expect(parse(post(body)).kind).toBe("malformed");
  });

  test("whatever arrives, parsing it never throws", () => {
    const kinds = ["ignored", "deliveries", "malformed"];
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (body) => void expect(kinds).toContain(parse(post(body)).kind)));
    const field = fc.constantFrom("from", "from_user_id", "id", "timestamp", "type", "text", "image", "interactive", "context", "button");
    const any = fc.oneof(fc.jsonValue(), fc.constantFrom("text", "image", "interactive", "button", PERSON, "1764000000"));
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(field, any)),
        (given) => void expect(kinds).toContain(parse(post(notification(value(given)))).kind),
      ),
    );
    fc.assert(fc.property(fc.webQueryParameters(), (query) => void expect(["handshake", "malformed"]).toContain(parse(get(query)).kind)));
  });
});
