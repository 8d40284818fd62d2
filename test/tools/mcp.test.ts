/** MCP tools against the official SDK's own server on this host. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { McpServer } from "../../src/contract/registered-tool";
import { MAX_ARTIFACTS } from "../../src/domain/tool-run";
import { startTimer } from "../../src/lib/timer";
import { listMcpTools } from "../../src/tools/list-mcp-tools";
import { callMcpTool, type McpCall } from "../../src/tools/mcp-tool";
import { createToolFetch } from "../../src/tools/safe-fetch";
import { FakeSchedule } from "../support/fake-schedule";
import { PNG, startToolServer, type ToolServer } from "../support/stand-in/tool-server";
import { Network } from "./fake-network";

const SECRET = "sk-mcp-secret-1";
const secret = { header: { name: "authorization", value: `Bearer ${SECRET}` }, value: SECRET };
const fetchTool = createToolFetch({ fetch: (url, init) => fetch(url, init), now: Date.now, allowPrivate: true });
const deps = { fetch: fetchTool, schedule: startTimer };

let server: ToolServer;
let other: ToolServer;
beforeAll(async () => {
  [server, other] = await Promise.all([startToolServer(), startToolServer()]);
});
afterAll(() => Promise.all([server.close(), other.close()]));

const at = (path: string): McpServer => ({
  url: `${server.url}${path}`,
  secret_header: null,
  timeout_ms: 10_000,
  needs_approval: false,
  allowed_tools: null,
});
const { signal } = new AbortController();
const list = (path = "/mcp", changes: Partial<McpServer> = {}) =>
  listMcpTools({ server: { ...at(path), ...changes }, secret: null, signal }, deps);
const call = (tool: string, given: McpCall["arguments"] = {}, more: Partial<McpCall> = {}) =>
  callMcpTool({ server: at("/mcp"), tool, arguments: given, secret: null, signal, ...more }, deps);

describe("a server's listing", () => {
  afterEach(() => expect(server.openSessions()).toBe(0));

  it("holds its tools with their schemas", async () => {
    const listed = await list();

    expect(listed.ok && listed.value.tools.map(({ name }) => name)).toEqual([
      "add",
      "greet.person",
      "headers",
      "fails",
      "picture",
      "album",
      "never",
    ]);
    expect(listed).toMatchObject({
      value: {
        tools: [
          { name: "add", description: "Adds two numbers", parameters: { type: "object", required: ["a", "b"] } },
          {},
          {},
          {},
          {},
          {},
          {},
        ],
        skipped: [],
        truncated: false,
      },
    });
  });

  it("holds only what is allowed", async () => {
    expect(await list("/mcp", { allowed_tools: ["fails", "gone"] })).toMatchObject({
      value: { tools: [{ name: "fails" }], truncated: false },
    });
  });

  it("is bounded in number and size, and says so", async () => {
    const listed = await list("/mcp/many");

    expect(listed).toMatchObject({ value: { truncated: true } });
    expect(listed.ok && JSON.stringify(listed.value).length).toBeLessThan(600_000);
    expect(listed.ok && listed.value.tools[0]?.description?.length).toBe(16_384);
  });

  it("leaves out, by name, what no model can be offered", async () => {
    const listed = await list("/mcp/odd");

    expect(listed).toMatchObject({ value: { tools: [{ name: "fine" }], skipped: ["huge", "half", "circular"], truncated: false } });
  });

  it("is not stalled by a schema of a tool's output, which is read by nothing here", async () => {
    expect(await list("/mcp/ids")).toMatchObject({ value: { tools: [{ name: "fine" }], skipped: [] } });
  });

  it("is followed within the origin", async () => {
    expect((await list("/mcp/moved?to=/mcp")).ok).toBe(true);
  });
});

describe("a server that cannot be asked", () => {
  it.each([
    ["refuses", "/mcp/closed", { reason: "status", status: 401 }],
    ["is no MCP server", "/mcp/html", { reason: "malformed", status: null }],
    ["goes on without end", "/mcp/endless", { reason: "too_large", status: null }],
  ])("%s", async (_, path, error) => {
    expect(await list(path)).toEqual({ ok: false, error });
  });

  it("is not there", async () => {
    expect(await list("", { url: "http://127.0.0.1:1/mcp" })).toEqual({ ok: false, error: { reason: "unreachable", status: null } });
  });

  it("is inside", async () => {
    const network = new Network({ names: { "mcp.example.com": ["10.0.0.1"] } });
    const asked = { server: { ...at("/mcp"), url: "https://mcp.example.com/mcp" }, secret: null, signal };

    expect(await listMcpTools(asked, { ...deps, fetch: network.fetch })).toMatchObject({ error: { reason: "refused_address" } });
    expect(network.sent).toEqual([]);
  });

  it("sends on to another origin: nothing is sent there, neither secret nor session", async () => {
    const to = encodeURIComponent(`${other.url}/mcp`);
    const moved = { server: at(`/mcp/moved?to=${to}`), secret, signal };

    expect(await listMcpTools(moved, deps)).toMatchObject({ error: { reason: "status", status: 307 } });
    expect(other.heard).toEqual([]);
  });
});

describe("a call of a server's tool", () => {
  it("is one session, which is ended behind it", async () => {
    const before = server.heard.length;
    expect(await call("greet.person", { name: "Ada" })).toEqual({ output: "Hello, Ada.", failure: null });

    expect(server.openSessions()).toBe(0);
    expect(server.heard.slice(before).map(({ method }) => method)).toEqual(["POST", "POST", "POST", "DELETE"]);
  });

  it("gives structured content as JSON where the server says nothing in words", async () => {
    expect(await call("add", { a: 2, b: 3 })).toEqual({ output: '{"sum":5}', failure: null });
  });

  it("keeps images by reference, names links, and shows texts", async () => {
    expect(await call("picture")).toEqual({
      output: [
        "A picture:",
        "[image: image/png, 16 bytes, kept with the execution; it cannot be shown here]",
        "[resource: source, file:///source.txt]",
        "[resource: note://1]\na note",
      ].join("\n"),
      failure: null,
      artifacts: [{ type: "image", content: { media_type: "image/png", bytes: 16, base64: PNG.toString("base64") } }],
    });
  });

  it("keeps as many pictures as a call can have beside its output, and says so of the others", async () => {
    const outcome = await call("album");

    expect(outcome.artifacts).toHaveLength(MAX_ARTIFACTS);
    expect(outcome.output.split("\n")).toHaveLength(500);
    expect(outcome.output.match(/16 bytes, kept with the execution/g)).toHaveLength(MAX_ARTIFACTS);
    expect(outcome.output.match(/16 bytes, not kept: there are too many/g)).toHaveLength(500 - MAX_ARTIFACTS);
  });

  it("never gives half a character", async () => {
    expect(await call("half", {}, { server: at("/mcp/odd") })).toEqual({ output: "a\ufffd", failure: null });
  });

  it.each([
    ["that fails gives the model its error", "fails", {}, "The printer is on fire."],
    ["that is not there says so", "gone", {}, "gone"],
    ["with arguments that the server does not take says so", "greet.person", {}, "name"],
  ])("%s", async (_, tool, given, said) => {
    const outcome = await call(tool, given);

    expect(outcome.failure).toBe("tool_error");
    expect(outcome.output).toContain(said);
  });

  it("shows the server its secret with each request, and the model none of it", async () => {
    const before = server.heard.length;
    const outcome = await call("headers", {}, { secret });

    expect(new Set(server.heard.slice(before).map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${SECRET}`]));
    expect(outcome.output).toContain("Bearer [secret]");
    expect(outcome.output).not.toContain(SECRET);
  });

  it("that does not answer is a timeout", async () => {
    const timers = new FakeSchedule();
    const running = callMcpTool(
      { server: at("/mcp"), tool: "never", arguments: {}, secret: null, signal },
      { ...deps, schedule: timers.schedule },
    );
    await server.hanging();
    timers.advance(10_000);

    expect(await running).toMatchObject({ failure: "timeout" });
  });

  it("whose caller has gone is aborted", async () => {
    const given = new AbortController();
    const running = call("never", {}, { signal: given.signal });
    await server.hanging();
    given.abort();

    expect(await running).toMatchObject({ failure: "unreachable" });
  });
});
