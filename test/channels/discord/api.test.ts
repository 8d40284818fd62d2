/** The adapter's requests against Discord's stand-in, over HTTP, and the interactions that it sends. */
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ActOutcome, ChatPlace, Delivery, OutboundAct, ReplyButton } from "../../../src/app/channels/channel";
import { type DiscordCredentials, discordCredentials } from "../../../src/channels/discord/credentials";
import { discord } from "../../../src/channels/discord/discord";
import { type DiscordStandIn, startDiscord } from "../../support/stand-in/discord/discord";

let now = Date.UTC(2026, 10, 24, 12);
let server: DiscordStandIn;
let credentials: DiscordCredentials;
let app: Server;
let channels = 100;
let channel = "";
let received: Delivery[] = [];
let deadline = new AbortController();
/** The next interaction is not answered in time. */
let isSilent = false;
/** Called before the next interaction is answered. */
let beforeAnswer: (() => Promise<void>) | null = null;

beforeAll(async () => {
  server = await startDiscord({ now: () => now, deadline: () => deadline.signal });
  credentials = discordCredentials.parse({
    application_id: server.application,
    public_key: server.keys.publicKey,
    bot_token: server.token,
    api_url: server.apiUrl,
  });
  app = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]));
    const webhook = { method: "POST", url: new URL("http://app/"), headers, body: Uint8Array.from(Buffer.concat(pieces)) } as const;
    if ((await discord.verify(webhook, credentials, now)) !== "verified") return void response.writeHead(401).end();
    const parsed = discord.parse(webhook, credentials);
    if (parsed.kind === "malformed") return void response.writeHead(400).end(parsed.detail);
    if (parsed.kind === "deliveries") received.push(...parsed.deliveries);
    if (isSilent) return deadline.abort();
    await beforeAnswer?.();
    response.writeHead(parsed.answer.status, { "content-type": "application/json" }).end(JSON.stringify(parsed.answer.json));
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const address = app.address();
  server.receiveAt(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`);
});
beforeEach(() => {
  channel = String(++channels);
  server.addChannel({ id: channel });
  received = [];
  deadline = new AbortController();
  isSilent = false;
  beforeAnswer = null;
});
afterAll(async () => {
  await server.close();
  app.closeAllConnections();
  await new Promise((resolve) => app.close(resolve));
});

const question = { name: "message", type: 3, value: "why?" };

/** A person asks, and the place of the delivery is where replies go. */
async function ask(isUserInstall = false): Promise<ChatPlace> {
  const asked = await server.command({ channel, user: "5", name: "ask", options: [question], isUserInstall });
  expect(asked.isFailed).toBe(isSilent);
  const place = received.at(-1)?.place;
  if (!place) throw new Error("Nothing was delivered.");
  return place;
}

interface Said {
  readonly place: ChatPlace;
  readonly markdown: string;
  readonly isFirst?: boolean;
  readonly operation?: string;
  readonly buttons?: readonly ReplyButton[];
}
const send = ({
  place,
  markdown,
  isFirst = false,
  operation = `${channel} ${markdown}`,
  buttons = [],
}: Said): Extract<OutboundAct, { type: "send" }> => ({
  type: "send",
  operation,
  place,
  text: discord.render(markdown),
  buttons,
  is_plain: false,
  is_first: isFirst,
});
const edit = (act: Extract<OutboundAct, { type: "send" }>, message: string): OutboundAct => {
  const { is_first: _, ...rest } = act;
  return { ...rest, type: "edit", message };
};

async function perform(act: OutboundAct, given = credentials): Promise<ActOutcome> {
  const request = discord.build(act, given);
  if (!request) throw new Error("There is no such request.");
  try {
    const { body = null, ...init } = request;
    const response = await fetch(request.url, { ...init, body });
    return discord.read(act, { status: response.status, headers: response.headers, body: await response.text() });
  } catch {
    return discord.read(act, null);
  }
}

/** Goes where the platform says, as the core does. */
async function follow(act: Extract<OutboundAct, { type: "send" }>): Promise<ActOutcome> {
  const outcome = await perform(act);
  return outcome.kind === "refused" && outcome.moved_to ? follow({ ...act, place: outcome.moved_to }) : outcome;
}

const contents = (): readonly string[] => server.seen(channel).map(({ content }) => content);
const findMessageId = (outcome: ActOutcome): string => (outcome.kind === "done" ? (outcome.message ?? "") : "");

describe("a reply to a command", () => {
  test("takes the place of what shows that the bot is thinking, and its later parts are messages of their own", async () => {
    const place = await ask();
    expect(server.seen(channel)).toMatchObject([{ isThinking: true, author: server.application }]);
    const first = await perform(send({ place, markdown: "**one**", isFirst: true }));
    expect(first).toEqual({ kind: "done", message: server.seen(channel)[0]?.id });
    await perform(send({ place, markdown: "two" }));
    expect(server.seen(channel)).toMatchObject([{ content: "**one**", isThinking: false }, { content: "two" }]);
  });

  test("whose answer was lost is sent again, and is there once: the first message, and a later one", async () => {
    const place = await ask();
    for (const act of [send({ place, markdown: "one", isFirst: true }), send({ place, markdown: "two" })]) {
      server.mishap({ type: "lose_answer" });
      expect(await perform(act)).toEqual({ kind: "unknown", reason: "no answer" });
      expect(await perform(act)).toMatchObject({ kind: "done", message: server.seen(channel).at(-1)?.id });
    }
    expect(contents()).toEqual(["one", "two"]);
  });

  test("that takes longer than the token is valid is a message of the bot", async () => {
    const place = await ask();
    now += 15 * 60_000;
    const act = send({ place, markdown: "late", isFirst: true });
    expect(await perform(act)).toMatchObject({
      kind: "refused",
      reason: "status 401, code 50027",
      moved_to: { chat: channel, target: { token: null } },
    });
    expect(await follow(act)).toMatchObject({ kind: "done" });
    expect(contents()).toEqual(["", "late"]);
  });

  test("that overtakes the answer to the command waits a second, and then takes its place", async () => {
    const outcomes: ActOutcome[] = [];
    beforeAnswer = async () => {
      const place = received.at(-1)?.place;
      if (place) outcomes.push(await perform(send({ place, markdown: "quick", isFirst: true })));
    };
    const place = await ask();
    expect(outcomes).toEqual([{ kind: "rate_limited", retry_in_ms: 1_000 }]);
    await perform(send({ place, markdown: "quick", isFirst: true }));
    expect(contents()).toEqual(["quick"]);
  });

  test("to a command that was not answered in time is a message of the bot", async () => {
    isSilent = true;
    const place = await ask();
    now += 5_000;
    expect(await follow(send({ place, markdown: "sorry", isFirst: true }))).toMatchObject({ kind: "done" });
    expect(contents()).toEqual(["sorry"]);
  });

  test("is a message of its own where a person deleted what showed that the bot was thinking", async () => {
    const place = await ask();
    server.delete(channel, server.seen(channel)[0]?.id ?? "");
    expect(await follow(send({ place, markdown: "one", isFirst: true }))).toMatchObject({ kind: "done" });
    expect(contents()).toEqual(["one"]);
  });

  test("comes by the token where the bot may not write, and is refused when that is over", async () => {
    server.addChannel({ id: channel, hasBot: false });
    const place = await ask(true);
    const first = await perform(send({ place, markdown: "one", isFirst: true }));
    const second = send({ place, markdown: "two" });
    const followed = await perform(second);
    await perform(edit(second, findMessageId(followed)));
    expect(findMessageId(first)).not.toBe("");
    expect(server.seen(channel)).toMatchObject([{ content: "one" }, { content: "two", edits: 1 }]);
    now += 15 * 60_000;
    expect(await follow(send({ place, markdown: "three" }))).toEqual({ kind: "refused", reason: "status 403, code 50001" });
  });

  test("goes by the token where the bot lost its right to write meanwhile", async () => {
    const place = await ask();
    await perform(send({ place, markdown: "one", isFirst: true }));
    server.addChannel({ id: channel, maySend: false });
    expect(await follow(send({ place, markdown: "two" }))).toMatchObject({ kind: "done" });
    expect(contents()).toEqual(["one", "two"]);
  });

  test("is edited in place, and loses its buttons", async () => {
    const place = await ask();
    const act = send({ place, markdown: "one", isFirst: true, buttons: [{ label: "Yes", data: "yes" }] });
    const message = findMessageId(await perform(act));
    expect(server.seen(channel)[0]?.components).toHaveLength(1);
    expect(await perform(edit(send({ place, markdown: "two" }), message))).toEqual({ kind: "done", message });
    expect(server.seen(channel)).toMatchObject([{ content: "two", components: [], edits: 1 }]);
  });

  test("notifies no person, whatever the model writes, and shows no previews", async () => {
    const place = await ask();
    await perform(send({ place, markdown: "@everyone `<@5>` <@&6>", isFirst: true }));
    expect(server.seen(channel)[0]?.mentions).toEqual([]);
    expect(server.calls.at(-1)?.body).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
  });

  test("of nothing is an ellipsis, and of one character more than fits is refused", async () => {
    const place = await ask();
    await perform(send({ place, markdown: "", isFirst: true }));
    expect(contents()).toEqual(["…"]);
    expect(await perform(send({ place, markdown: "😀".repeat(2_000) }))).toMatchObject({ kind: "done" });
    expect(await perform(send({ place, markdown: "😀".repeat(2_001) }))).toEqual({ kind: "refused", reason: "status 400, code 50035" });
  });

  test("has at most 25 unlike buttons, in rows of five, whose labels are cut", async () => {
    const place = await ask();
    const buttons = Array.from({ length: 40 }, (_, index) => ({ label: index === 0 ? "" : "😀".repeat(100), data: `b${index % 30}` }));
    expect(await perform(send({ place, markdown: "a", isFirst: true, buttons }))).toMatchObject({ kind: "done" });
    expect(server.seen(channel)[0]?.components.map((row) => row.components.length)).toEqual([5, 5, 5, 5, 5]);
  });
});

describe("Discord's interactions", () => {
  test("the endpoint passes Discord's check: PONG, and 401 for a wrong signature", async () => {
    expect(await server.verifyEndpoint()).toBe(true);
  });

  test("a pressed button is a delivery of its message, which stays, and the reply is beside it", async () => {
    const place = await ask();
    const sent = await perform(send({ place, markdown: "sure?", isFirst: true, buttons: [{ label: "Yes", data: "yes" }] }));
    const pressed = await server.press(channel, "5", { message: findMessageId(sent), label: "Yes" });
    const delivery = received.at(-1);
    expect(pressed.isFailed).toBe(false);
    expect(delivery).toMatchObject({ event: { type: "button", message: findMessageId(sent), data: "yes" }, place: { chat: channel } });
    if (delivery) await perform(send({ place: delivery.place, markdown: "done", isFirst: true }));
    expect(contents()).toEqual(["sure?", "done"]);
  });

  test("a request for choices is answered with none", async () => {
    expect(await server.command({ channel, user: "5", name: "ask", isAutocomplete: true })).toMatchObject({ isFailed: false });
  });

  test("an attachment is fetched without the bot's token, and other addresses are not", async () => {
    const file = server.addFile("a.png", "image/png", Uint8Array.from([1, 2, 3]));
    await server.command({ channel, user: "5", name: "ask", attachments: [file] });
    const event = received.at(-1)?.event;
    const [found] = event?.type === "message" ? event.files : [];
    const request = found ? discord.buildFileRequest(found, credentials) : null;
    expect(request).toEqual({ method: "GET", url: file.url, headers: {} });
    const response = await fetch(request?.url ?? "");
    expect(discord.readFile({ status: response.status, headers: response.headers, body: null }, credentials)).toEqual({
      kind: "bytes",
      media_type: "image/png",
    });
    expect(await response.bytes()).toEqual(Uint8Array.from([1, 2, 3]));
    for (const ref of ["https://evil.example/a", "https://cdn.discordapp.com.evil.example/a", "http://cdn.discordapp.com/a", "x"])
      expect(discord.buildFileRequest({ ref, name: null, media_type: null, bytes: null }, credentials)).toBeNull();
  });

  test("typing is shown beside a button, and not where the bot is shown to think", async () => {
    const place = await ask();
    expect(discord.build({ type: "typing", place }, credentials)).toBeNull();
    const typing = { type: "typing", place: { ...place, target: { ...place.target, is_thinking: 0 } } } as const;
    expect(await perform(typing)).toEqual({ kind: "done", message: null });
    expect(server.isTyping(channel)).toBe(true);
    expect(discord.build({ type: "acknowledge_button", place, delivery: "1" }, credentials)).toBeNull();
  });

  test("the message that the bot is thinking is deleted, and one that is gone or whose token is over counts as deleted", async () => {
    const place = await ask();
    const withdraw = { type: "withdraw", operation: "op", place } as const;
    expect(await perform(withdraw)).toEqual({ kind: "done", message: null });
    expect(contents()).toEqual([]);
    expect(await perform(withdraw)).toEqual({ kind: "done", message: null });
    now += 15 * 60_000;
    expect(await perform(withdraw)).toEqual({ kind: "done", message: null });
    const shown = { ...withdraw, place: { ...place, target: { ...place.target, is_thinking: 0 } } };
    expect(discord.build(shown, credentials)).toBeNull();
  });
});

describe("Discord's limits and failures", () => {
  test("more messages than a channel takes wait as long as Discord says, to the millisecond", async () => {
    const place = await ask();
    const sent = await Promise.all(Array.from({ length: 6 }, (_, index) => perform(send({ place, markdown: `m${index}` }))));
    expect(sent.filter(({ kind }) => kind === "done")).toHaveLength(5);
    expect(sent.find(({ kind }) => kind !== "done")).toEqual({ kind: "rate_limited", retry_in_ms: 5_000 });
    now += 5_000;
    expect(await perform(send({ place, markdown: "again" }))).toMatchObject({ kind: "done" });
  });

  test("a limit of all channels, and a block without JSON, are waits too", async () => {
    const place = await ask();
    server.mishap({ type: "limit", seconds: 0.3337, isGlobal: true }, { type: "block", seconds: 65 }, { type: "limit", seconds: 1e9 });
    expect(await perform(send({ place, markdown: "a" }))).toEqual({ kind: "rate_limited", retry_in_ms: 334 });
    expect(await perform(send({ place, markdown: "a" }))).toEqual({ kind: "rate_limited", retry_in_ms: 65_000 });
    expect(await perform(send({ place, markdown: "a" }))).toEqual({ kind: "rate_limited", retry_in_ms: 3_600_000 });
    expect(contents()).toEqual([""]);
  });

  test.each([
    [500, undefined, { kind: "failed", reason: "status 500" }],
    [502, undefined, { kind: "failed", reason: "status 502" }],
    [403, 50_007, { kind: "refused", reason: "status 403, code 50007" }],
    [404, 10_004, { kind: "refused", reason: "status 404, code 10004" }],
  ])("the status %i with the code %s is %j", async (status, code, expected) => {
    const place = await ask();
    server.mishap({ type: "error", status, ...(code === undefined ? {} : { code }) });
    expect(await perform(send({ place, markdown: "a" }))).toEqual(expected);
  });

  test("a wrong token of the bot is refused", async () => {
    const place = await ask();
    expect(await perform(send({ place, markdown: "a" }), { ...credentials, bot_token: "other" })).toEqual({
      kind: "refused",
      reason: "status 401",
    });
  });

  test("a channel that is gone is refused, after the token was tried", async () => {
    const place = await ask();
    now += 15 * 60_000;
    const gone = { ...place, target: { ...place.target, channel: "1" } };
    expect(await follow(send({ place: gone, markdown: "a" }))).toEqual({ kind: "refused", reason: "status 404, code 10003" });
  });
});
