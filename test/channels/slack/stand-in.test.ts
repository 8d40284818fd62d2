/** Slack's stand-in delivers what people do, and the adapter reads it. */
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ParsedWebhook, Verification } from "../../../src/app/channels/channel";
import { slackCredentials } from "../../../src/channels/slack/credentials";
import { slack } from "../../../src/channels/slack/slack";
import { type SlackStandIn, startSlack } from "../../support/stand-in/slack/slack";
import { onlyDelivery } from "./support";

interface Got {
  readonly verification: Verification;
  readonly parsed: ParsedWebhook;
  readonly retry: string | null;
  readonly reason: string | null;
}

const waits: number[] = [];
const got: Got[] = [];
/** Statuses of the next answers. Null: there is no answer. */
const statuses: (number | null)[] = [];
let deadline = new AbortController();
let app: Server;
let workspace: SlackStandIn;

beforeAll(async () => {
  workspace = await startSlack({
    wait: async (ms) => void waits.push(ms),
    deadline: () => deadline.signal,
  });
  const credentials = slackCredentials.parse({ signing_secret: workspace.signingSecret, bot_token: workspace.token });
  app = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]));
    const webhook = { method: "POST", url: new URL("http://app/"), headers, body: Uint8Array.from(Buffer.concat(pieces)) } as const;
    const parsed = slack.parse(webhook, credentials);
    const verification = await slack.verify(webhook, credentials, Date.now());
    got.push({ verification, parsed, retry: headers.get("x-slack-retry-num"), reason: headers.get("x-slack-retry-reason") });
    const status = statuses.length > 0 ? statuses.shift() : 200;
    if (status === null) {
      const late = deadline;
      deadline = new AbortController();
      return late.abort();
    }
    const json = "answer" in parsed && parsed.answer.json !== undefined ? JSON.stringify(parsed.answer.json) : "";
    response.writeHead(status ?? 200, { "content-type": "application/json" }).end(json);
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const address = app.address();
  workspace.receiveAt(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`);
  workspace.addChannel({ id: "C1" });
  workspace.addChannel({ id: "D1" });
});
afterAll(async () => {
  await workspace.close();
  app.closeAllConnections();
  await new Promise((resolve) => app.close(resolve));
});

/** What arrived at the app meanwhile. */
async function receive<T>(act: () => Promise<T>): Promise<{ readonly result: T; readonly got: readonly Got[] }> {
  got.length = 0;
  waits.length = 0;
  const result = await act();
  await workspace.settle();
  expect(got.map(({ verification }) => verification)).toEqual(got.map(() => "verified"));
  return { result, got: [...got] };
}

describe("Slack's stand-in", () => {
  test("checks the address with a challenge", async () => {
    expect(await workspace.verifyUrl("3eZbrw1aBm2r")).toBe(true);
  });

  test("delivers a mention twice, and both are one delivery", async () => {
    const { got } = await receive(() => workspace.say({ channel: "C1", user: "U1", text: "@bot is 1 < 2?" }));
    const [one, two, ...more] = got.map(({ parsed }) => onlyDelivery(parsed));
    expect(more).toEqual([]);
    expect(two).toEqual(one);
    expect(one).toMatchObject({ event: { text: "is 1 < 2?", is_addressed: true } });
  });

  test("repeats an event that fails at once, after a minute and after five, with the same id", async () => {
    statuses.push(500, 404, 302, 200);
    const { got } = await receive(() => workspace.say({ channel: "D1", user: "U1", text: "hi" }));
    expect(waits).toEqual([0, 60_000, 300_000]);
    expect(got.map(({ retry, reason }) => [retry, reason])).toEqual([
      [null, null],
      ["1", "http_error"],
      ["2", "http_error"],
      ["3", "http_error"],
    ]);
    expect(new Set(got.map(({ parsed }) => onlyDelivery(parsed).id)).size).toBe(1);
  });

  test("repeats an event that is not answered in time, and gives up after the third repetition", async () => {
    statuses.push(null, null, null, null);
    const { result, got } = await receive(() => workspace.say({ channel: "D1", user: "U1", text: "hi" }));
    expect(got.map(({ reason }) => reason)).toEqual([null, "http_timeout", "http_timeout", "http_timeout"]);
    expect(result.attempts[0]?.map(({ status }) => status)).toEqual([null, null, null, null]);
  });

  test("delivers edits and deletions of the message that it delivered", async () => {
    const said = await receive(() => workspace.say({ channel: "C1", user: "U1", text: "@bot one" }));
    const edited = await receive(() => workspace.edit("C1", said.result.ts, "@bot two"));
    const deleted = await receive(() => workspace.delete("C1", said.result.ts));
    const [before, edit, deletion] = [said, edited, deleted].map(({ got: [first] }) =>
      onlyDelivery(first?.parsed ?? { kind: "malformed", detail: "" }),
    );
    expect(edit).toMatchObject({ place: before?.place, event: { type: "edit", message: said.result.ts, text: "two" } });
    expect(deletion).toMatchObject({ place: before?.place, event: { type: "deletion", message: said.result.ts } });
  });

  test("sends slash commands and presses once, and shows the command's question", async () => {
    const asked = await receive(() => workspace.slash("C1", "U1", "/ask why?"));
    expect(asked.result.body).toBe('{"response_type":"in_channel"}');
    expect(asked.got.map(({ parsed }) => onlyDelivery(parsed).event)).toMatchObject([{ type: "message", text: "why?", command: null }]);
  });

  test("tells the app of the bot's own messages too, and of its edits, which are ignored, and sends a press of its buttons", async () => {
    const credentials = slackCredentials.parse({ signing_secret: "s", bot_token: workspace.token, api_url: workspace.apiUrl });
    const place = { chat: "C1", thread: null, is_private: false, target: { channel: "C1", thread_ts: null } };
    const act = { operation: "op", place, text: slack.render("a"), buttons: [{ label: "Undo", data: "undo" }], is_plain: false };
    const call = async (request: ReturnType<typeof slack.build>) => {
      const { body = null, url = "", ...init } = request ?? {};
      return (await (await fetch(url, { ...init, body })).json()) as { ts: string };
    };
    const sent = await receive(() => call(slack.build({ type: "send", ...act }, credentials)));
    const message = sent.result.ts;
    const edited = await receive(() => call(slack.build({ type: "edit", message, ...act }, credentials)));
    expect([...sent.got, ...edited.got].map(({ parsed }) => parsed.kind)).toEqual(["ignored", "ignored"]);
    const pressed = await receive(() => workspace.press("C1", "U1", { ts: message, label: "Undo" }));
    expect(pressed.got.map(({ parsed }) => onlyDelivery(parsed))).toMatchObject([
      { place, event: { type: "button", message, data: "undo" } },
    ]);
  });
});
