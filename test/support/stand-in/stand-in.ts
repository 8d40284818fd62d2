/**
 * A provider for tests: a local HTTP server that implements the OpenAI chat-completions wire format, counts with a true
 * tokenizer, refuses requests that do not fit, and keeps a log. It sends scripted replies.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { countPrompt } from "./count-tokens.ts";
import { type LogEntry, sumTotals, type Totals } from "./log.ts";
import { refuse, respond } from "./respond.ts";
import { cutSummary, isSummaryRequest } from "./summary.ts";
import type { Reply, WireRequest } from "./wire.ts";

export type Responder = (request: WireRequest, entry: LogEntry) => Reply | Promise<Reply>;

export interface StandInOptions {
  /** The window in tokens. Absent: there is no limit. */
  readonly window?: number;
  /** Tokens of the window that are kept free for the reply. A prompt above `window - reserve` is refused. Default 0. */
  readonly reserve?: number;
  /** Answers turns when the queue of replies is empty. Absent: an empty queue is a 500. */
  readonly respond?: Responder;
  /** Answers summary requests. Default: an extract of the input. Null: they are answered like turns. */
  readonly summarize?: Responder | null;
  /** Default: any free port. */
  readonly port?: number;
}

export interface StandIn {
  /** The value for a model's `base_url`. */
  readonly baseUrl: string;
  readonly log: readonly LogEntry[];
  /** Replies to the next turns, in order. */
  enqueue(...replies: readonly Reply[]): void;
  respondWith(responder: Responder): void;
  summarizeWith(responder: Responder | null): void;
  /** The nth request (from 1), now or as soon as it has arrived completely. */
  request(nth: number): Promise<LogEntry>;
  /** Resolves when the connection of that request has ended: answered, or closed by the client. */
  settled(entry: LogEntry): Promise<void>;
  totals(): Totals;
  clearLog(): void;
  close(): Promise<void>;
}

const extract: Responder = (request) => ({ text: cutSummary(request) });
const nothingToSay: Responder = () => ({ status: 500, error: { message: "The stand-in was given no reply.", type: "server_error" } });

/** Listens on 127.0.0.1 before it resolves. Rejects when the port is in use. */
export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const desk = new Desk(options);
  const server = createServer((request, response) => {
    if (request.method === "POST" && request.url === "/v1/chat/completions") {
      desk.complete(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    } else if (request.method === "GET" && request.url === "/v1/models") {
      sendJson(response, 200, {
        object: "list",
        data: [{ id: "stand-in", object: "model", created: 0, owned_by: "stand-in", max_model_len: 32_768 }],
      });
    } else {
      sendJson(response, 404, { error: { message: `Unknown address ${request.url}.` } });
    }
  });
  const port = await listen(server, options.port ?? 0);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    log: desk.log,
    enqueue: (...replies) => desk.enqueue(replies),
    respondWith: (responder) => desk.respondWith(responder),
    summarizeWith: (responder) => desk.summarizeWith(responder),
    request: (nth) => desk.request(nth),
    settled: (entry) => desk.settled(entry),
    totals: () => sumTotals(desk.log),
    clearLog: () => void desk.log.splice(0),
    close: () => close(server),
  };
}

/** Accepts requests, records them, and finds the reply to each. */
class Desk {
  readonly log: LogEntry[] = [];
  readonly #options: StandInOptions;
  readonly #queue: Reply[] = [];
  readonly #settled = new WeakMap<LogEntry, Promise<void>>();
  #waiting: { readonly nth: number; readonly resolve: (entry: LogEntry) => void }[] = [];
  #responder: Responder;
  #summarizer: Responder | null;

  constructor(options: StandInOptions) {
    this.#options = options;
    this.#responder = options.respond ?? nothingToSay;
    this.#summarizer = options.summarize === undefined ? extract : options.summarize;
  }

  enqueue(replies: readonly Reply[]): void {
    this.#queue.push(...replies);
  }

  respondWith(responder: Responder): void {
    this.#responder = responder;
  }

  summarizeWith(responder: Responder | null): void {
    this.#summarizer = responder;
  }

  request(nth: number): Promise<LogEntry> {
    const known = this.log[nth - 1];
    return known ? Promise.resolve(known) : new Promise((resolve) => this.#waiting.push({ nth, resolve }));
  }

  settled(entry: LogEntry): Promise<void> {
    return this.#settled.get(entry) ?? Promise.resolve();
  }

  async complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = toEntry(request, await readBody(request));
    if (!entry) return sendJson(response, 400, { error: { message: "The body is not a chat completion request." } });
    this.#settled.set(entry, watch(response, entry));
    this.log.push(entry);
    for (const waiter of this.#waiting) if (waiter.nth === this.log.length) waiter.resolve(entry);
    this.#waiting = this.#waiting.filter(({ nth }) => nth > this.log.length);
    const refusal = findOverflow(entry, this.#options);
    if (refusal) return refuse(response, entry, refusal);
    await respond(response, entry, await this.#replyTo(entry));
  }

  #replyTo(entry: LogEntry): Reply | Promise<Reply> {
    if (entry.kind === "compaction" && this.#summarizer) return this.#summarizer(entry.body, entry);
    return this.#queue.shift() ?? this.#responder(entry.body, entry);
  }
}

/** `aborted` means that the client disconnected, not that the stand-in cut a reply short. */
function watch(response: ServerResponse, entry: LogEntry): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", () => {
      entry.aborted = !response.writableFinished && !entry.cut;
      resolve();
    });
  });
}

function findOverflow(entry: LogEntry, { window, reserve = 0 }: StandInOptions) {
  if (window === undefined || entry.prompt_tokens <= window - reserve) return null;
  entry.overflow = true;
  const message =
    `This model's maximum context length is ${window} tokens. However, your messages resulted in ${entry.prompt_tokens} tokens. ` +
    "Please reduce the length of the messages.";
  return { status: 400, error: { code: "context_length_exceeded", type: "invalid_request_error", message } };
}

function toEntry(request: IncomingMessage, raw: string): LogEntry | null {
  const body = parseRequest(raw);
  if (!body) return null;
  return {
    at: Date.now(),
    raw,
    body,
    authorization: request.headers.authorization ?? null,
    kind: isSummaryRequest(body) ? "compaction" : "turn",
    prompt_tokens: countPrompt(body),
    completion_tokens: 0,
    status: 0,
    aborted: false,
    cut: false,
    overflow: false,
  };
}

function parseRequest(raw: string): WireRequest | null {
  try {
    const body: unknown = JSON.parse(raw);
    return typeof body === "object" && body !== null && "messages" in body && Array.isArray(body.messages) ? (body as WireRequest) : null;
  } catch {
    return null;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new Error("The stand-in has no port."));
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
}
