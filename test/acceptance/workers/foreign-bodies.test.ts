/**
 * Ids of another tenant in the body or the query of a request, where `foreign-ids.test.ts` has them in its path: each request is answered as
 * with ids of nothing, and changes nothing. The OpenAPI document and the list of MCP tools say which fields there are.
 */
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { upload } from "../../workers/files";
import { type Chat, migrate, newChat, newId, readBody, request, type Tenant } from "../../workers/support";

interface Schema {
  readonly $ref?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
type Ids = Readonly<Record<"session" | "turn" | "message" | "file" | "execution" | "key" | "compaction" | "export", string>>;

const document = await readBody<Document>(await request("GET", "/openapi.json", {}));
const ID = /(?:ses|trn|msg|fil|exe|key|cmp|exp)_/;

/** The fields of a schema whose values are ids, as `content[].file_id`. */
function listFields(schema: Schema, path = "", above: readonly string[] = []): readonly string[] {
  const name = schema.$ref?.split("/").at(-1);
  if (name !== undefined) {
    const named = document.components.schemas[name];
    return named && !above.includes(name) ? listFields(named, path, [...above, name]) : [];
  }
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    ...(ID.test(schema.pattern ?? "") ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, each]) => listFields(each, path === "" ? key : `${path}.${key}`, above)),
    ...(schema.items ? listFields(schema.items, `${path}[]`, above) : []),
    ...parts.flatMap((each) => listFields(each, path, above)),
  ];
}

const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]) => {
    const queries = parameters.flatMap((each) => (each.in === "query" && ID.test(each.schema.pattern ?? "") ? [`?${each.name}`] : []));
    const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => listFields(schema));
    return [...new Set([...queries, ...bodies])].map((field) => `${method.toUpperCase()} ${path} ${field}`);
  }),
);
/** Where a page begins, or the rest of a file: an id of anything that sorts there. */
const isPlaceOfPage = (name: string): boolean => / \?after$/.test(name) && !name.includes("{session_id}");
const OF_ADMINS = / \/v1\/admin\//;

const text = (own: string, file_id: string) => [
  { type: "text", text: own },
  { type: "image", file_id },
];
const S = "/v1/sessions/{session_id}";
/** What is sent for each field. `own`: the caller's own ids. */
const REQUESTS: Readonly<Record<string, (ids: Ids, own: Ids) => object>> = {
  [`POST ${S}/messages content[].file_id`]: ({ file }) => ({ content: text("look", file) }),
  [`POST ${S}/messages/batch items[].content[].file_id`]: ({ file }) => ({ items: [{ role: "user", content: text("look", file) }] }),
  [`POST ${S}/tool_results results[].execution_id`]: ({ execution }) => ({ results: [{ execution_id: execution, output: "x" }] }),
  [`POST ${S}/approvals approvals[].execution_id`]: ({ execution }) => ({ approvals: [{ execution_id: execution, approved: true }] }),
  [`POST ${S}/respond after`]: ({ turn }) => ({ after: turn, messages: [{ role: "user", content: "and?" }] }),
  [`POST ${S}/respond messages[].content[].file_id`]: ({ file }) => ({ messages: [{ role: "user", content: text("look", file) }] }),
  [`POST ${S}/respond results[].execution_id`]: ({ execution }) => ({ results: [{ execution_id: execution, output: "x" }] }),
  [`GET ${S}/turns ?after`]: ({ turn }) => ({ after: turn }),
  [`POST ${S}/stop turn_id`]: ({ turn }) => ({ turn_id: turn }),
  [`POST ${S}/messages/{message_id}/edit content[].file_id`]: ({ file }) => ({ content: text("look", file) }),
  [`GET ${S}/context ?at`]: ({ turn }) => ({ at: turn }),
  [`GET ${S}/recall ?execution_id`]: ({ execution }) => ({ execution_id: execution }),
  [`POST ${S}/recall execution_id`]: ({ execution }) => ({ execution_id: execution }),
  [`PUT ${S}/pins pins[].message_id`]: ({ message }) => ({ pins: [{ message_id: message }] }),
  [`POST ${S}/compactions/compare a`]: ({ compaction }) => ({ a: compaction, b: "current" }),
  [`POST ${S}/compactions/compare b`]: ({ compaction }) => ({ a: "current", b: compaction }),
  "POST /v1/policies/evaluate session": ({ session }) => ({ session, policy: "balanced" }),
  "GET /v1/usage ?key_id": ({ key }) => ({ key_id: key }),
  "GET /v1/budgets ?session_id": ({ session }) => ({ session_id: session }),
  "GET /v1/usage ?session": ({ session }) => ({ session }),
  "POST /v1/tokens session_id": ({ session }) => ({ session_id: session }),
  "POST /v1/retention/dry-run after": ({ session }) => ({ after: session }),
  "POST /v1/exports session_id": ({ session }) => ({ of: "session", session_id: session }),
  "POST /v1/imports/background export_id": (ids) => ({ export_id: ids.export }),
};

