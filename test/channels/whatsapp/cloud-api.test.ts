/** The adapter's requests against WhatsApp's stand-in, over HTTP, and what people do there. */
import { createServer, type Server } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ActOutcome, ChatPlace, Delivery, OutboundAct, ReplyButton } from "../../../src/app/channels/channel";
import { splitMarkdown } from "../../../src/app/channels/text/split";
import { type WhatsAppCredentials, whatsappCredentials } from "../../../src/channels/whatsapp/credentials";
import { whatsapp } from "../../../src/channels/whatsapp/whatsapp";
import { whatsappMessage } from "../../support/stand-in/whatsapp/message-check";
import { startWhatsApp, type WhatsAppStandIn } from "../../support/stand-in/whatsapp/whatsapp";

const START = 1_764_000_000_000;
const got: Delivery[] = [];
const ignored: string[] = [];
const statuses: number[] = [];
const waits: number[] = [];
let now = START;
let people = 16_505_550_000;
let person = "";
let app: Server;
let server: WhatsAppStandIn;
let credentials: WhatsAppCredentials;

beforeAll(async () => {
  server = await startWhatsApp({ now: () => now, burst: 3, wait: async (ms) => void waits.push(ms) });
  credentials = whatsappCredentials.parse({
    app_secret: server.appSecret,
    access_token: server.accessToken,
    verify_token: server.verifyToken,
    phone_number_id: server.phoneNumberId,
    api_url: server.apiUrl,
  });
  app = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const headers = new Headers(Object.entries(request.headers).map(([name, given]): [string, string] => [name, String(given)]));
    const method = request.method === "GET" ? "GET" : "POST";
    const webhook = {
      method,
      url: new URL(request.url ?? "/", "http://app"),
      headers,
      body: Uint8Array.from(Buffer.concat(pieces)),
    } as const;
    if ((await whatsapp.verify(webhook, credentials, now)) !== "verified") return void response.writeHead(401).end();
    const parsed = whatsapp.parse(webhook, credentials);
    if (parsed.kind === "deliveries") got.push(...parsed.deliveries);
    if (parsed.kind === "ignored") ignored.push(parsed.reason);
    if (parsed.kind === "malformed") return void response.writeHead(400).end();
    response.writeHead(statuses.shift() ?? parsed.answer.status).end(parsed.answer.text);
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const address = app.address();
  server.receiveAt(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`);
});
beforeEach(async () => {
  person = String(++people);
  await server.say(person, "hi");
  for (const list of [got, ignored, waits]) list.length = 0;
});
afterAll(async () => {
  await server.close();
  app.closeAllConnections();
  await new Promise((resolve) => app.close(resolve));
});

const place = (message: string | null = null): ChatPlace => ({
  chat: person,
  thread: null,
  is_private: true,
  target: { to: person, recipient: null, message },
});
const send = (markdown: string, buttons: readonly ReplyButton[] = [], isPlain = false): Extract<OutboundAct, { type: "send" }> => ({
  type: "send",
  operation: "op",
  place: place(),
  text: whatsapp.render(markdown),
  buttons,
  is_plain: isPlain,
});

async function perform(act: OutboundAct, given = credentials): Promise<ActOutcome> {
  const request = whatsapp.build(act, given);
  if (!request) throw new Error("There is no such request.");
  try {
    const { body = null, ...init } = request;
    const response = await fetch(request.url, { ...init, body });
    return whatsapp.read(act, { status: response.status, headers: response.headers, body: await response.text() });
  } catch {
    return whatsapp.read(act, null);
  }
}

describe("markdown on WhatsApp", () => {
  test.each([
    ["**b** *i* ~~s~~ `c < d`", "*b* _i_ ~s~ `c < d`"],
    ["# Title", "*Title*"],
    ["[page](https://a.example) & <b>", "page (https://a.example) & <b>"],
    ["- a\n- b", "• a\n• b"],
    ["```js\nx\n```", "```\nx\n```"],
    ["> a", "> a"],
  ])("%j is %j", (markdown, expected) => {
    expect(whatsapp.render(markdown).text).toBe(expected);
  });
});

describe("a reply", () => {
  test("appears in the chat, without a preview", async () => {
    expect(await perform(send("**a** 你好"))).toEqual({ kind: "done", message: server.seen(person)[0]?.id });
    expect(server.seen(person)).toMatchObject([{ text: "*a* 你好", choices: [] }]);
    expect(server.calls.at(-1)?.body).toMatchObject({ to: person, text: { preview_url: false } });
  });

  test("to a person who hides the number goes to the id", async () => {
    person = "US.13491208655302741918";
    await server.say(person, "hi");
    expect(got.at(-1)?.user).toMatchObject({ id: person, name: `Name of ${person}` });
    const act = { ...send("a"), place: got.at(-1)?.place ?? place() };
    expect(await perform(act)).toMatchObject({ kind: "done" });
    expect(server.seen(person)).toMatchObject([{ text: "a" }]);
  });

  test("has its buttons below a short text and in a list of a long one, and a press comes back", async () => {
    const buttons = ["Undo this last turn please", "Undo this last turn now"].map((label, index) => ({ label, data: `b${index}` }));
    for (const text of ["short", "long ".repeat(300)]) {
      const sent = await perform(send(text, buttons));
      const id = sent.kind === "done" ? (sent.message ?? "") : "";
      expect(server.seen(person).at(-1)?.choices).toEqual([
        { id: "b0", title: "Undo this last turn" },
        { id: "b1", title: "Undo this last tur 2" },
      ]);
      await server.press(person, { id, title: "Undo this last tur 2" });
      expect(got.at(-1)?.event).toEqual({ type: "button", message: id, data: "b1" });
    }
  });

  test("cannot be edited, and a button needs no acknowledgement", () => {
    expect(whatsapp.traits.edits).toBeNull();
    expect(whatsapp.build({ ...send("a"), type: "edit", message: "wamid.1" }, credentials)).toBeNull();
    expect(whatsapp.build({ type: "acknowledge_button", place: place(), delivery: "wamid.1" }, credentials)).toBeNull();
  });

  test("of any markdown is cut into messages that WhatsApp takes, with any buttons", () => {
    const isTaken = (part: string): boolean => whatsapp.traits.fits(whatsapp.render(part).text);
    const markdown = fc
      .array(
        fc.oneof(fc.constantFrom("*", "`", "```\n", "\n\n", "> ", "- ", "|", "\ud83d", "😀".repeat(900), "word ".repeat(500)), fc.string()),
      )
      .map((pieces) => pieces.join(""));
    const labels = fc.uniqueArray(fc.string({ maxLength: 60 }), { maxLength: 5 });
    fc.assert(
      fc.property(markdown, labels, fc.boolean(), (given, texts, isPlain) => {
        const buttons = texts.map((label, index) => ({ label, data: String(index) }));
        for (const part of splitMarkdown(given, isTaken)) {
          const body: unknown = JSON.parse(whatsapp.build(send(part, buttons, isPlain), credentials)?.body ?? "");
          expect(whatsappMessage.safeParse(body).error).toBeUndefined();
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe("typing", () => {
  test("is shown below the person's message, until the bot writes or 25 seconds have passed", async () => {
    const { ids } = await server.say(person, "hi");
    const typing = { type: "typing", place: got.at(-1)?.place ?? place(ids[0]) } as const;
    expect(await perform(typing)).toEqual({ kind: "done", message: null });
    expect(server.isTyping(person)).toBe(true);
    await perform(send("a"));
    expect(server.isTyping(person)).toBe(false);
    await perform(typing);
    now += 25_000;
    expect(server.isTyping(person)).toBe(false);
    expect(whatsapp.build({ type: "typing", place: place() }, credentials)).toBeNull();
  });
});

describe("WhatsApp's limits and failures", () => {
  test("more messages than a person takes wait", async () => {
    for (let n = 0; n < 3; n++) expect(await perform(send("a"))).toMatchObject({ kind: "done" });
    expect(await perform(send("a"))).toEqual({ kind: "rate_limited", retry_in_ms: 6_000 });
  });

  test("a person who did not write for a day is out of reach", async () => {
    now += 86_400_001;
    expect(await perform(send("a"))).toEqual({ kind: "refused", reason: "error 131047" });
  });

  test.each([
    [130_429, 400, "rate_limited"],
    [80_007, 400, "rate_limited"],
    [4, 429, "rate_limited"],
    [190, 401, "refused"],
    [200, 403, "refused"],
    [131_026, 400, "refused"],
    [131_000, 500, "failed"],
    [131_016, 503, "failed"],
    [999_999, 500, "failed"],
  ])("error %i of status %i is %s", async (code, status, kind) => {
    server.mishap({ type: "error", code, status });
    expect(await perform(send("a"))).toMatchObject({ kind });
    expect(server.seen(person)).toEqual([]);
  });

  test("a wrong token is refused", async () => {
    expect(await perform(send("a"), { ...credentials, access_token: "x" })).toEqual({ kind: "refused", reason: "error 190" });
  });

  test("a lost answer, and a page of a gateway, leave it unknown whether the message was sent", async () => {
    server.mishap({ type: "lose_answer" }, { type: "page", status: 502 });
    expect(await perform(send("a"))).toEqual({ kind: "unknown", reason: "no answer" });
    expect(server.seen(person)).toHaveLength(1);
    expect(await perform(send("a"))).toEqual({ kind: "unknown", reason: "status 502" });
  });

  test("a text that is too long asks for the plain one, which is cut", async () => {
    const long = send("x".repeat(5_000));
    const cut = whatsapp.build(long, credentials)?.body ?? "";
    expect(whatsappMessage.safeParse(JSON.parse(cut)).success).toBe(true);
    expect(whatsapp.traits.fits("x".repeat(4_096))).toBe(true);
    expect(whatsapp.traits.fits("x".repeat(4_097))).toBe(false);
    const code = (isPlain: boolean) =>
      whatsapp.read(send("a", [], isPlain), { status: 400, headers: new Headers(), body: JSON.stringify({ error: { code: 131_009 } }) });
    expect([code(false).kind, code(true).kind]).toEqual(["bad_format", "refused"]);
  });
});

describe("WhatsApp's stand-in", () => {
  test("checks the address with the tenant's token", async () => {
    expect(await server.verifyUrl("1158201444")).toBe(true);
    expect(await server.verifyUrl("1158201444", "another-token")).toBe(false);
  });

  test("repeats a webhook until it is answered with 200, with the same ids", async () => {
    statuses.push(500, 500);
    const { ids, attempts } = await server.say(person, "hi");
    expect(attempts.map(({ status }) => status)).toEqual([500, 500, 200]);
    expect(got.map(({ id }) => id)).toEqual([ids[0], ids[0], ids[0]]);
    expect(waits).toEqual([0, 60_000]);
  });

  test("reports the states of a message, which are ignored", async () => {
    await server.report(person, "wamid.1", "read");
    expect({ got, ignored }).toEqual({ got: [], ignored: [expect.stringContaining("statuses")] });
  });
});

describe("files", () => {
  const open = async (ref: string) => {
    let request = whatsapp.buildFileRequest({ ref, name: null, media_type: null, bytes: null }, credentials);
    for (let step = 0; request && step < 3; step++) {
      const response = await fetch(request.url, { headers: request.headers });
      const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
      const content = await response.bytes();
      const body = isJson ? Buffer.from(content).toString("utf8") : null;
      const read = whatsapp.readFile({ status: response.status, headers: response.headers, body }, credentials);
      if (read.kind !== "next") return { read, content };
      request = read.request;
    }
    return null;
  };

  test("are fetched in two steps, with the token", async () => {
    server.addMedia("2754859441498128", "image/png", Uint8Array.from([1, 2, 3]));
    expect(await open("2754859441498128")).toEqual({
      read: { kind: "bytes", media_type: "image/png" },
      content: Uint8Array.from([1, 2, 3]),
    });
  });

  test("that are gone fail, and a file that is JSON is a file", async () => {
    expect(await open("gone")).toMatchObject({ read: { kind: "failed", reason: "error 100" } });
    server.addMedia("json", "application/json", Buffer.from('{"url":"https://evil.example"}'));
    expect(await open("json")).toMatchObject({ read: { kind: "bytes", media_type: "application/json" } });
  });

  test.each(["https://evil.example/x", "http://lookaside.fbsbx.com/x", "https://fbsbx.com.evil.example/x", "x"])(
    "at %s never get the token",
    (url) => {
      const body = JSON.stringify({ messaging_product: "whatsapp", url });
      expect(whatsapp.readFile({ status: 200, headers: new Headers(), body }, credentials)).toMatchObject({ kind: "failed" });
      expect(whatsapp.buildFileRequest({ ref: `../${url}`, name: null, media_type: null, bytes: null }, credentials)).toBeNull();
    },
  );
});
