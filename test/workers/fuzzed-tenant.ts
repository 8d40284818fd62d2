/** A tenant with something of every kind, and requests drawn for it from the OpenAPI document. */
import { env } from "cloudflare:workers";
import { inject } from "vitest";
import { Draw } from "../support/fuzz/draw";
import { KnownThings } from "../support/fuzz/known-things";
import { type FuzzedDocument, listOperations, type Operation, RequestMaker } from "../support/fuzz/requests";
import { upload } from "./files";
import { type Chat, migrate, newChat, readBody, request, toFrames } from "./support";

export const SECRET = "sk-planted-secret";
/** Faults of another server, which the operation asks while its client waits. */
export const OF_OTHERS: ReadonlySet<string> = new Set(["urn:longhand:problem:mcp_failed", "urn:longhand:problem:probe_failed"]);

export interface FuzzedTenant {
  readonly chat: Chat;
  readonly known: KnownThings;
  readonly maker: RequestMaker;
  /** What no answer may repeat. */
  readonly secrets: readonly string[];
}

const fuzzedDocument = await readBody<FuzzedDocument>(await request("GET", "/openapi.json", {}));
export const fuzzedOperations: readonly Operation[] = listOperations(fuzzedDocument);

const look = { name: "look", description: "Looks", parameters: { type: "object" } };

/** A conversation with turns, an edit, a compaction and a file, and beside it one whose turn waits for a tool. */
async function converse(): Promise<Chat> {
  const chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });
  const first = await chat.say("What is the weather in Lisbon?");
  await chat.say("我的储物柜密码是 7719-B。");
  await readBody(await chat.call("POST", `/messages/${first.message_id}/edit`, { content: "And in Porto?" }));
  await readBody(await chat.call("PATCH", "", { title: "Weather" }));
  await readBody(await chat.tenant.call("PUT", "/v1/sessions/by-external-id/order-1", {}), 201);
  return chat;
}

async function waitForTool(chat: Chat): Promise<string> {
  const call = { id: "call_1", name: "look", arguments: "{}" };
  const waiting = await newChat({ tenant: chat.tenant, tools: [look], replies: [{ tool_calls: [call] }] });
  await waiting.say("Look.");
  return waiting.id;
}

const toolUrls = () => [`${inject("toolServer")}/echo`, `${inject("toolServer")}/mcp`, "http://127.0.0.1:1/closed"];

/** Values by name: no request may reach an address outside of the tests. */
const listNames = (chat: Chat) => ({
  session_id: [chat.id],
  session: [chat.id],
  content: ["Hello", "你好"],
  model: [chat.model.upstream, chat.model.upstream, "embedded", "of-nobody"],
  model_id: [chat.model.upstream, "spare", "other/model"],
  models: [chat.model.upstream],
  fallback_models: [chat.model.upstream],
  default_model: [chat.model.upstream],
  summary_model: [chat.model.upstream],
  title_model: [chat.model.upstream],
  base_url: [inject("standIn").baseUrl],
  upstream_id: ["stand-in"],
  url: toolUrls(),
  credential: ["openai", "none"],
  credential_name: ["openai", "spare"],
  tool: ["weather", "none"],
  tool_name: ["weather", "spare"],
  schedule_name: ["briefing", "spare"],
  server: ["desk", "none"],
  server_name: ["desk", "spare"],
  plan_name: ["starter", "none"],
  policy_name: ["balanced", "economy", "none"],
  external_id: ["order-1", "order/2", "订单"],
  branch: ["1", "2", "current", "all"],
  file: ["start.js", "none.js"],
  from: ["now", "1", "2026-11-01"],
  to: ["now", "9", "2026-12-01"],
  call_id: ["call_1"],
  "Idempotency-Key": ["k-1", "k-2", "k-3"],
  "If-Match": ["*", '"never"'],
  Prefer: ["respond-async"],
});

export async function openFuzzedTenant(seed: number): Promise<FuzzedTenant> {
  await migrate();
  const chat = await converse();
  const { tenant } = chat;
  const waiting = await waitForTool(chat);
  const file = await upload(tenant, new TextEncoder().encode("A text"));
  const token = await readBody<{ token: string }>(await tenant.call("POST", "/v1/tokens", { session_id: chat.id }), 201);
  await readBody(await tenant.call("PUT", "/v1/credentials/openai", { api_key: SECRET }));
  await readBody(await tenant.call("PUT", "/v1/tools/weather", { url: toolUrls()[0], parameters: { type: "object" } }));
  await readBody(await tenant.call("PUT", "/v1/mcp_servers/desk", { url: toolUrls()[1] }));
  const keys = await readBody<{ data: readonly { id: string }[] }>(await tenant.call("GET", "/v1/keys"));
  const kept = [chat.id, chat.model.upstream, tenant.id, ...keys.data.map(({ id }) => id)];
  const known = new KnownThings({ schemas: fuzzedDocument.components.schemas, names: listNames(chat), kept });
  known.learn(new Draw(seed), JSON.stringify([chat.id, tenant.id, waiting, file, await chat.items(), await chat.read("/turns"), keys]));
  const maker = new RequestMaker({ known, keys: { api_key: tenant.key, admin_key: env.ADMIN_KEY, access_token: token.token }, seed });
  return { chat, known, maker, secrets: [SECRET, tenant.key, env.ADMIN_KEY] };
}

/** The body of the answer. The stream of a turn is read to its end, and `Frames` holds each frame to its schema; an endless one is left. */
export async function readAnswer(method: string, response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return await response.text();
  if (method === "POST") await toFrames(response).rest();
  else await response.body?.cancel();
  return "";
}
