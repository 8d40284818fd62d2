/** Documented successes that no other test covers. Each is requested once, and `request` checks it against the document. */
import { beforeAll, expect, inject, it } from "vitest";
import type { CompactionView } from "../../src/contract/compaction";
import type { Accepted } from "../../src/contract/item";
import type { RecallReport } from "../../src/contract/recall";
import { words } from "./conversation";
import { migrate, newChat, newTenant, readBody, request } from "./support";

beforeAll(migrate);

const ASYNC = { prefer: "respond-async" };

it("the Worker says that it is healthy", async () => {
  expect((await request("GET", "/healthz", {})).status).toBe(200);
});

it("a failed turn is retried without waiting for it", async () => {
  const chat = await newChat({ replies: [{ status: 402, error: { message: "no credit" } }, { text: "now" }] });
  await chat.send("hello");

  const { turn_id } = await readBody<Accepted>(await chat.call("POST", "/retry", {}, ASYNC), 202);

  expect(turn_id && (await chat.ended(turn_id)).status).toBe("completed");
});

it("a message is edited, and its answer made again, without waiting for either", async () => {
  const chat = await newChat();
  await chat.say("first");
  const [asked] = await chat.items();
  const edited = await readBody<Accepted>(await chat.call("POST", `/messages/${asked?.id}/edit`, { content: "anew" }, ASYNC), 202);
  expect(edited.turn_id && (await chat.ended(edited.turn_id)).status).toBe("completed");
  const [, answer] = await chat.items();

  const again = await readBody<Accepted>(await chat.call("POST", `/messages/${answer?.id}/regenerate`, {}, ASYNC), 202);

  expect(again.turn_id && (await chat.ended(again.turn_id)).status).toBe("completed");
});

it("a call is allowed without waiting for the turn", async () => {
  const call = { id: "call_1", name: "pay", arguments: "{}" };
  const chat = await newChat({ replies: [{ tool_calls: [call] }, { text: "Paid." }] });
  const pay = { name: "pay", parameters: { type: "object" }, runs: { by: "http", tool: "pay" }, needs_approval: true } as const;
  await chat.api.patch(chat.caller, { tools: [pay] });
  const { open_calls } = await chat.say("Pay it.");
  const approvals = [{ execution_id: open_calls[0]?.id, approved: false }];

  const { turn_id } = await readBody<Accepted>(await chat.call("POST", "/approvals", { approvals }, ASYNC), 202);

  expect(turn_id && (await chat.ended(turn_id)).status).toBe("completed");
});

it("a compaction that needs no model is done at once", async () => {
  const look = { name: "look", parameters: { type: "object" } };
  const call = { id: "call_1", name: "look", arguments: "{}" };
  const chat = await newChat({ tools: [look], replies: [{ tool_calls: [call] }, { text: "That is all." }, { text: "Indeed." }] });
  await chat.api.patch(chat.caller, { policy: { preset: "odincode", results: { clear: "at_epoch", keep_full: 0 } } });
  await chat.say("Look.");
  await readBody(await chat.call("POST", "/tool_results", { results: [{ call_id: "call_1", output: words(400, "found") }] }));
  await chat.say("And now?");

  const done = await readBody<CompactionView>(await chat.call("POST", "/compactions", { keep_recent: 1 }), 201);

  expect(done).toMatchObject({ status: "completed", ops: [{ op: "clear_results" }] });
});

it("the record is searched by a request whose words are in its body", async () => {
  const chat = await newChat();
  await chat.append("My locker code is 7719-B.");

  const found = await readBody<RecallReport>(await chat.call("POST", "/recall", { q: "locker" }));

  expect(found.data).toMatchObject([{ position: 1 }]);
});

it("the policies are listed, and one is shown", async () => {
  const tenant = await newTenant();
  const { data } = await readBody<{ data: readonly { name: string }[] }>(await tenant.call("GET", "/v1/policies"));
  const [first] = data;

  expect(await readBody(await tenant.call("GET", `/v1/policies/${first?.name}`))).toMatchObject({ name: first?.name });
});

it("a model, a tool and a server of tools are shown and removed", async () => {
  const { tenant, model } = await newChat();
  const url = inject("toolServer");
  await readBody(await tenant.call("PUT", "/v1/tools/weather", { url: `${url}/echo`, parameters: { type: "object" } }));
  await readBody(await tenant.call("PUT", "/v1/mcp_servers/desk", { url: `${url}/mcp` }));

  for (const [path, status] of [
    [`/v1/models/${model.upstream}`, 200],
    ["/v1/tools/weather", 204],
    ["/v1/mcp_servers/desk", 204],
  ] as const) {
    expect((await tenant.call("GET", path)).status).toBe(200);
    expect((await tenant.call("DELETE", path)).status).toBe(status);
    expect((await tenant.call("GET", path)).status).toBe(404);
  }
});

it("a model's window is asked of its provider", async () => {
  const tenant = await newTenant();
  const { baseUrl } = inject("standIn");
  const model = { provider: "openai-compatible", base_url: baseUrl, upstream_id: "stand-in", context_window: 16_000, max_output: 1_000 };
  await readBody(await tenant.call("PUT", "/v1/models/asked", model));

  const asked = await readBody(await tenant.call("POST", "/v1/models/asked/probe"));

  expect(asked).toMatchObject({ context_window: 16_000, suggestions: [{ figure: "context_window", tokens: 32_768 }] });
});

it("the reference page and its files are served with their types, and are not sent again", async () => {
  const page = await request("GET", "/docs", {});
  expect(await page.text()).toContain("/docs/start.js");
  const { etag = "" } = Object.fromEntries(page.headers);
  expect((await request("GET", "/docs", { headers: { "if-none-match": etag } })).status).toBe(304);

  for (const name of ["start.js", "swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt"]) {
    const file = await request("GET", `/docs/${name}`, {});
    expect([name, file.status, (await file.text()).length > 100]).toEqual([name, 200, true]);
  }
});

it("policies are not sent again to a client that has them", async () => {
  const tenant = await newTenant();
  for (const path of ["/v1/policies", "/v1/policies/balanced"]) {
    const { etag = "" } = Object.fromEntries((await tenant.call("GET", path)).headers);
    expect((await tenant.call("GET", path, undefined, { "if-none-match": etag })).status).toBe(304);
  }
});

it("the document is not sent again to a client that has it", async () => {
  const { etag = "" } = Object.fromEntries((await request("GET", "/openapi.json", {})).headers);

  expect((await request("GET", "/openapi.json", { headers: { "if-none-match": etag } })).status).toBe(304);
});
