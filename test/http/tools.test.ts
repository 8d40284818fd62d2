import { describe, expect, it } from "vitest";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { McpServerEntry } from "../../src/app/tool-entry";
import type { HttpToolEntry } from "../../src/contract/registered-tool";
import type { ToolDefinition } from "../../src/domain/message";
import { err, ok } from "../../src/lib/result";
import { OUT_OF_BOUNDS } from "../app/tools/schemas";
import { accepted, description, NOW, readProblem, SESSION, turn, world } from "./support";

const parameters = { type: "object", properties: { city: { type: "string" } } };
const url = "https://api.example.com/weather";
const registered = { created_at: NOW, updated_at: NOW, credential_missing: false };

const weather: HttpToolEntry = {
  name: "weather",
  description: "The weather",
  parameters,
  url,
  method: "POST",
  secret_header: null,
  timeout_ms: 30_000,
  max_bytes: 1_000_000,
  needs_approval: true,
  files: null,
  ...registered,
};
const github: McpServerEntry = {
  name: "github",
  url: "https://mcp.example.com/",
  secret_header: null,
  timeout_ms: 30_000,
  needs_approval: false,
  allowed_tools: null,
  listing: { tools: ["search", "open.issue"].map((name) => ({ name, description: null, parameters })), skipped: ["odd"], truncated: true },
  listed_at: NOW,
  ...registered,
};

describe("an HTTP tool", () => {
  it("is put with defaults, and shown with the name of its credential", async () => {
    const { call } = world();
    const body = { url, parameters, secret_header: { name: "Authorization", credential: "weather", prefix: "Bearer " } };

    expect(await (await call("PUT", "/v1/tools/weather", { body })).json()).toEqual({
      ...weather,
      description: null,
      needs_approval: false,
      secret_header: body.secret_header,
    });
  });

  it.each<[string, string, object, string]>([
    ["a name that no provider takes", "wea%20ther", {}, "tool_name"],
    ["a name that is too long", "x".repeat(65), {}, "tool_name"],
    ["an address inside", "weather", { url: "https://169.254.169.254/" }, "url"],
    ["an address inside in hex", "weather", { url: "https://0x7f000001/" }, "url"],
    ["a name inside", "weather", { url: "https://vault.internal./" }, "url"],
    ["no https", "weather", { url: "http://api.example.com/" }, "url"],
    ["userinfo", "weather", { url: "https://a:b@api.example.com/" }, "url"],
    ["no URL", "weather", { url: "weather" }, "url"],
    ["a schema of another type", "weather", { parameters: { type: "array" } }, "parameters.type"],
    ["a schema that cannot be used", "weather", { parameters: { $ref: "#/gone" } }, "parameters"],
    ["a schema that is too large", "weather", { parameters: { type: "object", description: "x".repeat(32_768) } }, "parameters"],
    ...OUT_OF_BOUNDS.map(([name, schema]): [string, string, object, string] => [name, "weather", { parameters: schema }, "parameters"]),
    ["a larger answer than four at once leave room for", "weather", { max_bytes: 4_194_305 }, "max_bytes"],
    ["another method", "weather", { method: "TRACE" }, "method"],
    ["more time than there is", "weather", { timeout_ms: 300_001 }, "timeout_ms"],
    ["a field that it has not", "weather", { headers: {} }, "headers"],
    ...[
      "Host",
      "content-length",
      "Transfer-Encoding",
      "connection",
      "proxy-authorization",
      "idempotency-key",
      "cf-ray",
      "mcp-session-id",
    ].map((name): [string, string, object, string] => [
      `the header ${name}`,
      "weather",
      { secret_header: { name, credential: "weather" } },
      "secret_header.name",
    ]),
    [
      "a line break in a header",
      "weather",
      { secret_header: { name: "x-key", credential: "w", prefix: "a\r\nb: " } },
      "secret_header.prefix",
    ],
  ])("is refused for %s", async (_, name, fault, field) => {
    const { call, asked } = world();

    const response = await call("PUT", `/v1/tools/${name}`, { body: { url, parameters, ...fault } });

    expect([response.status, (await readProblem(response)).errors?.map((error) => error.field)]).toEqual([400, [field]]);
    expect(asked.tenants).toEqual([]);
  });

  it("may be local where the deployment allows it", async () => {
    const { call } = world({ config: { allowPrivateToolUrls: true } });

    expect((await call("PUT", "/v1/tools/weather", { body: { parameters, url: "http://localhost:8080/" } })).status).toBe(200);
  });

  it("is read, listed, and unknown where it is not", async () => {
    const { call } = world({ tenant: { listTools: async (names) => ok(names === null || names.includes("weather") ? [weather] : []) } });

    expect(await (await call("GET", "/v1/tools/weather")).json()).toEqual(weather);
    expect(await (await call("GET", "/v1/tools")).json()).toEqual({ data: [weather], has_more: false, next_cursor: null });
    expect(await readProblem(await call("GET", "/v1/tools/gone"))).toMatchObject({ status: 404, errors: [{ field: "tool_name" }] });
    expect((await call("DELETE", "/v1/tools/gone")).status).toBe(404);
  });

  it("more than a tenant can have is refused", async () => {
    const putTool = async () => err({ code: "tool_limit", of: "tools", limit: 128 } as const);
    const response = await world({ tenant: { putTool } }).call("PUT", "/v1/tools/x", { body: { url, parameters } });

    expect([response.status, await readProblem(response)]).toMatchObject([409, { limit: 128 }]);
  });
});