let owner: Chat;
let stranger: Chat;
let foreign: Ids;
let own: Ids;

/** An id of nothing that sorts, and counts as many tokens, as the one that it stands for. */
const unlike = (id: string): string =>
  id.replace(/.$/, (last) => (/\d/.test(last) ? String((Number(last) + 1) % 10) : last === "A" ? "B" : "A"));

const toAbsent = (ids: Ids): Ids => ({
  session: unlike(ids.session),
  turn: unlike(ids.turn),
  message: unlike(ids.message),
  file: unlike(ids.file),
  execution: unlike(ids.execution),
  key: unlike(ids.key),
  compaction: unlike(ids.compaction),
  export: unlike(ids.export),
});

/** A conversation with a turn, a file, a tool call that waits and a compaction. */
async function converse(): Promise<{ readonly chat: Chat; readonly ids: Ids }> {
  const call = { id: "call_1", name: "look", arguments: "{}" };
  const tools = [{ name: "look", description: "Looks", parameters: { type: "object" } }];
  const chat = await newChat({ tools, replies: [{ text: "A planted reply" }, { tool_calls: [call] }], summaries: [{ text: "planted" }] });
  const turn = await chat.say("A planted question");
  await chat.say("Look.");
  const { data: executions } = await chat.read<{ data: readonly { id: string }[] }>("/executions");
  const keys = await readBody<{ data: readonly { id: string }[] }>(await chat.tenant.call("GET", "/v1/keys"));
  const made = await readBody<{ id: string }>(await chat.tenant.call("POST", "/v1/exports", { of: "tenant" }), 202);
  const { id: file } = await upload(chat.tenant, new TextEncoder().encode("A planted file"));
  const known = { session: chat.id, turn: turn.id, message: turn.message_id ?? "", file, key: keys.data[0]?.id ?? "" };
  return { chat, ids: { ...known, execution: executions[0]?.id ?? "", compaction: newId("cmp"), export: made.id } };
}

beforeAll(async () => {
  await migrate();
  const [first, second] = [await converse(), await converse()];
  [owner, foreign] = [first.chat, first.ids];
  [stranger, own] = [second.chat, second.ids];
});

/** Status, headers and body, without what names the request or repeats an id of it. */
async function describeAnswer(response: Response, ids: Ids): Promise<unknown> {
  const hide = (said: string): string =>
    Object.values(ids)
      .reduce((hidden, id) => hidden.replaceAll(id, "ID"), said.replaceAll(response.headers.get("x-request-id") ?? "", "REQUEST"))
      .replaceAll(/(?:era|exp|cmp)_\w{26}/g, "MADE")
      .replaceAll(/\b\d{13}\b/g, "TIME");
  const headers = [...response.headers].filter(([name]) => name !== "content-length" && name !== "date");
  return { status: response.status, headers: headers.map(([name, value]) => hide(`${name}: ${value}`)), body: hide(await response.text()) };
}

const countEvents = async (): Promise<number> => (await owner.events()).length;

describe("an id of another tenant in a body or a query", () => {
  it("has a request here for each field of the document", () => {
    expect(documented.filter((name) => !isPlaceOfPage(name) && !OF_ADMINS.test(name)).toSorted()).toEqual(Object.keys(REQUESTS).toSorted());
  });

  it.each(Object.entries(REQUESTS))("%s is answered as one of nothing", async (name, build) => {
    const [method = "", path = ""] = name.split(" ");
    const filled = path.replace("{session_id}", stranger.id).replace("{message_id}", own.message);
    const ask = async (ids: Ids) => {
      const input = build(ids, own);
      const query = name.includes(" ?") ? `?${new URLSearchParams(input as Record<string, string>)}` : "";
      const body = method === "GET" || query !== "" ? undefined : input;
      return describeAnswer(await stranger.tenant.call(method, filled + query, body), ids);
    };
    const before = await countEvents();

    const found = await ask(foreign);

    expect(found).toEqual(await ask(toAbsent(foreign)));
    // The request has the form that the document asks for: it was looked up.
    expect(JSON.stringify(found)).not.toMatch(/planted|required|unknown field|must (?:not )?be/);
    expect(await countEvents()).toBe(before);
  });
});

