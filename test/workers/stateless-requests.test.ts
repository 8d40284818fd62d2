/** Requests that bring their whole conversation: their answers, and nothing of them in any session afterwards. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { UsagePage } from "../../src/app/read-api";
import { NO_SESSION } from "../../src/domain/erased-usage";
import { type Chat, countHolding, migrate, newChat, readBody, request } from "./support";

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

it("requests are in the tenant's usage together, in no session and without rows of their own, also after a rebuild", async () => {
  const chat = await newChat();
  const readSums = async () => {
    const page = await readBody<UsagePage>(await chat.tenant.call("GET", "/v1/usage?group_by=session,model"));
    return page.data.map(({ session_id, calls, input }) => ({ session_id, calls, input }));
  };
  await chat.model.script({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
  for (const [path, asks] of SURFACES) expect((await post(chat, path, asks("Well?"))).status).toBe(200);
  await expect.poll(async () => (await readSums()).map(({ calls }) => calls)).toEqual([3]);
  const sums = await readSums();

  expect(sums).toMatchObject([{ session_id: null, calls: 3 }]);
  const rows = await env.DB.prepare("SELECT session_id FROM erased_usage WHERE tenant_id = ?")
    .bind(chat.tenant.id)
    .all<{ session_id: string }>();
  expect(rows.results.filter(({ session_id }) => !session_id.endsWith(NO_SESSION))).toEqual([]);
  await env.DB.prepare("DELETE FROM erased_usage").run();
  const rebuilt = await request("POST", `/v1/admin/tenants/${chat.tenant.id}/rebuild`, { key: env.ADMIN_KEY ?? "" });
  expect(await readBody(rebuilt)).toMatchObject({ repaired: true });
  expect(await readSums()).toEqual(sums);
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