describe("an MCP server", () => {
  const { listing } = github;

  it("is asked what it has when it is put, and is not kept when it does not say", async () => {
    const deps = { listMcpTools: async () => ok(listing) };
    const put = await world({ deps }).call("PUT", "/v1/mcp_servers/github", { body: { url: github.url } });
    const failing = world({ deps: { listMcpTools: async () => err({ reason: "status", status: 401 } as const) } });
    const refused = await failing.call("PUT", "/v1/mcp_servers/github", { body: { url: github.url } });

    const { listing: _, ...rest } = github;
    expect(await put.json()).toEqual({ ...rest, tools: ["search", "open.issue"], skipped: ["odd"], truncated: true });
    expect(await readProblem(refused)).toMatchObject({
      status: 502,
      type: "urn:longhand:problem:mcp_failed",
      reason: "status",
      server_status: 401,
    });
    expect(failing.asked.tenants).toEqual([]);
  });

  it.each([
    ["no_key", "secret_header.credential"],
    ["refused_address", "url"],
  ] as const)("that is not asked for %s says at which field", async (reason, field) => {
    const { call } = world({ deps: { listMcpTools: async () => err({ reason, status: null }) } });

    const response = await call("PUT", "/v1/mcp_servers/github", { body: { url: github.url } });

    expect(await readProblem(response)).toMatchObject({ status: 422, reason, errors: [{ field }] });
  });

  it("lists its tools again, and they are stored if the server's entry has not changed meanwhile", async () => {
    const kept: unknown[] = [];
    const { call } = world({
      deps: { listMcpTools: async () => ok(listing) },
      tenant: {
        listMcpServers: async () => ok([github]),
        putMcpServer: async (_, input) => {
          kept.push(input);
          return ok(github);
        },
      },
    });

    expect((await call("POST", "/v1/mcp_servers/github/refresh")).status).toBe(200);
    const { url, secret_header, timeout_ms, needs_approval, allowed_tools } = github;
    expect(kept).toEqual([
      { name: "github", server: { url, secret_header, timeout_ms, needs_approval, allowed_tools }, listing, unchanged: NOW },
    ]);
    expect((await world().call("POST", "/v1/mcp_servers/github/refresh")).status).toBe(404);
  });

  it.each([
    ["a name", "git%20hub", {}, "server_name"],
    ["an address inside", "github", { url: "https://[::ffff:10.0.0.1]/" }, "url"],
  ])("is refused for %s", async (_, name, fault, field) => {
    const response = await world().call("PUT", `/v1/mcp_servers/${name}`, { body: { url: github.url, ...fault } });

    expect((await readProblem(response)).errors?.map((error) => error.field)).toEqual([field]);
  });
});

