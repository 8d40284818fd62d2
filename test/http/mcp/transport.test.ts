/** What `/mcp` answers over HTTP: who may come in, what is refused, and that no message from outside breaks it or leaves it hanging. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ok } from "../../../src/lib/result";
import { drawn } from "../../support/effort";
import { accepted, description, KEY, SESSION, SETTINGS, turn, world } from "../support";

const JSON_RPC = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  authorization: `Bearer ${KEY}`,
};
const rpc = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) });

function open() {
  const around = world({
    session: {
      describe: async () => ok(description()),
      submit: async () => ok(accepted()),
      waitForTurn: async () => ok(turn({ output_text: "Yes." })),
    },
    deps: { knownSettings: async () => ({ ...SETTINGS, allowed_origins: ["https://app.example"] }) },
  });
  const send = (body: unknown, headers: Record<string, string> = {}, method = "POST") =>
    around.app.request("/mcp", {
      method,
      headers: { ...JSON_RPC, ...headers },
      ...(method === "POST" && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  return { ...around, send };
}

const readError = async (response: Response) => [response.status, await response.json()];
const refusal = (code: number) => ({ jsonrpc: "2.0", id: null, error: expect.objectContaining({ code, message: expect.any(String) }) });

describe("who comes in", () => {
  it("without a key, or with a wrong one, is unauthorized, in JSON-RPC", async () => {
    const { send, asked } = open();

    for (const authorization of ["", "Bearer nonsense", `Basic ${KEY}`]) {
      const response = await send(rpc(1, "ping"), { authorization });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await readError(response)).toEqual([403, refusal(-32_000)]);
    }
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it("from a page is let in by its origin alone, and a page may ask beforehand", async () => {
    const { send, app } = open();

    const [foreign, allowed] = await Promise.all(
      ["https://evil.example", "https://app.example"].map((origin) => send(rpc(1, "ping"), { origin })),
    );

    expect(foreign && (await readError(foreign))).toEqual([403, refusal(-32_000)]);
    expect([allowed?.status, allowed?.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
    const preflight = await app.request("/mcp", {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,mcp-protocol-version",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("authorization,mcp-protocol-version");
  });

  it("to listen or to end a session is told that there is neither", async () => {
    const { send } = open();

    for (const method of ["GET", "DELETE", "PUT"]) {
      const response = await send(null, {}, method);
      expect(response.headers.get("allow")).toBe("POST");
      expect(await readError(response)).toEqual([405, refusal(-32_000)]);
    }
  });
});

describe("a POST", () => {
  it.each([
    ["not JSON", "{", {}, 400, -32_700],
    ["not UTF-8 or JSON at all", "\u0000", {}, 400, -32_700],
    ["no message", {}, {}, 400, -32_700],
    ["an empty batch", [], {}, 400, -32_600],
    ["nested without end", "[".repeat(10_000), {}, 400, -32_600],
    ["a lone surrogate", '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', {}, 400, -32_600],
    ["a prototype", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}', {}, 400, -32_600],
    ["another version", { ...rpc(1, "ping"), jsonrpc: "1.0" }, {}, 400, -32_700],
    ["an id that is none", rpc({}, "ping"), {}, 400, -32_700],
    ["over a hundred messages", Array.from({ length: 101 }, (_, id) => rpc(id, "ping")), {}, 400, -32_600],
    ["over a megabyte", rpc(1, "x".repeat(1_100_000)), {}, 413, -32_000],
    ["no JSON by its type", rpc(1, "ping"), { "content-type": "text/plain" }, 415, -32_000],
    ["for a client that takes no stream", rpc(1, "ping"), { accept: "application/json" }, 406, -32_000],
    ["of a protocol of the future", rpc(1, "ping"), { "mcp-protocol-version": "2099-01-01" }, 400, -32_000],
  ])("%s is refused", async (_, body, headers, status, code) => {
    const { send, log } = open();

    expect(await readError(await send(body, headers))).toEqual([status, refusal(code)]);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("of notifications or answers is accepted without an answer", async () => {
    const { send } = open();

    for (const body of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} },
      [{ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }],
    ]) {
      const response = await send(body);
      expect([response.status, await response.text()]).toEqual([202, ""]);
    }
  });

  it("names no session of its own, and takes any that a client names", async () => {
    const { send } = open();

    const response = await send(
      rpc(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } }),
      {
        "mcp-session-id": "stale",
      },
    );

    expect(response.headers.get("mcp-session-id")).toBeNull();
    expect(await response.json()).toMatchObject({
      id: 1,
      result: { protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {} } },
    });
  });

  it("with a batch answers each request, also one that the batch cancels, and one that is named twice", async () => {
    const { send } = open();
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const say = rpc(3, "tools/call", { name: "send_message", arguments: { session_id: SESSION, text: "x" } });

    const json = await (await send([rpc(1, "ping"), cancel, rpc(2, "nothing"), rpc(1, "ping")])).json();
    const stream = await (await send([rpc(1, "ping"), say, cancel])).text();

    expect(json).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32_601 } },
    ]);
    expect(stream.match(/^data: /gm)).toHaveLength(2);
    expect(stream).toContain("Yes.");
  });

  it("is answered as JSON, and as a stream where the answer may take long", async () => {
    const { send } = open();

    const short = await send(rpc(1, "tools/call", { name: "get_session", arguments: { session_id: SESSION } }));
    const long = await send(rpc("二", "tools/call", { name: "send_message", arguments: { session_id: SESSION, text: "x" } }));

    expect(short.headers.get("content-type")).toBe("application/json");
    expect(await short.json()).toMatchObject({ id: 1, result: { structuredContent: { session_id: SESSION } } });
    expect(long.headers.get("content-type")).toBe("text/event-stream");
    expect(await long.text()).toContain('"id":"二"');
  });
});

const METHODS = [
  "ping",
  "initialize",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/list",
];
const NAMES = ["get_session", "send_message", "list_sessions", "memory_query", "nothing", "toString"];
const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(SESSION, "ses_", -1, 1e308, "\u0000", "天气", "x".repeat(5_000), "longhand://sessions/../transcript", null),
);
const params = fc.oneof(
  hostile,
  fc.record(
    { name: fc.oneof(fc.constantFrom(...NAMES), hostile), arguments: hostile, task: hostile, _meta: hostile },
    { requiredKeys: [] },
  ),
  fc.record({ uri: hostile, cursor: hostile, _meta: fc.record({ progressToken: hostile }) }, { requiredKeys: [] }),
  fc.record({
    name: fc.constantFrom(...NAMES),
    arguments: fc.dictionary(fc.constantFrom("session_id", "text", "query", "limit", "wait_seconds", "offset", "x"), hostile),
  }),
);
const oneMessage = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      jsonrpc: fc.constant("2.0"),
      id: fc.oneof(fc.integer(), fc.string()),
      method: fc.constantFrom(...METHODS),
      params,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ jsonrpc: hostile, id: hostile, method: hostile, params: hostile, result: hostile }, { requiredKeys: [] }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      jsonrpc: fc.constant("2.0"),
      method: fc.constantFrom("notifications/cancelled", "notifications/progress", "x"),
      params: hostile,
    }),
  },
);
const anyBody = fc.oneof(oneMessage, fc.array(oneMessage, { maxLength: 5 }), hostile);

const isRpcAnswer = (answer: unknown): boolean => rpcAnswer.safeParse(answer).success;
const head = { jsonrpc: z.literal("2.0"), id: z.union([z.string(), z.number(), z.null()]) };
const rpcAnswer = z.union([
  z.strictObject({ ...head, result: z.looseObject({}) }),
  z.strictObject({ ...head, error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }) }),
  // Progress, which a message may ask for.
  z.strictObject({ jsonrpc: z.literal("2.0"), method: z.literal("notifications/progress"), params: z.looseObject({}) }),
]);

async function readAnswers(response: Response): Promise<readonly unknown[]> {
  const text = await response.text();
  if (text === "") return [];
  if (response.headers.get("content-type")?.startsWith("application/json")) return [JSON.parse(text)].flat();
  return [...text.matchAll(/^data: ([^\n]*)/gm)].map(([, data = ""]) => JSON.parse(data));
}

describe("any JSON", () => {
  it("is answered as JSON-RPC, each request once, without a defect or a broken session", async () => {
    const { send, log } = open();

    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => {
        const response = await send(JSON.stringify(body));
        const answers = await readAnswers(response);

        expect([200, 202, 400]).toContain(response.status);
        expect(answers.length > 0).toBe(response.status !== 202);
        expect(answers.filter((answer) => !isRpcAnswer(answer))).toEqual([]);
      }),
      { numRuns: drawn(300) },
    );

    expect(log.filter(({ level }) => level === "error")).toEqual([]);
    expect(await (await send(rpc(1, "ping"))).json()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });
});
