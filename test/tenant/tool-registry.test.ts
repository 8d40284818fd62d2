import { describe, expect, it } from "vitest";
import type { McpListing } from "../../src/app/tool-entry";
import type { HttpTool, McpServer } from "../../src/contract/registered-tool";
import { createCredentialStore } from "../../src/tenant/credentials/credential-store";
import { createToolDirectory } from "../../src/tenant/look-ups/tool-directory";
import { createToolRegistry, MAX_MCP_SERVERS, MAX_TOOLS } from "../../src/tenant/settings/tool-registry";
import { createMigratedSql } from "./memory-sql";
import { createTestClock } from "./support";

const header = { name: "x-key", credential: "weather", prefix: "" };
const tool: HttpTool = {
  description: "The weather",
  parameters: { type: "object" },
  url: "https://api.example.com/",
  method: "POST",
  secret_header: null,
  timeout_ms: 30_000,
  max_bytes: 1_000_000,
  needs_approval: false,
  files: null,
};
const server: McpServer = {
  url: "https://mcp.example.com/",
  secret_header: null,
  timeout_ms: 30_000,
  needs_approval: false,
  allowed_tools: null,
};
const listing: McpListing = { tools: [{ name: "search", description: null, parameters: {} }], skipped: [], truncated: false };
const later: McpListing = { ...listing, truncated: true };

function newRegistry() {
  const sql = createMigratedSql();
  const credentials = createCredentialStore(sql);
  const addCredential = () => credentials.put("weather", { kid: "k", wrapped_key: "w", sealed: "s" }, 1);
  return { registry: createToolRegistry(sql, credentials), credentials, addCredential };
}

describe("HTTP tools", () => {
  it("are listed by name as they were put, and replaced under their name", () => {
    const { registry } = newRegistry();
    registry.putTool("weather", tool, 1);
    registry.putTool("clock", tool, 2);
    registry.putTool("weather", { ...tool, method: "GET" }, 3);

    expect(registry.tools(null)).toEqual([
      { ...tool, name: "clock", created_at: 2, updated_at: 2, credential_missing: false },
      { ...tool, method: "GET", name: "weather", created_at: 1, updated_at: 3, credential_missing: false },
    ]);
    expect(registry.tools(["weather", "gone", "'; --"]).map(({ name }) => name)).toEqual(["weather"]);
    expect(registry.tools([])).toEqual([]);
  });

  it("name a credential that is there, and say when it is gone", () => {
    const { registry, credentials, addCredential } = newRegistry();
    const refused = registry.putTool("weather", { ...tool, secret_header: header }, 1);
    addCredential();
    const put = registry.putTool("weather", { ...tool, secret_header: header }, 1);
    credentials.remove("weather");

    expect(refused).toEqual({ ok: false, error: { code: "invalid", field: "secret_header.credential", detail: "no such credential" } });
    expect(put).toMatchObject({ ok: true, value: { credential_missing: false } });
    expect(registry.tools(null)).toMatchObject([{ credential_missing: true }]);
  });

  it("are bounded in number; one that is there can still be changed", () => {
    const { registry } = newRegistry();
    for (let n = 0; n < MAX_TOOLS; n++) registry.putTool(`t${n}`, tool, 1);

    expect(registry.putTool("one-more", tool, 1)).toEqual({ ok: false, error: { code: "tool_limit", of: "tools", limit: MAX_TOOLS } });
    expect(registry.putTool("t0", tool, 2).ok).toBe(true);
  });

  it("are removed once", () => {
    const { registry } = newRegistry();
    registry.putTool("weather", tool, 1);

    expect(registry.removeTool("weather").ok).toBe(true);
    expect(registry.removeTool("weather")).toEqual({ ok: false, error: { code: "tool_not_found", tool: "weather" } });
  });
});

describe("MCP servers", () => {
  it("keep what they were found to have, with its time", () => {
    const { registry } = newRegistry();
    registry.putServer({ name: "github", server, listing }, 1);
    const refreshed = registry.putServer({ name: "github", server, listing: later, unchanged: 1 }, 5);

    expect(refreshed).toEqual({
      ok: true,
      value: { ...server, name: "github", listing: later, listed_at: 5, created_at: 1, updated_at: 1, credential_missing: false },
    });
  });

  it("that were changed or removed while they were asked stay as they are", () => {
    const { registry } = newRegistry();
    registry.putServer({ name: "github", server, listing }, 1);
    registry.putServer({ name: "github", server: { ...server, url: "https://other.example.com/" }, listing }, 2);

    const late = registry.putServer({ name: "github", server, listing: later, unchanged: 1 }, 3);
    registry.removeServer("github");
    const gone = registry.putServer({ name: "github", server, listing: later, unchanged: 2 }, 4);

    expect(late).toMatchObject({ ok: true, value: { url: "https://other.example.com/", listing } });
    expect(gone).toEqual({ ok: false, error: { code: "mcp_server_not_found", server: "github" } });
    expect(registry.servers(null)).toEqual([]);
  });

  it("are bounded in number", () => {
    const { registry } = newRegistry();
    for (let n = 0; n < MAX_MCP_SERVERS; n++) registry.putServer({ name: `s${n}`, server, listing }, 1);

    expect(registry.putServer({ name: "one-more", server, listing }, 1)).toEqual({
      ok: false,
      error: { code: "tool_limit", of: "mcp_servers", limit: MAX_MCP_SERVERS },
    });
  });
});

describe("a session's look-up", () => {
  it("is remembered for a while, so that a removal takes effect within that time", async () => {
    const { registry } = newRegistry();
    const clock = createTestClock();
    registry.putTool("weather", tool, 1);
    registry.putServer({ name: "github", server, listing }, 1);
    const stub = {
      listTools: async (names: readonly string[] | null) => ({ ok: true, value: registry.tools(names) }) as const,
      listMcpServers: async (names: readonly string[] | null) => ({ ok: true, value: registry.servers(names) }) as const,
    };
    const directory = createToolDirectory({ stub, now: clock.now, ttlMs: 1_000 });

    expect(await directory.mcp("github")).toEqual(server);
    expect(await directory.http("weather")).toMatchObject(tool);
    registry.removeTool("weather");
    expect(await directory.http("weather")).toMatchObject(tool);
    clock.advance(1_000);
    expect(await directory.http("weather")).toBeNull();
  });
});