async function callMcp(tenant: Tenant, method: string, params: object): Promise<Response> {
  const headers = {
    authorization: `Bearer ${tenant.key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return exports.default.fetch(new Request("https://longhand.test/mcp", { method: "POST", headers, body }));
}

it("a tool of the MCP server answers a session of another tenant as one of nothing, whichever tool it is", async () => {
  const listed = await readBody<{ result: { tools: readonly { name: string; inputSchema: { properties?: object } }[] } }>(
    await callMcp(stranger.tenant, "tools/list", {}),
  );
  const tools = listed.result.tools.filter(({ inputSchema }) => "session_id" in (inputSchema.properties ?? {}));
  expect(tools.length).toBeGreaterThanOrEqual(6);
  const before = await countEvents();
  for (const { name } of tools) {
    const ask = async (ids: Ids) => {
      const input = { session_id: ids.session, turn_id: ids.turn, content: "planted?", question: "x", query: "x" };
      return describeAnswer(await callMcp(stranger.tenant, "tools/call", { name, arguments: input }), ids);
    };
    const found = await ask(foreign);
    expect(found).toEqual(await ask(toAbsent(foreign)));
    expect(JSON.stringify(found)).toMatch(/isError|error/);
  }
  expect(await countEvents()).toBe(before);
});

describe("a vendor's request that goes on elsewhere", () => {
  const toResponse = ({ session, turn }: Ids): string => `resp_${session.slice(4)}${turn.slice(4)}`;
  const toConversation = ({ session }: Ids): string => `conv_${session.slice(4)}`;
  const input = "and?";
  it.each<[string, (ids: Ids) => readonly [path: string, body: object]]>([
    ["behind a response", (ids) => ["/v1/responses", { input, previous_response_id: toResponse(ids) }]],
    ["in a conversation", (ids) => ["/v1/responses", { input, conversation: toConversation(ids) }]],
    ["with a file", ({ file }) => ["/v1/responses", { input: [{ role: "user", content: [{ type: "input_file", file_id: file }] }] }]],
    ["with an item", ({ message }) => ["/v1/responses", { input: [{ type: "item_reference", id: message }] }]],
    ["to be compacted", (ids) => ["/v1/responses/compact", { input, previous_response_id: toResponse(ids) }]],
    ["to be counted", (ids) => ["/v1/responses/input_tokens", { input, previous_response_id: toResponse(ids) }]],
  ])("%s is told of another tenant's as of nothing", async (_, build) => {
    const ask = async (ids: Ids) => {
      const [path, body] = build(ids);
      const made = await stranger.tenant.call("POST", path, { model: stranger.model.upstream, ...body });
      expect(made.status).toBeGreaterThanOrEqual(400);
      expect(made.status).toBeLessThan(500);
      const hide = { ...ids, response: toResponse(ids), conversation: toConversation(ids) };
      return describeAnswer(made, hide);
    };
    const before = await countEvents();

    const found = await ask(foreign);

    expect(found).toEqual(await ask(toAbsent(foreign)));
    expect(JSON.stringify(found)).not.toContain("planted");
    expect(await countEvents()).toBe(before);
  });

  it("over a socket hears of another tenant's response what it hears of none", async () => {
    const headers = { authorization: `Bearer ${stranger.tenant.key}`, upgrade: "websocket" };
    const { webSocket } = await exports.default.fetch(new Request("https://longhand.test/v1/responses", { headers }));
    if (!webSocket) throw new Error("no socket");
    webSocket.accept();
    const ask = async (ids: Ids): Promise<string> => {
      const heard = new Promise<string>((resolve) =>
        webSocket.addEventListener("message", ({ data }) => resolve(String(data)), { once: true }),
      );
      const asked = { type: "response.create", model: stranger.model.upstream, input, previous_response_id: toResponse(ids) };
      webSocket.send(JSON.stringify(asked));
      return (await heard).replaceAll(toResponse(ids), "ID").replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|req_\w+/g, "REQUEST");
    };

    const found = await ask(foreign);

    expect(found).toBe(await ask(toAbsent(foreign)));
    expect(found).toContain("error");
    webSocket.close();
  });
});
