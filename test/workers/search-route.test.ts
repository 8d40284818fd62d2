/** A search over a tenant's sessions through the whole backend: from the message over the projection to the answer. */
import { beforeAll, expect, it } from "vitest";
import { type Chat, migrate, newChat, readBody } from "./support";

beforeAll(migrate);

interface Found {
  readonly session: { readonly id: string };
  readonly matches: readonly { readonly position: number; readonly snippet: string }[];
}

const search = async (chat: Chat, query: string): Promise<readonly Found[]> =>
  (await readBody<{ data: Found[] }>(await chat.tenant.call("POST", "/v1/sessions/search", { query }))).data;

it("a search finds what was said, with a snippet, and nothing of another tenant", async () => {
  const chat = await newChat();
  const foreign = await newChat();
  const items = [{ role: "user", content: "Our cats are called Minka and 小花." }];
  for (const each of [chat, foreign]) await readBody(await each.call("POST", "/messages/batch", { items }), 201);
  const expected = [{ session: { id: chat.id }, matches: [{ position: 1, snippet: "Our cats are called Minka and 小花." }] }];

  // The index lags behind the sessions.
  await expect.poll(() => search(chat, "cat")).toMatchObject(expected);
  await expect.poll(() => search(chat, "小花")).toMatchObject(expected);
  expect(await search(chat, "dog")).toEqual([]);
});
