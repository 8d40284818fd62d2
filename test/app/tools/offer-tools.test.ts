import { describe, expect, it } from "vitest";
import type { McpServerEntry } from "../../../src/app/tool-entry";
import { offeredNames, offerHttpTool, offerMcpTools, TOOL_NAME } from "../../../src/app/tools/offer-tools";

const registered = { created_at: 1, updated_at: 1, credential_missing: false };
const parameters = { type: "object" };

describe("the names of a server's tools", () => {
  it("say whose they are", () => {
    expect(offeredNames("github", ["search", "open_issue"])).toEqual(["github__search", "github__open_issue"]);
  });

  it("are such as every provider takes, each once, and the same whenever they are made", () => {
    const tools = ["a.b", "a b", "a_b", "größe", "x".repeat(100), `${"x".repeat(100)}y`, "読む"];
    const names = offeredNames("s", tools);

    expect(names.every((name) => TOOL_NAME.test(name))).toBe(true);
    expect(new Set(names).size).toBe(tools.length);
    expect(offeredNames("s", tools)).toEqual(names);
    expect(names[0]).toBe("s__a_b");
  });
});

describe("a definition", () => {
  it("of an HTTP tool says who runs it, and nothing of where it is", () => {
    const entry = {
      name: "weather",
      description: "The weather",
      parameters,
      url: "https://api.example.com",
      method: "POST",
      secret_header: { name: "x-key", credential: "weather", prefix: "" },
      timeout_ms: 1,
      max_bytes: 1,
      needs_approval: true,
      files: { op: "read", path: "file" },
      ...registered,
    } as const;

    expect(offerHttpTool(entry)).toEqual({
      name: "weather",
      description: "The weather",
      parameters,
      runs: { by: "http", tool: "weather" },
      needs_approval: true,
      files: { op: "read", path: "file" },
    });
  });

  it("of a server's tools keeps the server's own name for the call, and what all of them need", () => {
    const tools = ["search", "open.issue"].map((name) => ({ name, description: null, parameters }));
    const server: McpServerEntry = {
      name: "github",
      url: "https://mcp.example.com",
      secret_header: null,
      timeout_ms: 1,
      needs_approval: true,
      allowed_tools: null,
      listing: { tools, skipped: [], truncated: false },
      listed_at: 1,
      ...registered,
    };

    expect(offerMcpTools(server, ["open.issue", "gone"])).toEqual([
      { name: "github__open_issue", parameters, runs: { by: "mcp", server: "github", tool: "open.issue" }, needs_approval: true },
    ]);
    expect(offerMcpTools({ ...server, needs_approval: false }, null).map(({ name }) => name)).toEqual([
      "github__search",
      "github__open_issue",
    ]);
  });
});
