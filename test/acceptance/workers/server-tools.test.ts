/** Server tools: registered by a tenant, called by a model, with servers on this host. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { ExecutionView } from "../../../src/contract/execution";
import type { Page } from "../../../src/contract/page";
import type { SessionDescription } from "../../../src/contract/session";
import type { TurnReport } from "../../../src/contract/turn";
import { urlFault } from "../../../src/lib/public-address";
import { LOOK_UP_TTL_MS } from "../../../src/tenant/look-ups/look-up-cache";
import { REFUSED_URLS } from "../../lib/refused-urls";
import { advanceClock } from "../../workers/clock";
import { type Chat, migrate, newChat, newTenant, readBody, readText, type Tenant } from "../../workers/support";

const SECRET = "sk-tool-d0-n0t-leak";
const header = { name: "authorization", credential: "tools", prefix: "Bearer " };
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

async function put(tenant: Tenant, path: string, body: object): Promise<unknown> {
  return readBody(await tenant.call("PUT", path, body));
}

/** A tenant with an HTTP tool and an MCP server, both with a secret. */
async function equippedTenant(): Promise<Tenant> {
  const tenant = await newTenant();
  await put(tenant, "/v1/credentials/tools", { api_key: SECRET });
  const url = inject("toolServer");
  await put(tenant, "/v1/tools/weather", { url: `${url}/echo`, parameters: city, secret_header: header });
  await put(tenant, "/v1/mcp_servers/desk", { url: `${url}/mcp`, secret_header: header });
  return tenant;
}

const called = (id: string, name: string, given: object) => ({ id, name, arguments: JSON.stringify(given) });
const offered = [
  { type: "http", name: "weather" },
  { type: "mcp", server: "desk", tools: ["greet.person", "headers"] },
  { name: "ask_person", parameters: { type: "object" } },
];

const results = async (chat: Chat): Promise<readonly string[]> => (await chat.items()).filter(({ role }) => role === "tool").map(readText);

/** Every value of every row of an object, as one text. */
const dump = (stub: DurableObjectStub): Promise<string> =>
  runInDurableObject(stub, (_, { storage }) => {
    const names = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
    const own = names.filter(({ name }) => !name.startsWith("_cf_"));
    return JSON.stringify(own.map(({ name }) => storage.sql.exec(`SELECT * FROM "${name}"`).toArray()));
  });

