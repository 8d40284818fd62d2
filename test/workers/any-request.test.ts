/**
 * Requests drawn from the OpenAPI document itself, for every operation, sent to the real Worker. `request` holds each answer to the document.
 * `FUZZ_REQUESTS=100` draws more for each operation, and `TEST_SEED` draws others. A failure prints the request.
 */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { findInventedFields } from "../support/fuzz/check-refusal";
import { Draw, mixSeed } from "../support/fuzz/draw";
import { KnownThings } from "../support/fuzz/known-things";
import {
  type DrawnRequest,
  type FuzzedDocument,
  listOperations,
  type Operation,
  printRequest,
  RequestMaker,
} from "../support/fuzz/requests";
import { PATIENCE_MS } from "../support/read-seed";
import { upload } from "./files";
import { type Chat, migrate, newChat, readBody, request, toFrames } from "./support";

const document = await readBody<FuzzedDocument>(await request("GET", "/openapi.json", {}));
const operations = listOperations(document);
const seed = inject("seed");
const SECRET = "sk-planted-secret";
/** Faults of another server, which the operation asks while its client waits. */
const OF_OTHERS: ReadonlySet<string> = new Set(["urn:longhand:problem:mcp_failed", "urn:longhand:problem:probe_failed"]);

let chat: Chat;
let known: KnownThings;
let maker: RequestMaker;
let secrets: readonly string[];
/** The operations that a request has passed. */
const succeeded = new Set<string>();
/** How many requests were answered with each class of status. */
const answered: Record<string, number> = {};
/** How many refusals came while the session was at rest, so that it could be seen that they added nothing. */
let watched = 0;

const look = { name: "look", description: "Looks", parameters: { type: "object" } };

/** A conversation with turns, an edit, a compaction and a file, and beside it one whose turn waits for a tool. */
async function converse(): Promise<void> {
  chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });
  const first = await chat.say("What is the weather in Lisbon?");
  await chat.say("我的储物柜密码是 7719-B。");
  await readBody(await chat.call("POST", `/messages/${first.message_id}/edit`, { content: "And in Porto?" }));
  await readBody(await chat.call("PATCH", "", { title: "Weather" }));
  await readBody(await chat.tenant.call("PUT", "/v1/sessions/by-external-id/order-1", {}), 201);
}

async function waitForTool(): Promise<string> {
  const call = { id: "call_1", name: "look", arguments: "{}" };
  const waiting = await newChat({ tenant: chat.tenant, tools: [look], replies: [{ tool_calls: [call] }] });
  await waiting.say("Look.");
  return waiting.id;
}

const toolUrls = () => [`${inject("toolServer")}/echo`, `${inject("toolServer")}/mcp`, "http://127.0.0.1:1/closed"];

