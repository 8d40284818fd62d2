/** Requests that bring their whole conversation: their answers, and nothing of them in any session afterwards. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { UsagePage } from "../../../src/app/read-api";
import type { FileView } from "../../../src/contract/file";
import type { List } from "../../../src/contract/page";
import { NO_SESSION } from "../../../src/domain/erased-usage";
import { png } from "../../workers/files";
import { type Chat, findHolding, migrate, newChat, readBody, request, untilHeldNowhere } from "../../workers/support";

beforeAll(migrate);

/** What ends after an answer is looked for in every object, which takes long on a busy machine. */
const SOON = { timeout: 10_000 };

const post = (chat: Chat, path: string, body: object, signal: AbortSignal | null = null): Promise<Response> =>
  exports.default.fetch(
    new Request(`https://longhand.test${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${chat.tenant.key}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: chat.model.upstream, ...body }),
      signal,
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
    const held = await findHolding(said);
    expect(held).toHaveLength(1);
    await chat.model.open("answer");

    expect(await (await answering).text()).toContain("Answered.");
    await untilHeldNowhere(said, held);
  });

  it("ends when its client leaves before the whole answer, and the model is not waited for", async () => {
    const said = `Unheard of ${path}, and left`;
    const chat = await newChat();
    const leaving = new AbortController();
    await chat.model.script({ replies: [{ deltas: ["One ", { gate: "never" }] }] });
    const answering = post(chat, path, asks(said), leaving.signal).catch(() => null);
    await chat.model.heard(1);
    const held = await findHolding(said);
    expect(held).toHaveLength(1);

    leaving.abort();

    await answering;
    await untilHeldNowhere(said, held);
  });
});

describe("files of a request", () => {
  const image = (bytes: Uint8Array) => ({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${btoa(String.fromCharCode(...bytes))}` },
  });
  const ask = (chat: Chat, content: object[], more: object = {}) =>
    post(chat, "/v1/chat/completions", { messages: [{ role: "user", content }], ...more });
  const countFiles = async (chat: Chat) =>
    (await readBody<List<FileView>>(await chat.tenant.call("GET", "/v1/files"))).data.length + (await countStored(chat));
  const countStored = async ({ tenant }: Chat) => (await env.FILES?.list({ prefix: `${tenant.id}/` }))?.objects.length ?? 0;

  it("end with its answer", async () => {
    const chat = await newChat();
    await chat.model.script({ replies: [{ text: "A picture.", gate: "answer" }] });
    const answering = ask(chat, [image(png("one")), { type: "text", text: "What is this?" }]);
    await chat.model.heard(1);
    expect(await countFiles(chat)).toBeGreaterThan(0);
    await chat.model.open("answer");

    expect((await answering).status).toBe(200);

    await expect.poll(() => countFiles(chat), SOON).toBe(0);
  });

  it.each<[string, object[], object]>([
    ["a model that there is not", [image(png("one"))], { model: "nothing" }],
    ["a file that is none, after one that is", [image(png("one")), image(new Uint8Array([1, 2, 3]))], {}],
    ["more than the model's window", [image(png("one")), { type: "text", text: "word ".repeat(100_000) }], {}],
    ["a call that answers nothing", [image(png("one"))], { tools: [{ type: "function", function: { name: "?" } }] }],
  ])("end with its refusal for %s", async (_, content, more) => {
    const chat = await newChat();

    const refused = await ask(chat, content, more);

    expect(refused.status).toBeGreaterThanOrEqual(400);
    await expect.poll(() => countFiles(chat), SOON).toBe(0);
  });
});

describe("a request to a model whose window is not known", () => {
  const refusal = { status: 400, error: { code: "context_length_exceeded", type: "invalid_request_error", message: "too long" } };

  it.each<[path: string, status: number, code: string]>([
    ["/v1/chat/completions", 400, "context_length_exceeded"],
    ["/v1/messages", 400, "prompt is too long"],
    ["/v1/responses", 400, "context_length_exceeded"],
  ])("is sent as it is, once, and the provider's refusal is the answer: POST %s", async (path, status, code) => {
    const chat = await newChat({ window: null, maxOutput: 100, policy: { preset: "oneclaw", unknown_window: null } });
    await chat.model.script({ replies: [refusal] });
    const [, asks] = SURFACES.find(([each]) => each === path) ?? [path, () => ({})];

    const answered = await post(chat, path, asks(`How long? ${"word ".repeat(20_000)}`));

    expect(answered.status).toBe(status);
    expect(await answered.text()).toContain(code);
    expect((await chat.model.heard(1)).map(({ kind }) => kind)).toEqual(["turn"]);
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
  await expect.poll(async () => (await readSums()).map(({ calls }) => calls), SOON).toEqual([3]);
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
  const held = await findHolding("闻所未闻");
  expect(held.length).toBeGreaterThan(0);
  await chat.model.open("summary");

  const response = await compacting;
  expect(await response.json()).toMatchObject({ object: "response.compaction" });
  await untilHeldNowhere("闻所未闻", held);
});
