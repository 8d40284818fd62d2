/** Requests that bring their whole conversation: their answers, and nothing of them in any session afterwards. */
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Chat, countHolding, migrate, newChat } from "./support";

beforeAll(migrate);

const post = (chat: Chat, path: string, body: object): Promise<Response> =>
  exports.default.fetch(
    new Request(`https://longhand.test${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${chat.tenant.key}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: chat.model.upstream, ...body }),
    }),
  );

const SURFACES: readonly [path: string, asks: (content: string) => object][] = [
  ["/v1/chat/completions", (content) => ({ messages: [{ role: "user", content }] })],
  ["/v1/messages", (content) => ({ max_tokens: 100, messages: [{ role: "user", content }] })],
  ["/v1/responses", (input) => ({ input, store: false })],
];

describe.each(SURFACES)("POST %s", (path, asks) => {
  it.each([false, true])("leaves nothing in a session, with stream: %s", async (stream) => {
    const said = `Unheard of ${path} ${stream}`;
    const chat = await newChat();
    await chat.model.script({ replies: [{ text: "Answered.", gate: "answer" }] });

    const answering = post(chat, path, { ...asks(said), stream });
    await chat.model.heard(1);
    expect(await countHolding(said)).toBe(1);
    await chat.model.open("answer");

    expect(await (await answering).text()).toContain("Answered.");
    await expect.poll(() => countHolding(said)).toBe(0);
  });
});

it("a compaction leaves nothing in a session", async () => {
  const chat = await newChat();
  const content = "Unheard of, 闻所未闻. ".repeat(400);
  const input = Array.from({ length: 8 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `${index}: ${content}`,
  }));
  await chat.model.script({ summaries: [{ text: "Nothing was heard.", gate: "summary" }] });

  const compacting = post(chat, "/v1/responses/compact", { input });
  await chat.model.heard(1);
  expect(await countHolding("闻所未闻")).toBeGreaterThan(0);
  await chat.model.open("summary");

  const response = await compacting;
  expect(await response.json()).toMatchObject({ object: "response.compaction" });
  await expect.poll(() => countHolding("闻所未闻")).toBe(0);
});
