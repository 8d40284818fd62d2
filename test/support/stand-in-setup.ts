/**
 * Starts the provider stand-in beside the tests that run in workerd, and a second address through which they script it:
 * the replies of one model (`upstream_id`, one for each test) and their timing. A gate holds a reply until the test
 * opens it, so that no test has to sleep.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { TestProject } from "vitest/node";
import { startChatPlatform } from "./stand-in/chat-platform.ts";
import { startClosingServer } from "./stand-in/closing-server.ts";
import type { LogEntry } from "./stand-in/log.ts";
import { type Responder, startStandIn } from "./stand-in/stand-in.ts";
import { cutSummary } from "./stand-in/summary.ts";
import { startToolServer } from "./stand-in/tool-server.ts";
import type { Reply, ScriptedReply } from "./stand-in/wire.ts";
import { startWebhookReceiver } from "./webhook-receiver.ts";

/** A reply as it crosses the wire. */
export interface RemoteReply extends ScriptedReply {
  /** The gate that must be open before the answer. */
  readonly gate?: string;
  /** The text piece by piece, in place of `text`. `{gate}`: the next piece waits for it. */
  readonly deltas?: readonly (string | { readonly gate: string })[];
}

export interface ScriptInput {
  readonly model: string;
  /** Added to the model's remaining replies. When there are none, it says "ok". */
  readonly replies?: readonly RemoteReply[];
  /** The replies to summary requests. When there are none: an extract. */
  readonly summaries?: readonly RemoteReply[];
  /** Prompts with more true tokens are refused, as a provider refuses them. */
  readonly limit?: number;
}

export interface StandInAddress {
  readonly baseUrl: string;
  readonly controlUrl: string;
}

declare module "vitest" {
  interface ProvidedContext {
    standIn: StandInAddress;
    /** The addresses of HTTP tools and an MCP server (`stand-in/tool-server`). */
    toolServer: string;
    /** Where endpoints of webhooks are (`webhook-receiver`). */
    webhookReceiver: string;
    /** The address of a chat platform (`stand-in/chat-platform`). */
    chatPlatform: string;
    /** The address of a server that reads nothing (`stand-in/closing-server`). */
    closingServer: string;
  }
}

/** The replies of one model. */
class Script {
  readonly replies: RemoteReply[] = [];
  readonly summaries: RemoteReply[] = [];
  readonly log: LogEntry[] = [];
  limit: number | null = null;
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();
  #waiting: (() => void)[] = [];

  gate(name: string): PromiseWithResolvers<void> {
    const known = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, known);
    return known;
  }

  note(entry: LogEntry): void {
    this.log.push(entry);
    this.wake();
  }

  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async atLeast(least: { readonly requests: number; readonly aborted: number }): Promise<readonly LogEntry[]> {
    const isThere = () => this.log.length >= least.requests && this.log.filter((entry) => entry.aborted).length >= least.aborted;
    while (!isThere()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.log;
  }

  async answer(entry: LogEntry): Promise<Reply> {
    this.note(entry);
    if (this.limit !== null && entry.prompt_tokens > this.limit) {
      entry.overflow = true;
      return { status: 400, error: { code: "context_length_exceeded", message: `maximum context length is ${this.limit} tokens` } };
    }
    const isSummary = entry.kind === "compaction";
    const reply = (isSummary ? this.summaries : this.replies).shift() ?? { text: isSummary ? cutSummary(entry.body) : "ok" };
    if (reply.gate !== undefined) await this.gate(reply.gate).promise;
    return reply.deltas ? this.#pieces(reply.deltas) : reply;
  }

  async *#pieces(deltas: NonNullable<RemoteReply["deltas"]>): AsyncGenerator<string> {
    for (const delta of deltas) {
      if (typeof delta === "string") yield delta;
      else await this.gate(delta.gate).promise;
    }
  }
}

const scripts = new Map<string, Script>();

function findScript(model: string): Script {
  const known = scripts.get(model) ?? new Script();
  scripts.set(model, known);
  return known;
}

async function readJson<T>(request: IncomingMessage): Promise<T> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString("utf8")) as T;
}

/**
 * `POST /control`, `POST /control/release`, and `GET /control/log`, which waits for a number of requests, and for a
 * number of disconnected ones.
 */
async function control(request: IncomingMessage): Promise<unknown> {
  const url = new URL(request.url ?? "/", "http://control");
  if (url.pathname === "/control/log") {
    const number = (name: string) => Number(url.searchParams.get(name) ?? 0);
    return findScript(url.searchParams.get("model") ?? "").atLeast({ requests: number("at_least"), aborted: number("aborted") });
  }
  if (url.pathname === "/control/release") {
    const { model, gate } = await readJson<{ model: string; gate: string }>(request);
    findScript(model).gate(gate).resolve();
    return {};
  }
  const input = await readJson<ScriptInput>(request);
  const script = findScript(input.model);
  script.replies.push(...(input.replies ?? []));
  script.summaries.push(...(input.summaries ?? []));
  script.limit = input.limit ?? script.limit;
  return {};
}

function startControl(): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    control(request)
      .then((body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve({ server, url: `http://127.0.0.1:${address.port}/control` });
      else reject(new Error("The control has no port."));
    });
  });
}

/** vitest's global setup. The returned function runs at the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const answer: Responder = (request, entry) => {
    const script = findScript(request.model);
    void standIn.settled(entry).then(() => script.wake());
    return script.answer(entry);
  };
  const standIn = await startStandIn({ respond: answer, summarize: answer });
  const { server, url } = await startControl();
  const tools = await startToolServer();
  const hooks = await startWebhookReceiver();
  const platform = await startChatPlatform();
  const closing = await startClosingServer();
  project.provide("standIn", { baseUrl: standIn.baseUrl, controlUrl: url });
  project.provide("toolServer", tools.url);
  project.provide("webhookReceiver", hooks.url);
  project.provide("chatPlatform", platform.url);
  project.provide("closingServer", closing.url);
  return async () => {
    server.close();
    server.closeAllConnections();
    await tools.close();
    await hooks.close();
    await platform.close();
    await closing.close();
    await standIn.close();
  };
}