describe("a turn with tools of every kind", () => {
  it("calls those that run here, waits for the client's, and goes on with all results", async () => {
    const tenant = await equippedTenant();
    const calls = [
      called("call_1", "weather", { city: "Oslo" }),
      called("call_2", "desk__greet_person", { name: "Ada" }),
      called("call_3", "ask_person", {}),
    ];
    const chat = await newChat({ tenant, tools: offered, replies: [{ text: "Let me see.", tool_calls: calls }, { text: "Done." }] });

    const waiting = await chat.say("Go.");
    const given = { results: [{ call_id: "call_3", output: "yes" }] };
    const done = await readBody<TurnReport>(await chat.call("POST", "/tool_results", given));

    expect(waiting).toMatchObject({ status: "awaiting_tools", open_calls: [{ name: "ask_person", runs: "client" }] });
    expect(done.status).toBe("completed");
    const [, second] = await chat.model.heard(2);
    const heard = (second?.body.messages ?? []).filter(({ role }) => role === "tool");
    expect(heard.map(({ tool_call_id }) => tool_call_id)).toEqual(["call_1", "call_2", "call_3"]);
    expect(JSON.parse(String(heard[0]?.content))).toMatchObject({ method: "POST", body: '{"city":"Oslo"}' });
    expect(heard.slice(1).map(({ content }) => content)).toEqual(["Hello, Ada.", "yes"]);
  });

  it("offers the model names, descriptions and schemas, and nothing of who runs them", async () => {
    const tenant = await equippedTenant();
    const chat = await newChat({ tenant, tools: offered });
    await chat.say("Hello.");

    const [first] = await chat.model.heard(1);
    const tools = (first?.body.tools ?? []) as readonly { readonly function: object }[];
    expect(tools.map((tool) => Object.keys(tool.function).sort())).toEqual([
      ["name", "parameters"],
      ["description", "name", "parameters"],
      ["description", "name", "parameters"],
      ["name", "parameters"],
    ]);
    expect(await chat.describe()).toMatchObject({
      tools: [
        { name: "weather", runs: { by: "http", tool: "weather" } },
        { name: "desk__greet_person", runs: { by: "mcp", server: "desk", tool: "greet.person" } },
        { name: "desk__headers" },
        { name: "ask_person" },
      ],
    });
  });

  it("sends the execution's id, and tells the model what was wrong with arguments and names", async () => {
    const tenant = await equippedTenant();
    const calls = [
      called("call_1", "weather", { city: "Oslo" }),
      called("call_2", "weather", { city: 1 }),
      called("call_3", "whether", {}),
    ];
    const chat = await newChat({ tenant, tools: offered, replies: [{ tool_calls: calls }, { text: "Sorry." }] });

    const done = await chat.say("Go.");
    const items = (await chat.items()).filter(({ role }) => role === "tool");
    const said = await results(chat);

    expect(done.status).toBe("completed");
    const echoed = said.find((text) => text.includes("idempotency-key")) ?? "{}";
    const executions = items.map(({ execution_id }) => execution_id);
    expect(executions).toContain((JSON.parse(echoed) as { headers: Record<string, string> }).headers["idempotency-key"]);
    expect(said.filter((text) => text !== echoed).sort()).toEqual([
      expect.stringContaining("The arguments of weather are not as its schema wants them"),
      expect.stringContaining("There is no tool whether"),
    ]);
  });
});

describe("a tool's secret", () => {
  it("reaches the tool's server, and is in no answer, event, log or row", async () => {
    const lines: unknown[] = [];
    for (const method of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, method).mockImplementation((...line: unknown[]) => void lines.push(line));
    }
    const tenant = await equippedTenant();
    const calls = [called("call_1", "weather", { city: "Oslo" }), called("call_2", "desk__headers", {})];
    const chat = await newChat({ tenant, tools: offered, replies: [{ tool_calls: calls }, { text: "Done." }] });
    await chat.say("Go.");

    const said = await results(chat);
    expect(said.every((text) => text.includes("Bearer [secret]"))).toBe(true);
    const shown = await Promise.all(
      ["/v1/tools", "/v1/mcp_servers", "/v1/credentials", `/v1/sessions/${chat.id}`].map(async (path) =>
        (await tenant.call("GET", path)).text(),
      ),
    );
    const kept = [
      await dump(chat.stub),
      await dump(env.TENANTS.getByName(tenantObjectName(tenant.id))),
      JSON.stringify(await chat.events()),
    ];
    for (const text of [...shown, ...kept, JSON.stringify(lines)]) expect(text).not.toContain(SECRET);
  });

  it("that is gone keeps the tool from being called, within 30 seconds", async () => {
    const tenant = await equippedTenant();
    const calls = { tool_calls: [called("call_1", "weather", { city: "Oslo" })] };
    const chat = await newChat({ tenant, tools: offered, replies: [calls, { text: "One." }, calls, { text: "Two." }] });
    await chat.say("Go.");

    await tenant.call("DELETE", "/v1/credentials/tools");
    advanceClock(LOOK_UP_TTL_MS);
    await chat.say("Again.");

    expect((await results(chat)).at(-1)).toContain("its credential is gone");
  });
});

