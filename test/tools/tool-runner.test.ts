import { describe, expect, it } from "vitest";
import type { HttpTool, McpServer } from "../../src/contract/registered-tool";
import type { ServerTool } from "../../src/domain/message";
import { createToolRunner, type ToolRunnerDeps } from "../../src/tools/tool-runner";
import { FakeSchedule } from "../support/fake-schedule";
import { makeId } from "../tenant/support";
import { Network } from "./fake-network";

const header = { name: "authorization", credential: "weather", prefix: "Bearer " };
const weather: HttpTool = {
  description: null,
  parameters: {},
  url: "https://tool.example.com/weather",
  method: "POST",
  secret_header: null,
  timeout_ms: 1_000,
  max_bytes: 1_000,
  needs_approval: false,
  files: null,
};
const github: McpServer = {
  url: "https://mcp.example.com/",
  secret_header: null,
  timeout_ms: 1_000,
  needs_approval: false,
  allowed_tools: ["search"],
};

function run(tool: ServerTool, deps: Partial<ToolRunnerDeps> = {}, allowed = false) {
  const network = new Network();
  const { schedule } = new FakeSchedule();
  const directory = { http: async () => weather, mcp: async () => github };
  const runner = createToolRunner({ directory, openSecret: async () => "sk-secret", fetch: network.fetch, schedule, ...deps });
  const request = { tool, name: "weather", arguments: { city: "Oslo" }, execution: makeId("exe", 1), allowed };
  const outcome = runner.run(request, { signal: new AbortController().signal });
  return outcome.then((ran) => ({ ran, sent: network.sent }));
}

const http: ServerTool = { by: "http", tool: "weather" };
const mcp: ServerTool = { by: "mcp", server: "github", tool: "search" };

describe("a tool whose registration wants a person's approval", () => {
  const directory = {
    http: async () => ({ ...weather, needs_approval: true }),
    mcp: async () => ({ ...github, needs_approval: true }),
  };
  const away = async () => Promise.reject(new Error("overloaded"));
  const runner = (of: ToolRunnerDeps["directory"]) => {
    const { schedule } = new FakeSchedule();
    return createToolRunner({ directory: of, openSecret: async () => null, fetch: new Network().fetch, schedule });
  };

  it.each([http, mcp])("says so, and is not called without it: $by", async (tool) => {
    expect(await runner(directory).needsApproval(tool)).toBe(true);
    const { ran, sent } = await run(tool, { directory });
    expect([ran.failure, sent]).toEqual(["denied", []]);
  });

  it("is called once a person allowed it", async () => {
    expect((await run(http, { directory }, true)).ran).toEqual({ output: "fine", failure: null });
  });

  it("does not claim to need none while its registration is out of reach", async () => {
    await expect(runner({ http: away, mcp: away }).needsApproval(http)).rejects.toThrow("overloaded");
    expect(await runner({ http: async () => null, mcp: away }).needsApproval(http)).toBe(false);
  });
});

describe("a tool that is registered", () => {
  it("is called as it is now, with its credential opened for the call", async () => {
    const directory = { http: async () => ({ ...weather, secret_header: header }), mcp: async () => null };
    const { ran, sent } = await run(http, { directory });

    expect(ran).toEqual({ output: "fine", failure: null });
    expect(sent.map(({ url, headers }) => [url, headers.get("authorization")])).toEqual([[weather.url, "Bearer sk-secret"]]);
  });
});

describe("nothing is called, and the model is told why,", () => {
  const gone = { http: async () => null, mcp: async () => null };

  it.each<[string, ServerTool, Partial<ToolRunnerDeps>]>([
    ["where the tool is gone", http, { directory: gone }],
    ["where the server is gone", { by: "mcp", server: "github", tool: "search" }, { directory: gone }],
    ["where the server's tool is not allowed any more", { by: "mcp", server: "github", tool: "delete" }, {}],
    ["of what runs elsewhere", { by: "builtin" }, {}],
    [
      "where its credential is gone",
      http,
      { directory: { ...gone, http: async () => ({ ...weather, secret_header: header }) }, openSecret: async () => null },
    ],
  ])("%s", async (_, tool, deps) => {
    const { ran, sent } = await run(tool, deps);

    expect(ran.failure).toBe("not_configured");
    expect(ran.output).not.toBe("");
    expect(sent).toEqual([]);
  });

  it("where the registration is out of reach", async () => {
    const away = async () => Promise.reject(new Error("overloaded"));
    const { ran, sent } = await run(http, { directory: { http: away, mcp: away } });

    expect(ran.failure).toBe("internal");
    expect(ran.output).not.toContain("overloaded");
    expect(sent).toEqual([]);
  });
});
