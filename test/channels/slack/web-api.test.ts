/** The adapter's requests against Slack's stand-in, over HTTP. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ActOutcome, ChatPlace, OutboundAct, ReplyButton } from "../../../src/app/channels/channel";
import { splitMarkdown } from "../../../src/app/channels/text/split";
import { type SlackCredentials, slackCredentials } from "../../../src/channels/slack/credentials";
import { slack } from "../../../src/channels/slack/slack";
import { checkMessage } from "../../support/stand-in/slack/block-check";
import { type SlackStandIn, startSlack } from "../../support/stand-in/slack/slack";

const THREAD = "1764000000.000100";
let now = 1_764_000_000_000;
let server: SlackStandIn;
let credentials: SlackCredentials;
let channels = 0;
let channel = "";

beforeAll(async () => {
  server = await startSlack({ now: () => now });
  credentials = slackCredentials.parse({ signing_secret: server.signingSecret, bot_token: server.token, api_url: server.apiUrl });
});
beforeEach(() => {
  channel = `C${++channels}`;
  server.addChannel({ id: channel });
});
afterAll(() => server.close());

const place = (thread: string | null = null): ChatPlace => ({
  chat: channel,
  thread,
  is_private: false,
  target: { channel, thread_ts: thread },
});

interface Sent {
  readonly markdown: string;
  readonly buttons?: readonly ReplyButton[];
  readonly isPlain?: boolean;
  readonly thread?: string;
}
const send = ({ markdown, buttons = [], isPlain = false, thread }: Sent): Extract<OutboundAct, { type: "send" }> => ({
  type: "send",
  operation: "op",
  place: place(thread),
  text: slack.render(markdown),
  buttons,
  is_plain: isPlain,
});

async function perform(act: OutboundAct, given = credentials): Promise<ActOutcome> {
  const request = slack.build(act, given);
  if (!request) throw new Error("There is no such request.");
  try {
    const { body = null, ...init } = request;
    const response = await fetch(request.url, { ...init, body });
    return slack.read(act, { status: response.status, headers: response.headers, body: await response.text() });
  } catch {
    return slack.read(act, null);
  }
}

describe("a reply", () => {
  test("appears in the channel, formatted, and its thread_ts puts it into the thread", async () => {
    expect(await perform(send({ markdown: "**bold** <b>", thread: THREAD }))).toEqual({
      kind: "done",
      message: server.seen(channel)[0]?.ts,
    });
    expect(server.seen(channel)).toMatchObject([{ text: "*bold* &lt;b&gt;", thread_ts: THREAD, user: server.bot }]);
  });

  test("shows no previews of its links, and its notification is without formatting", async () => {
    await perform(send({ markdown: "**a** & [p](https://a.example)" }));
    expect(server.calls.at(-1)?.body).toMatchObject({ unfurl_links: false, unfurl_media: false, text: "a &amp; p (https://a.example)" });
  });

  test("is edited in place, and loses its buttons", async () => {
    const buttons = [{ label: "Yes", data: "yes" }];
    const sent = await perform(send({ markdown: "first", buttons }));
    const message = sent.kind === "done" ? (sent.message ?? "") : "";
    expect(server.seen(channel)[0]?.blocks).toHaveLength(2);
    const edit = { ...send({ markdown: "second" }), type: "edit", message } as const;
    expect(await perform(edit)).toEqual({ kind: "done", message });
    expect(server.seen(channel)).toMatchObject([{ ts: message, text: "second", edits: 1, blocks: [{ type: "section" }] }]);
  });

  test("of Chinese has a notification that chat.update takes, which counts bytes", async () => {
    const sent = await perform(send({ markdown: "中".repeat(3_000) }));
    const message = sent.kind === "done" ? (sent.message ?? "") : "";
    expect(await perform({ ...send({ markdown: "文".repeat(3_000) }), type: "edit", message })).toMatchObject({ kind: "done" });
  });

  test("without formatting is sent as plain text, in as many sections as it needs", async () => {
    expect(await perform(send({ markdown: "😀".repeat(2_000), isPlain: true }))).toMatchObject({ kind: "done" });
    const [seen] = server.seen(channel);
    expect(seen?.blocks.map((block) => block.type === "section" && block.text.type)).toEqual(["plain_text", "plain_text"]);
    expect(seen?.text.replace("\n", "")).toBe("😀".repeat(2_000));
  });

  test("of one character more than fits is refused, and asks for the plain text", async () => {
    const fitting = "x".repeat(3_000);
    expect(slack.traits.fits(fitting)).toBe(true);
    expect(slack.traits.fits(`${fitting}x`)).toBe(false);
    expect(await perform(send({ markdown: fitting }))).toMatchObject({ kind: "done" });
    expect(await perform(send({ markdown: `${fitting}x` }))).toEqual({ kind: "bad_format", reason: "invalid_blocks" });
    expect(await perform(send({ markdown: `${fitting}x`, isPlain: true }))).toMatchObject({ kind: "done" });
  });

  test("of any markdown that fits is taken, formatted and plain, sent and edited, with any buttons", async () => {
    const markdown = fc
      .array(
        fc.oneof(
          fc.constantFrom("*", "_", "`", "```\n", "\n", "> ", "- ", "|", "<", "&", "[a](https://b.c/?d&e)", "\ud83d", "&".repeat(900)),
          fc.string(),
        ),
      )
      .map((pieces) => pieces.join(""));
    const buttons = fc.array(fc.record({ label: fc.string({ maxLength: 200 }), data: fc.constant("x") }), { maxLength: 30 });
    fc.assert(
      fc.property(markdown, buttons, fc.boolean(), (given, labels, isPlain) => {
        const act = send({ markdown: given, buttons: labels, isPlain });
        fc.pre(slack.traits.fits(act.text.text));
        for (const each of [act, { ...act, type: "edit", message: THREAD } as const])
          expect(checkMessage(JSON.parse(slack.build(each, credentials)?.body ?? ""), 4_000)).toMatchObject({ ok: true });
      }),
    );
  });
});

describe("a long reply", () => {
  const isTaken = (part: string): boolean => slack.traits.fits(slack.render(part).text);

  test.each([
    ["code", `\`\`\`ts\n${"if (a < b && c > d) {}\n".repeat(400)}\`\`\``],
    ["a table", `| a | b |\n|---|---|\n${"| 中文 & more | <b> |\n".repeat(300)}`],
    ["escapes", "&<>".repeat(5_000)],
    ["links", "[page](https://a.example/?x=1&y=2) and https://b.example/. ".repeat(200)],
    ["a list in a quote", "> - **a** `b`\n>     1. c\n".repeat(300)],
    ["an address alone", `https://a.example/${"x".repeat(9_000)}`],
    ["a wide table", `|${" |".repeat(1_500)}\n|${"-|".repeat(1_500)}\n${`|${" |".repeat(1_500)}\n`.repeat(3)}`],
  ])("of %s is cut into messages that Slack takes", (_, markdown) => {
    const parts = splitMarkdown(markdown, isTaken);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts)
      for (const isPlain of [false, true])
        expect(checkMessage(JSON.parse(slack.build(send({ markdown: part, isPlain }), credentials)?.body ?? ""), 4_000)).toMatchObject({
          ok: true,
        });
  });
});

describe("Slack's limits and failures", () => {
  test("more messages than a channel takes wait as long as Slack says, and others go on", async () => {
    const sent = await Promise.all(Array.from({ length: 7 }, () => perform(send({ markdown: "a" }))));
    expect(sent.filter(({ kind }) => kind === "done")).toHaveLength(5);
    const limited = sent.find(({ kind }) => kind === "rate_limited");
    expect(limited).toEqual({ kind: "rate_limited", retry_in_ms: 1_000 });
    now += 1_000;
    expect(await perform(send({ markdown: "a" }))).toMatchObject({ kind: "done" });
  });

  test("an answer that is lost leaves it unknown whether the message was sent, and it was", async () => {
    server.mishap({ type: "lose_answer" });
    expect(await perform(send({ markdown: "a" }))).toEqual({ kind: "unknown", reason: "no answer" });
    expect(server.seen(channel)).toHaveLength(1);
  });

  test("an internal error may come after the message was sent", async () => {
    server.mishap({ type: "error", error: "internal_error", isDone: true }, { type: "error", error: "service_unavailable", status: 503 });
    expect(await perform(send({ markdown: "a" }))).toMatchObject({ kind: "unknown" });
    expect(server.seen(channel)).toHaveLength(1);
    expect(await perform(send({ markdown: "a" }))).toMatchObject({ kind: "failed" });
    expect(server.seen(channel)).toHaveLength(1);
  });

  test("a channel that is archived, left or unknown, and a wrong token, are refused", async () => {
    server.addChannel({ id: channel, isArchived: true });
    expect(await perform(send({ markdown: "a" }))).toEqual({ kind: "refused", reason: "is_archived" });
    server.addChannel({ id: channel, hasBot: false });
    expect(await perform(send({ markdown: "a" }))).toEqual({ kind: "refused", reason: "not_in_channel" });
    channel = "C0";
    expect(await perform(send({ markdown: "a" }))).toEqual({ kind: "refused", reason: "channel_not_found" });
    expect(await perform(send({ markdown: "a" }), { ...credentials, bot_token: "xoxb-wrong" })).toEqual({
      kind: "refused",
      reason: "invalid_auth",
    });
  });
});

describe("typing", () => {
  test("is a status in the thread, until the bot posts there or two minutes have passed", async () => {
    const typing = { type: "typing", place: place(THREAD) } as const;
    expect(await perform(typing)).toMatchObject({ kind: "done" });
    expect(server.status(channel, THREAD)).toBe("is thinking…");
    await perform(send({ markdown: "a", thread: THREAD }));
    expect(server.status(channel, THREAD)).toBeNull();
    await perform(typing);
    now += 120_000;
    expect(server.status(channel, THREAD)).toBeNull();
  });

  test("is not shown outside of a thread, and a button needs no acknowledgement", () => {
    expect(slack.build({ type: "typing", place: place() }, credentials)).toBeNull();
    expect(slack.build({ type: "acknowledge_button", place: place(), delivery: "1.2.3" }, credentials)).toBeNull();
  });
});

describe("files", () => {
  const fetchFile = async (ref: string, given = credentials) => {
    const request = slack.buildFileRequest({ ref, name: null, media_type: null, bytes: null }, given);
    if (!request) return null;
    const response = await fetch(request.url, { headers: request.headers });
    return {
      step: slack.readFile({ status: response.status, headers: response.headers, body: null }, given),
      bytes: await response.bytes(),
    };
  };

  test("are fetched with the bot's token", async () => {
    const file = server.addFile("a.png", "image/png", Uint8Array.from([1, 2, 3]));
    expect(await fetchFile(file.url_private)).toEqual({
      step: { kind: "bytes", media_type: "image/png" },
      bytes: Uint8Array.from([1, 2, 3]),
    });
  });

  test("which the token may not read come as a sign-in page, and fail", async () => {
    const file = server.addFile("a.png", "image/png", Uint8Array.from([1]));
    expect(await fetchFile(file.url_private, { ...credentials, bot_token: "xoxb-2" })).toMatchObject({ step: { kind: "failed" } });
  });

  test.each(["https://evil.example/a", "https://slack.com.evil.example/a", "http://files.slack.com/a", "https://notslack.com/a", "x"])(
    "at %s never get the token",
    async (ref) => {
      expect(await fetchFile(ref)).toBeNull();
    },
  );

  test("at Slack's own addresses do", () => {
    const ref = "https://files.slack.com/files-pri/T1-F1/a.png";
    const request = slack.buildFileRequest({ ref, name: null, media_type: null, bytes: null }, credentials);
    expect(request).toEqual({ method: "GET", url: ref, headers: { authorization: `Bearer ${server.token}` } });
  });
});
