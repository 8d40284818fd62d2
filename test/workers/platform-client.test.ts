/** What workerd tells of a chat platform that gives no answer. */
import { ulid } from "ulidx";
import { expect, inject, it } from "vitest";
import type { PlatformAnswer } from "../../src/app/channels/chat-ports";
import { createPlatformClient } from "../../src/channels/chat/platform-client";
import { createToolFetch } from "../../src/tools/safe-fetch";
import type { PlatformScript, TakenReply } from "../support/stand-in/chat-platform";
import { readBody } from "./support";

const fetchLocally = createToolFetch({ fetch: (url, init) => fetch(url, init), now: Date.now, allowPrivate: true });
const CLOSED = "http://127.0.0.1:1";

/** `endTime` ends the time that an answer has. */
function send(url: string): { readonly answer: Promise<PlatformAnswer>; readonly endTime: () => void } {
  const time: { end: () => void } = { end: () => {} };
  const schedule = (_: number, work: () => void) => {
    time.end = work;
    return () => {};
  };
  const body = JSON.stringify({ data: { operation: "one", text: "Hello." } });
  const answer = createPlatformClient({ fetch: fetchLocally, schedule })({ method: "POST", url, headers: {}, body });
  return { answer, endTime: () => time.end() };
}

async function newPlatform(script: PlatformScript): Promise<{ readonly url: string; taken(): Promise<readonly TakenReply[]> }> {
  const url = `${inject("chatPlatform")}/${ulid()}`;
  await readBody(await fetch(`${url}/script`, { method: "POST", body: JSON.stringify([script]) }));
  return { url, taken: async () => readBody(await fetch(`${url}/log?at_least=1`)) };
}

/** What `fetch` itself reports. */
const catchError = (url: string): Promise<string> =>
  fetch(url, { method: "POST", body: JSON.stringify({ data: {} }) }).then(
    () => "answered",
    (error: unknown) => String(error),
  );

it("a refused connection, one that ends unread and one that ends after the request was read are reported alike", async () => {
  const platform = await newPlatform({ lost: true });

  const lost = await catchError(platform.url);
  expect(await platform.taken()).toHaveLength(1);
  expect([await catchError(CLOSED), await catchError(inject("closingServer"))]).toEqual([lost, lost]);
});

it("each of them leaves a doubt", async () => {
  const platform = await newPlatform({ lost: true });
  const answers = [CLOSED, inject("closingServer"), platform.url].map((url) => send(url).answer);

  expect(await Promise.all(answers)).toEqual([{ kind: "no_answer" }, { kind: "no_answer" }, { kind: "no_answer" }]);
  expect(await platform.taken()).toHaveLength(1);
});

it("a platform that took the request and hangs leaves a doubt when the time is over", async () => {
  const platform = await newPlatform({ hangs: true });
  const { answer, endTime } = send(platform.url);
  expect(await platform.taken()).toHaveLength(1);
  endTime();

  expect(await answer).toEqual({ kind: "no_answer" });
});
