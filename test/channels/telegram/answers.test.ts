/** The adapter's requests and their answers, against the stand-in over HTTP. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ActOutcome, ChatPlace, FileStep, OutboundAct, PlatformRequest } from "../../../src/app/channels/channel";
import { telegram } from "../../../src/channels/telegram/telegram";
import type { Person } from "../../support/stand-in/telegram/chats";
import { TelegramStandIn } from "../../support/stand-in/telegram/telegram";
import { CREDENTIALS } from "./support";

let server: TelegramStandIn;
let ada: Person;
let now = 0;
beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  server = await new TelegramStandIn({ now: () => now }).listen();
  ada = server.addPerson("Ada");
});
afterEach(() => server.close());

const toPlace = ({ id }: { readonly id: number }, thread_id: number | null = null): ChatPlace => ({
  chat: String(id),
  thread: thread_id === null ? null : String(thread_id),
  is_private: id > 0,
  target: { chat_id: id, thread_id },
});

async function call({ method, url, headers, body }: PlatformRequest) {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }), signal: AbortSignal.timeout(2_000) }).catch(
    () => null,
  );
  return response && { status: response.status, headers: response.headers, body: await response.text() };
}

async function perform(act: OutboundAct, change: object = {}): Promise<ActOutcome> {
  // Each act is alone in its second, so that only the tests of limits meet them.
  now += 1_001;
  const request = telegram.build(act, { ...CREDENTIALS, api_url: server.url, ...change });
  if (!request) throw new Error("There is no request.");
  return telegram.read(act, await call(request));
}

const send = (place: ChatPlace, markdown: string, rest: object = {}): OutboundAct => ({
  type: "send",
  operation: "op",
  place,
  text: telegram.render(markdown),
  buttons: [],
  is_plain: false,
  ...rest,
});
const edit = (message: string, markdown: string, rest: object = {}): OutboundAct => ({
  type: "edit",
  operation: "op",
  place: toPlace(ada),
  message,
  text: telegram.render(markdown),
  buttons: [],
  is_plain: false,
  ...rest,
});

describe("a message", () => {
  test("is sent with its formatting, its buttons, and without a preview of links", async () => {
    const buttons = [
      { label: "Yes", data: "a:1" },
      { label: "No", data: "a:2" },
      { label: "Later", data: "a:3" },
    ];
    expect(await perform(send(toPlace(ada), "Hello **you**", { buttons }))).toEqual({ kind: "done", message: "1" });
    expect(server.seen(ada)).toMatchObject([
      {
        text: "Hello you",
        entities: [{ type: "bold", offset: 6, length: 3 }],
        keys: [[{ text: "Yes" }, { text: "No" }], [{ text: "Later", callback_data: "a:3" }]],
      },
    ]);
    expect(server.calls).toMatchObject([{ method: "sendMessage", fields: { link_preview_options: { is_disabled: true } } }]);
  });

  test("has a row for each button with a long label", async () => {
    const buttons = ["A rather long label", "No"].map((label) => ({ label, data: label }));
    await perform(send(toPlace(ada), "Sure?", { buttons }));
    expect(server.seen(ada)[0]?.keys.map((row) => row.length)).toEqual([1, 1]);
  });

  test("goes to its topic", async () => {
    const group = server.addGroup("Tea", [5]);
    await perform(send(toPlace(group, 5), "Hello"));
    expect(server.seen(group)).toMatchObject([{ thread: 5, text: "Hello" }]);
    expect(await perform(send(toPlace(group, 6), "Hello"))).toEqual({ kind: "refused", reason: "The topic was closed or deleted" });
  });

  test("that is plain has no formatting, whatever its letters", async () => {
    await perform(send(toPlace(ada), "**a** <b> [l](https://x.example)", { is_plain: true }));
    expect(server.seen(ada)).toMatchObject([{ text: "a <b> l (https://x.example)", entities: [] }]);
  });

  test("with formatting that Telegram cannot read, or of blanks only, is bad_format, not refused", async () => {
    const text = { text: "<b>a", plain: "a" };
    expect(await perform(send(toPlace(ada), "", { text }))).toMatchObject({ kind: "bad_format" });
    expect(await perform(send(toPlace(ada), "", { text: { text: "<b> </b>", plain: "a" } }))).toMatchObject({ kind: "bad_format" });
    expect(await perform(send(toPlace(ada), "", { text, is_plain: true }))).toMatchObject({ kind: "done" });
  });

  test("is edited, an edit that changes nothing is done, and an edit without buttons removes them", async () => {
    await perform(send(toPlace(ada), "one", { buttons: [{ label: "a", data: "a" }] }));
    expect(await perform(edit("1", "**two**"))).toEqual({ kind: "done", message: "1" });
    expect(await perform(edit("1", "**two**"))).toEqual({ kind: "done", message: "1" });
    expect(server.seen(ada)).toMatchObject([{ text: "two", edits: 1, keys: [] }]);
    expect(await perform(edit("9", "x"))).toMatchObject({ kind: "refused" });
  });

  test("that is too long is refused", async () => {
    const text = { text: "x".repeat(4_097), plain: "" };
    expect(await perform(send(toPlace(ada), "", { text }))).toEqual({ kind: "refused", reason: "Telegram takes no text of this length" });
  });
});

test("typing is shown, and a button's wait is ended once", async () => {
  expect(await perform({ type: "typing", place: toPlace(ada) })).toEqual({ kind: "done", message: null });
  await perform(send(toPlace(ada), "Sure?", { buttons: [{ label: "Yes", data: "y" }] }));
  server.press(ada, "Yes");
  const id = `callback:${4_382_000_000_000 + 2}`;
  const acknowledge = { type: "acknowledge_button", place: toPlace(ada), delivery: id } as const;
  expect(await perform(acknowledge)).toEqual({ kind: "done", message: null });
  expect(await perform(acknowledge)).toMatchObject({ kind: "refused" });
});

describe("a failure", () => {
  const act = () => send(toPlace(ada), "Hello");

  test("for good is refused: blocked, removed, unknown chat, wrong token", async () => {
    expect(await perform(send(toPlace({ id: 404 }), "a"))).toEqual({ kind: "refused", reason: "Telegram does not find the chat" });
    expect(await perform(act(), { bot_token: "1:wrong" })).toMatchObject({ kind: "refused", reason: expect.stringContaining("token") });
    server.block(ada);
    expect(await perform(act())).toMatchObject({ kind: "refused", reason: expect.stringContaining("blocked") });
    expect(await perform({ type: "typing", place: toPlace(ada) })).toMatchObject({ kind: "refused" });
  });

  test("because the group moved names the place where it is now, which takes the act", async () => {
    const group = server.addGroup("Tea");
    const to = server.upgrade(group);
    const outcome = await perform(send(toPlace(group), "Hello"));
    expect(outcome).toMatchObject({ kind: "refused", moved_to: toPlace(to) });
    const moved = outcome.kind === "refused" ? outcome.moved_to : undefined;
    expect(moved && (await perform(send(moved, "Hello")))).toMatchObject({ kind: "done" });
    expect(server.seen(to)).toMatchObject([{ text: "Hello" }]);
  });

  test("because of a limit says when to go on", async () => {
    server.mishap({ type: "refuse", status: 429, description: "Too Many Requests: retry after 35", parameters: { retry_after: 35 } });
    expect(await perform(act())).toEqual({ kind: "rate_limited", retry_in_ms: 35_000 });
    const rest = { status: 429, headers: new Headers({ "retry-after": "3" }) };
    expect(telegram.read(act(), { ...rest, body: "" })).toEqual({ kind: "rate_limited", retry_in_ms: 3_000 });
    expect(telegram.read(act(), { ...rest, headers: new Headers(), body: "[]" })).toEqual({ kind: "rate_limited", retry_in_ms: 1_000 });
  });

  test("of Telegram's servers is failed, and unknown where the message may have been sent", async () => {
    server.mishap(
      { type: "refuse", status: 500, description: "Internal Server Error" },
      { type: "gateway", status: 502 },
      { type: "gateway", status: 504 },
    );
    expect([await perform(act()), await perform(act()), await perform(act())].map(({ kind }) => kind)).toEqual([
      "failed",
      "failed",
      "unknown",
    ]);
    server.mishap({ type: "gateway", status: 200 }, { type: "lose_answer" });
    expect([await perform(act()), await perform(act())].map(({ kind }) => kind)).toEqual(["unknown", "unknown"]);
    expect(server.seen(ada)).toHaveLength(1);
  });

  test("never has Telegram's words, nor the token, as its reason", async () => {
    server.mishap({ type: "refuse", status: 400, description: `Bad Request: secret words ${CREDENTIALS.bot_token}` });
    expect(await perform(act())).toEqual({ kind: "refused", reason: "Telegram refused the request (400)" });
  });
});

describe("a file", () => {
  const fetchFile = async (ref: string, change: object = {}): Promise<{ readonly step: FileStep; readonly bytes: string | null }> => {
    const credentials = { ...CREDENTIALS, api_url: server.url, ...change };
    const file = { ref, name: null, media_type: null, bytes: null };
    const steps = async (request: PlatformRequest | null): Promise<{ step: FileStep; bytes: string | null }> => {
      const response = request && (await call(request));
      if (!response) throw new Error("There is no answer.");
      const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
      const step = telegram.readFile({ ...response, body: isJson ? response.body : null }, credentials);
      return step.kind === "next" ? steps(step.request) : { step, bytes: isJson ? null : response.body };
    };
    return steps(telegram.buildFileRequest(file, credentials));
  };

  test("is looked up, then fetched", async () => {
    const id = server.putFile(new TextEncoder().encode("tea"));
    expect(await fetchFile(id)).toEqual({ step: { kind: "bytes", media_type: null }, bytes: "tea" });
  });

  test("that is too large, or gone, fails", async () => {
    const failed = { step: { kind: "failed", reason: "The file is over 20 MB, or gone" }, bytes: null };
    expect(await fetchFile(server.putFile(new Uint8Array(), 20 * 1_024 * 1_024 + 1))).toEqual(failed);
    expect(await fetchFile("unknown")).toEqual(failed);
    expect(await fetchFile("x", { bot_token: "1:wrong" })).toMatchObject({ step: { reason: "Telegram refused the file (401)" } });
  });

  test.each(["../../bot1:x/getMe", "/var/lib/file.bin", "", "a?b"])("whose path would lead elsewhere fails: %j", (file_path) => {
    const body = JSON.stringify({ ok: true, result: { file_path } });
    expect(telegram.readFile({ status: 200, headers: new Headers(), body }, CREDENTIALS)).toMatchObject({ kind: "failed" });
  });
});