describe("a tool that changes", () => {
  it("is called as it is now, and offered as it was when the session's tools were set", async () => {
    const tenant = await equippedTenant();
    const calls = { tool_calls: [called("call_1", "weather", { city: "Oslo" })] };
    const chat = await newChat({ tenant, tools: [{ type: "http", name: "weather" }], replies: [calls, { text: "Done." }] });

    const changed = { url: `${inject("toolServer")}/text`, description: "Now described", parameters: city };
    await put(tenant, "/v1/tools/weather", changed);
    await chat.say("Go.");
    const before = (await chat.model.heard(1))[0]?.body.tools;
    const set = await readBody<SessionDescription>(await chat.call("PATCH", "", { tools: [{ type: "http", name: "weather" }] }));

    expect(await results(chat)).toEqual(["sunny, 21 °C"]);
    expect(JSON.stringify(before)).not.toContain("Now described");
    expect(set.tools).toMatchObject([{ description: "Now described" }]);
  });

  it("is not run once it was deleted, and the model reads why", async () => {
    const tenant = await equippedTenant();
    const calls = { tool_calls: [called("call_1", "weather", { city: "Oslo" })] };
    const chat = await newChat({ tenant, tools: [{ type: "http", name: "weather" }], replies: [calls, { text: "Sorry." }] });

    await tenant.call("DELETE", "/v1/tools/weather");
    expect((await chat.say("Go.")).status).toBe("completed");

    expect(await results(chat)).toEqual(["The tool weather is not registered any more."]);
  });
});

describe("an MCP server", () => {
  it("shows what it has, and is asked again by hand", async () => {
    const tenant = await equippedTenant();
    const tools = ["add", "greet.person", "headers", "fails", "picture", "album", "never"];

    expect(await readBody(await tenant.call("POST", "/v1/mcp_servers/desk/refresh"))).toMatchObject({
      tools,
      skipped: [],
      truncated: false,
    });
    expect(await readBody(await tenant.call("GET", "/v1/mcp_servers"))).toMatchObject({ data: [{ name: "desk", tools }] });
  });

  it("that cannot be asked is not kept", async () => {
    const tenant = await newTenant();

    const refused = await tenant.call("PUT", "/v1/mcp_servers/desk", { url: `${inject("toolServer")}/mcp/closed` });

    expect([refused.status, await refused.json()]).toMatchObject([502, { reason: "status", server_status: 401 }]);
    expect((await tenant.call("GET", "/v1/mcp_servers/desk")).status).toBe(404);
  });
});

describe("in workerd as in Node,", () => {
  it.each(REFUSED_URLS)("%s leads inside: %s", (_, url) => {
    expect(urlFault(url, false)).not.toBeNull();
  });

  it("a tool's limits hold, a redirect is seen before it is followed, and an image is kept with the execution", async () => {
    const tenant = await newTenant();
    const url = inject("toolServer");
    const tools = {
      endless: { url: `${url}/endless`, max_bytes: 50_000 },
      hanging: { url: `${url}/hangs`, timeout_ms: 1_000 },
      moved: { url: `${url}/redirect?to=/echo` },
      looping: { url: `${url}/loop` },
      inside: { url: `${url}/redirect?code=307&to=${encodeURIComponent("file:///etc/passwd")}` },
      image: { url: `${url}/image`, method: "GET" },
    };
    const names = Object.keys(tools);
    for (const [name, tool] of Object.entries(tools)) await put(tenant, `/v1/tools/${name}`, { ...tool, parameters: { type: "object" } });
    const calls = names.map((name, index) => called(`call_${index}`, name, {}));
    const offers = names.map((name) => ({ type: "http", name }));
    const chat = await newChat({ tenant, tools: offers, replies: [{ tool_calls: calls }, { text: "Done." }] });

    expect((await chat.say("Go.")).status).toBe("completed");
    const { data } = await readBody<Page<ExecutionView>>(await chat.call("GET", "/executions"));
    const failures = Object.fromEntries(data.map(({ tool_name, failure }) => [tool_name, failure]));
    expect(failures).toEqual({
      // The model reads the beginning.
      endless: null,
      hanging: "timeout",
      moved: "status",
      looping: "unreachable",
      inside: "refused_address",
      image: null,
    });
    const image = data.find(({ tool_name }) => tool_name === "image");
    await expect
      .poll(async () => (await tenant.call("GET", `/v1/executions/${image?.id}`)).json())
      .toMatchObject({ artifacts: [{ type: "image", content: { media_type: "image/png", bytes: 16 }, content_state: "full" }] });
  });
});