/** Values by name: no request may reach an address outside of the tests. */
const listNames = () => ({
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

beforeAll(async () => {
  await migrate();
  await converse();
  const { tenant } = chat;
  const waiting = await waitForTool();
  const file = await upload(tenant, new TextEncoder().encode("A text"));
  const token = await readBody<{ token: string }>(await tenant.call("POST", "/v1/tokens", { session_id: chat.id }), 201);
  await readBody(await tenant.call("PUT", "/v1/credentials/openai", { api_key: SECRET }));
  await readBody(await tenant.call("PUT", "/v1/tools/weather", { url: toolUrls()[0], parameters: { type: "object" } }));
  await readBody(await tenant.call("PUT", "/v1/mcp_servers/desk", { url: toolUrls()[1] }));
  const keys = await readBody<{ data: readonly { id: string }[] }>(await tenant.call("GET", "/v1/keys"));
  const kept = [chat.id, chat.model.upstream, tenant.id, ...keys.data.map(({ id }) => id)];
  known = new KnownThings({ schemas: document.components.schemas, names: listNames(), kept });
  known.learn(new Draw(seed), JSON.stringify([chat.id, tenant.id, waiting, file, await chat.items(), await chat.read("/turns"), keys]));
  maker = new RequestMaker({ known, keys: { api_key: tenant.key, admin_key: env.ADMIN_KEY, access_token: token.token }, seed });
  secrets = [SECRET, tenant.key, env.ADMIN_KEY];
}, PATIENCE_MS);

/** The body of the answer. The stream of a turn is read to its end, and `Frames` holds each frame to its schema; an endless one is left. */
async function readAnswer(method: string, response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return await response.text();
  if (method === "POST") await toFrames(response).rest();
  else await response.body?.cancel();
  return "";
}

interface Problem {
  readonly type: string;
  readonly errors?: readonly { readonly field: string }[];
}

/** Null while something goes on in the session that may add events by itself. It asks the object, because it runs around every request. */
async function countAtRest(): Promise<number | null> {
  const { api, caller } = chat;
  const page = { after: null, limit: 1, order: "desc" } as const;
  const [described, compactions, events] = await Promise.all([
    api.describe(caller),
    api.compactions(caller, page),
    api.events(caller, page),
  ]);
  if (!described.ok || !compactions.ok || !events.ok) throw new Error("the session of the test is gone");
  const { turn, queued, title } = described.value;
  const isWorking = turn !== null || queued.length > 0 || title === null || WORKING.has(compactions.value.data[0]?.status ?? "");
  return isWorking ? null : (events.value.data[0]?.seq ?? 0);
}
const WORKING: ReadonlySet<string> = new Set(["requested", "running"]);

/** A request that was refused has changed nothing: the session has as many events as before. */
async function findChange(before: number | null, status: number): Promise<readonly string[]> {
  if (before === null || status < 400 || status >= 500) return [];
  const after = await countAtRest();
  watched += 1;
  return after === before ? [] : [`${status}, and the session has ${after} events after ${before}`];
}

/** The names of its secrets are on the page of the channel's type, not in the document. */
const PUT_CHANNEL = "PUT /v1/channels/{channel_name}";

/** What is wrong with the answer. Empty: nothing. */
async function findFaults(operation: Operation, sent: DrawnRequest): Promise<readonly string[]> {
  const { method, path, headers, body } = sent;
  const before = await countAtRest();
  const response = await request(method, path, { headers, ...(body && { body }) });
  const kind = `${Math.floor(response.status / 100)}xx`;
  answered[kind] = (answered[kind] ?? 0) + 1;
  const text = await readAnswer(method, response);
  // The ids in the document are examples of nothing that exists.
  if (response.ok && path.startsWith("/v1/")) known.learn(new Draw(mixSeed(seed, path)), text);
  if (response.ok) succeeded.add(operation.name);
  const faults = secrets.filter((secret) => text.includes(secret)).map((secret) => `The answer repeats ${secret}`);
  faults.push(...(await findChange(before, response.status)));
  if (response.status < 400 || method === "HEAD") return faults;
  const { type, errors = [] }: Problem = JSON.parse(text);
  if (response.status >= 500 && !OF_OTHERS.has(type)) faults.push(`${response.status} ${type}`);
  if (type !== "urn:longhand:problem:invalid_request" || isOfOtherAddress(sent)) return faults;
  const fields = errors.map(({ field }) => field);
  const described = fields.filter((field) => !(operation.name === PUT_CHANNEL && field.startsWith("credentials.")));
  const invented = findInventedFields(described, { operation, sent, known });
  return [
    ...faults,
    ...(fields.length === 0 ? [`The refusal names no field: ${text}`] : []),
    ...invented.map((field) => `The field ${JSON.stringify(field)} is neither in the request nor in the document`),
  ];
}

/** Whether the URL standard makes another address of the drawn one: a parameter that is `..` or `%2e%2e` removes the part before it. */
const isOfOtherAddress = ({ path }: DrawnRequest): boolean =>
  new URL(path, "http://longhand.test").pathname.split("/").length !== path.replace(/\?.*/s, "").split("/").length;

/** Null, or the request and what is wrong with its answer. */
async function tryRequest(operation: Operation, nth: number): Promise<string | null> {
  const drawn = maker.make(operation, nth, SECRET);
  // Operations that have no stream answer with JSON all the same.
  const asStream = operation.method === "POST" && nth % 2 === 0;
  const sent = asStream ? { ...drawn, headers: { ...drawn.headers, accept: "text/event-stream" } } : drawn;
  const faults = await findFaults(operation, sent).catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
  return faults.length === 0 ? null : `${faults.join("\n")}\nrequest ${nth} of seed ${seed}: ${printRequest(sent)}`;
}

describe("any request is answered as the document says", () => {
  it.each(operations.map((operation) => [operation.name, operation] as const))(
    "%s",
    async (_, operation) => {
      const failed: string[] = [];
      for (let nth = 0; nth < inject("fuzzRequests"); nth++) {
        const fault = await tryRequest(operation, nth);
        if (fault !== null) failed.push(fault);
      }
      expect(failed).toEqual([]);
    },
    inject("fuzzRequests") * PATIENCE_MS,
  );
});

it("a refusal adds nothing to the session that it is about", () => {
  const count = Object.values(answered).reduce((sum, one) => sum + one, 0);
  console.info(
    `${count} requests (seed ${seed}): ${JSON.stringify(answered)}; ${watched} refusals of a session at rest, none added an event`,
  );
  expect(watched).toBeGreaterThan(count / 20);
});

it("most operations let a request pass, so that more than their first check is tried", () => {
  expect(succeeded.size).toBeGreaterThan(operations.length / 2);
});

it("every frame and event of the session that all of them used is as the document says", async () => {
  const { stream_offset } = await chat.describe();
  const frames = await chat.listen(0);
  while ((await frames.next()).offset < stream_offset);
  await frames.leave();
  const last = (await chat.read<{ data: readonly { seq: number }[] }>("/events?order=desc&limit=1")).data[0]?.seq ?? 0;
  const events = toFrames(await chat.call("GET", "/events?after=0", undefined, { accept: "text/event-stream" }));
  while ((await events.next()).offset < last);
  await events.leave();

  // A redaction may have taken all frames but the newest.
  expect(frames.seen.length).toBeGreaterThan(0);
  expect(events.seen.length).toBeGreaterThan(10);
});

it("the session that all of them used still answers a message", async () => {
  const model = { provider: "openai-compatible", base_url: inject("standIn").baseUrl, context_window: 16_000, max_output: 1_000 };
  await readBody(await chat.tenant.call("PUT", `/v1/models/${chat.model.upstream}`, model));
  await chat.call("POST", "/stop", {});
  await readBody(await chat.call("PATCH", "", { model: chat.model.upstream, policy: "balanced", system: null, tools: [], generation: {} }));

  expect(await chat.say("Are you there?")).toMatchObject({ status: "completed" });
});
