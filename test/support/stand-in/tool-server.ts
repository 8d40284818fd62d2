/**
 * Tools for tests, on 127.0.0.1: an HTTP service that returns what it received and misbehaves on request, and an MCP
 * server made with the official SDK, whose sessions live until they are ended.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ToolServer {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** MCP sessions that were started and not ended. */
  readonly openSessions: () => number;
  /** Resolves when a call has arrived that is never answered. */
  readonly hanging: () => Promise<void>;
  close(): Promise<void>;
}

export const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

export async function startToolServer(): Promise<ToolServer> {
  const desk = new Desk();
  const server = createServer((request, response) => {
    desk.take(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    heard: desk.heard,
    openSessions: () => desk.sessions.size,
    hanging: () => desk.hanging.promise,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class Desk {
  readonly heard: Heard[] = [];
  readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly hanging = Promise.withResolvers<void>();

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const heard = { method: request.method ?? "", url: request.url ?? "/", headers, body };
    this.heard.push(heard);
    const url = new URL(heard.url, "http://tools");
    if (url.pathname.startsWith("/mcp")) return this.#mcp(request, response, { url, body });
    this.#http(heard, url, response);
  }

  #http(heard: Heard, { pathname, searchParams }: URL, response: ServerResponse): void {
    const answer = (status: number, type: string, body: string | Buffer) => response.writeHead(status, { "content-type": type }).end(body);
    switch (pathname) {
      case "/echo":
        return void answer(200, "application/json", JSON.stringify(heard));
      case "/text":
        return void answer(200, "text/plain; charset=utf-8", "sunny, 21 °C");
      case "/say": {
        const said = Buffer.from(searchParams.get("body") ?? "");
        const type = searchParams.get("type") ?? "text/plain";
        return void response.writeHead(200, { ...(type !== "" && { "content-type": type }), "content-length": said.length }).end(said);
      }
      case "/latin":
        return void answer(200, "text/plain; charset=iso-8859-1", Buffer.from("caf\xe9", "latin1"));
      case "/image":
        return void answer(200, "image/png", PNG);
      case "/status":
        return void answer(Number(searchParams.get("code")), "text/plain", `refused: ${heard.headers["x-key"] ?? "no key"}`);
      case "/empty":
        return void response.writeHead(204).end();
      case "/redirect":
        return void response.writeHead(Number(searchParams.get("code") ?? 302), { location: searchParams.get("to") ?? "/" }).end();
      case "/loop":
        return void response.writeHead(307, { location: "/loop" }).end();
      case "/endless":
        return this.#endless(response);
      case "/broken":
        response.writeHead(200, { "content-type": "text/plain", "content-length": "100" });
        return void response.write("half", () => response.destroy());
      default:
        // Never answered.
        return this.hanging.resolve();
    }
  }

  /** Declares no length, and continues as long as the client reads. */
  #endless(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/plain" });
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(10_000)));
    };
    response.on("drain", more);
    more();
  }

  async #mcp(request: IncomingMessage, response: ServerResponse, { url, body }: { url: URL; body: string }): Promise<void> {
    if (url.pathname === "/mcp/moved") return void response.writeHead(307, { location: url.searchParams.get("to") ?? "/mcp" }).end();
    if (url.pathname === "/mcp/html") return void response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    if (url.pathname === "/mcp/closed") return void response.writeHead(401).end("who are you?");
    if (url.pathname === "/mcp/endless") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const more = (): void => {
        while (!response.destroyed && response.write(`: ${"x".repeat(60_000)}\n\n`));
      };
      response.on("drain", more);
      return more();
    }
    if (url.pathname === "/mcp/ids" && body.includes("tools/list")) return answerListing(response, body);
    const known = this.sessions.get(String(request.headers["mcp-session-id"]));
    const transport = known ?? (await this.#newSession(url.pathname));
    await transport.handleRequest(request, response, body === "" ? undefined : JSON.parse(body));
  }

  #opened = 0;

  async #newSession(path: string): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `mcp-session-${++this.#opened}`,
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
      onsessionclosed: (id) => void this.sessions.delete(id),
    });
    const server = path === "/mcp/many" ? manyTools() : path === "/mcp/odd" ? oddTools() : someTools(this.hanging);
    // As in the client: its own interface does not declare that a session id may be undefined.
    await server.connect(transport as Parameters<McpServer["connect"]>[0]);
    return transport;
  }
}

function someTools(hanging: PromiseWithResolvers<void>): McpServer {
  const server = new McpServer({ name: "stand-in", version: "1" });
  const say = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool(
    "add",
    { description: "Adds two numbers", inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
  );
  server.registerTool("greet.person", { description: "Greets", inputSchema: { name: z.string() } }, ({ name }) => say(`Hello, ${name}.`));
  server.registerTool("headers", { description: "Shows headers" }, ({ requestInfo }) => say(JSON.stringify(requestInfo?.headers)));
  server.registerTool("fails", {}, () => ({ ...say("The printer is on fire."), isError: true }));
  server.registerTool("picture", {}, () => ({
    content: [
      { type: "text", text: "A picture:" },
      { type: "image", mimeType: "image/png", data: PNG.toString("base64") },
      { type: "resource_link", name: "source", uri: "file:///source.txt" },
      { type: "resource", resource: { uri: "note://1", text: "a note" } },
    ],
  }));
  server.registerTool("album", {}, () => ({
    content: Array.from({ length: 500 }, () => ({ type: "image" as const, mimeType: "image/png", data: PNG.toString("base64") })),
  }));
  server.registerTool("never", {}, () => {
    hanging.resolve();
    return new Promise<never>(() => undefined);
  });
  return server;
}

function manyTools(): McpServer {
  const server = new McpServer({ name: "stand-in", version: "1" });
  for (let n = 1; n <= 150; n++) server.registerTool(`tool_${n}`, { description: "x".repeat(20_000) }, () => ({ content: [] }));
  return server;
}

function oddTools(): McpServer {
  const server = new McpServer({ name: "stand-in", version: "1" });
  const nothing = () => ({ content: [{ type: "text" as const, text: "a\ud800" }] });
  server.registerTool("huge", { inputSchema: { a: z.string().describe("x".repeat(40_000)) } }, nothing);
  server.registerTool("fine", { inputSchema: { a: z.string().optional() } }, nothing);
  const circular = { $ref: "#/properties/a" };
  server.registerTool("half", { inputSchema: { a: z.string().optional().describe("\ud800") } }, nothing);
  server.registerTool("circular", { inputSchema: { a: z.any().meta(circular) } }, nothing);
  return server;
}

/** A listing that the SDK's server would not create: ids at each of 30 levels, which a validator may resolve in two ways at each. */
function answerListing(response: ServerResponse, body: string): void {
  const levels = Array.from({ length: 30 }, (_, level) => level);
  const outputSchema = levels.reduce<object>((inner, level) => ({ $id: `http://x/${level}`, not: inner }), {});
  const fine = { name: "fine", inputSchema: { type: "object" }, outputSchema: { type: "object", not: outputSchema } };
  const { id } = JSON.parse(body) as { id: unknown };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result: { tools: [fine] } }));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new Error("The tool server has no port."));
    });
  });
}