describe("the tools of a session", () => {
  const tenant = { listTools: async () => ok([weather]), listMcpServers: async () => ok([github]) };
  const definitions: readonly ToolDefinition[] = [
    { name: "ask", parameters, files: { op: "read", path: "file" } },
    { name: "memory_query", parameters },
    { name: "weather", description: "The weather", parameters, runs: { by: "http", tool: "weather" }, needs_approval: true },
    { name: "github__open_issue", parameters, runs: { by: "mcp", server: "github", tool: "open.issue" } },
  ];
  const tools = [
    { type: "client", name: "ask", parameters, files: { op: "read", path: "file" } },
    { name: "memory_query", parameters },
    { type: "http", name: "weather" },
    { type: "mcp", server: "github", tools: ["open.issue"] },
  ];

  /** The tools that the session receives, on either path of the request. */
  function listening() {
    const given: unknown[] = [];
    const session: Partial<WholeSessionApi> = {
      open: async (_, input) => {
        given.push(input.tools);
        return ok(description({ tools: input.tools ?? [] }));
      },
      patch: async (_, input) => {
        given.push(input.tools);
        return ok(description());
      },
      submit: async (_, input) => {
        given.push(input.tools);
        return ok(accepted());
      },
      waitForTurn: async () => ok(turn()),
    };
    return { given, ...world({ session, tenant }) };
  }

  it.each([
    ["made", "POST", "/v1/sessions", {}],
    ["changed", "PATCH", `/v1/sessions/${SESSION}`, {}],
    ["spoken to", "POST", `/v1/sessions/${SESSION}/messages`, { content: "Hello" }],
  ])("are made whole when it is %s", async (_, method, path, body) => {
    const { call, given } = listening();

    await call(method, path, { body: { ...body, tools } });

    expect(given).toEqual([definitions]);
  });

  it("are shown with who runs them", async () => {
    const { call } = listening();

    expect(await (await call("POST", "/v1/sessions", { body: { tools } })).json()).toMatchObject({ tools: definitions });
  });

  it("of a server are all that it was found to have, where none are named", async () => {
    const { call, given } = listening();

    await call("POST", "/v1/sessions", { body: { tools: [{ type: "mcp", server: "github" }] } });

    expect(given).toMatchObject([[{ name: "github__search" }, { name: "github__open_issue" }]]);
  });

  it("that null takes away are taken away, and none that are left out", async () => {
    const { call, given } = listening();

    await call("PATCH", `/v1/sessions/${SESSION}`, { body: { tools: null } });
    await call("PATCH", `/v1/sessions/${SESSION}`, { body: { title: "x" } });

    expect(given).toEqual([null, undefined]);
  });

  it.each<[string, readonly object[], string]>([
    [
      "an unknown tool",
      [
        { name: "ask", parameters },
        { type: "http", name: "gone" },
      ],
      "tools.1.name",
    ],
    ["an unknown server", [{ type: "mcp", server: "gone" }], "tools.0.server"],
    ["a tool that the server has not", [{ type: "mcp", server: "github", tools: ["search", "gone"] }], "tools.0.tools.1"],
    [
      "a name that is there twice",
      [
        { type: "http", name: "weather" },
        { name: "weather", parameters },
      ],
      "tools.1.name",
    ],
    [
      "a server's name that is there twice",
      [
        { type: "mcp", server: "github" },
        { type: "mcp", server: "github" },
      ],
      "tools.1.server",
    ],
    ["an unknown kind", [{ type: "shell", name: "x" }], "tools.0.type"],
    ["an HTTP tool with a field of a client's", [{ type: "http", name: "weather", parameters }], "tools.0.parameters"],
    ["an MCP server without its name", [{ type: "mcp" }], "tools.0.server"],
    ["a client's tool without parameters", [{ name: "x" }], "tools.0.parameters"],
    ["a client's tool that would run here", [{ name: "x", parameters, runs: { by: "http", tool: "weather" } }], "tools.0.runs"],
    ["a client's tool of another type", [{ name: "x", parameters: { type: "string" } }], "tools.0.parameters.type"],
    ...OUT_OF_BOUNDS.map(([name, schema]): [string, object[], string] => [
      `a client's schema out of bounds, ${name}`,
      [{ name: "x", parameters: schema }],
      "tools.0.parameters",
    ]),
  ])("are refused for %s, at its place", async (_, wrong, field) => {
    const { call, given } = listening();

    const response = await call("POST", "/v1/sessions", { body: { tools: wrong } });

    expect([response.status, (await readProblem(response)).errors?.map((error) => error.field)]).toEqual([400, [field]]);
    expect(given).toEqual([]);
  });

  it("are refused where they are more than a session can offer, all together", async () => {
    const many = {
      ...github,
      listing: { ...github.listing, tools: Array.from({ length: 128 }, (_, n) => ({ name: `t${n}`, description: null, parameters })) },
    };
    const { call } = world({ tenant: { listMcpServers: async () => ok([many]) } });

    const response = await call("POST", "/v1/sessions", {
      body: {
        tools: [
          { name: "x", parameters },
          { type: "mcp", server: "github" },
        ],
      },
    });

    expect((await readProblem(response)).errors).toEqual([{ field: "tools", detail: "129 tools in all: at most 128" }]);
  });
});
