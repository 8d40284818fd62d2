/** A provider on localhost: an HTTP server that accepts requests as its API does, and sends scripted replies. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { playReply } from "./play-reply.ts";
import { type Dialect, isRefusal, type PromptUsage, type Received, type Refusal, type ScriptedReply } from "./script.ts";

export interface Heard extends Received {
  /** The fault that the provider found. Null: the request was accepted. */
  readonly refusal: Refusal | null;
  /** Null when it was refused. */
  readonly usage: PromptUsage | null;
  /** How the connection ended: with the complete response, broken by the provider, or closed by the client. Absent until then. */
  readonly closed: Promise<"answered" | "cut" | "left">;
}

export interface ProviderStandIn {
  /** The value for a model's `base_url`. Null: the provider is reached in another way. */
  readonly baseUrl: string | null;
  readonly log: readonly Heard[];
  /** Replies to the next accepted requests, in order. Without a reply the response is a 500. */
  enqueue(...replies: readonly ScriptedReply[]): void;
  /** The nth request (from 1), now or as soon as it has arrived completely. */
  request(nth: number): Promise<Heard>;
  close(): Promise<void>;
}

/** Records requests, and finds the reply to each. Shared with the stand-in that is no server. */
export class Desk {
  readonly log: Heard[] = [];
  readonly #queue: ScriptedReply[] = [];
  #waiting: { readonly nth: number; readonly resolve: (heard: Heard) => void }[] = [];

  enqueue(replies: readonly ScriptedReply[]): void {
    this.#queue.push(...replies);
  }

  next(): ScriptedReply {
    const nothing: Refusal = { status: 500, body: { error: { message: "The stand-in was given no reply.", type: "server_error" } } };
    return this.#queue.shift() ?? { blocks: [], mishap: { type: "refuse", refusal: nothing } };
  }

  note(heard: Heard): void {
    this.log.push(heard);
    for (const { nth, resolve } of this.#waiting) if (nth === this.log.length) resolve(heard);
    this.#waiting = this.#waiting.filter(({ nth }) => nth > this.log.length);
  }

  request(nth: number): Promise<Heard> {
    const known = this.log[nth - 1];
    return known ? Promise.resolve(known) : new Promise((resolve) => this.#waiting.push({ nth, resolve }));
  }
}

export async function startProvider(dialect: Dialect): Promise<ProviderStandIn> {
  const desk = new Desk();
  const server = createServer((request, response) => {
    answer({ request, response, dialect, desk }).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}${dialect.basePath}`,
    log: desk.log,
    enqueue: (...replies) => desk.enqueue(replies),
    request: (nth) => desk.request(nth),
    close: () => close(server),
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly dialect: Dialect;
  readonly desk: Desk;
}

async function answer({ request, response, dialect, desk }: Exchange): Promise<void> {
  const raw = await readText(request);
  const received: Received = { path: request.url ?? "", headers: request.headers, raw, body: parseJson(raw) };
  const taken = dialect.receive(received);
  const { sink, closed } = toSink(response);
  desk.note({ ...received, closed, ...(isRefusal(taken) ? { refusal: taken, usage: null } : { refusal: null, usage: taken.usage }) });
  if (isRefusal(taken)) return sendRefusal(response, taken);
  const reply = desk.next();
  if (reply.mishap?.type === "refuse") return sendRefusal(response, reply.mishap.refusal);
  if (reply.mishap?.type === "silence") return;
  if (reply.mishap?.type === "hang_up") return sink.cut();
  const { contentType } = reply;
  const headers = contentType === undefined ? {} : { "content-type": contentType };
  if (reply.whole) return sendRefusal(response, { status: 200, body: taken.whole(reply), headers });
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", ...headers });
  // A delta must be sent when it is written, because a test may wait for it before it releases the next one.
  response.socket?.setNoDelay(true);
  await playReply({ accepted: taken, reply, sink });
}

function toSink(response: ServerResponse) {
  let cut = false;
  const closed = new Promise<"answered" | "cut" | "left">((resolve) => {
    response.once("close", () => resolve(cut ? "cut" : response.writableFinished ? "answered" : "left"));
  });
  const sink = {
    closed,
    write: (bytes: Uint8Array) => new Promise<void>((resolve) => response.write(bytes, () => resolve())),
    end: () => void response.end(),
    cut: () => {
      cut = true;
      response.destroy();
    },
  };
  return { sink, closed };
}

function sendRefusal(response: ServerResponse, { status, body, headers, endless }: Refusal): void {
  const plain = typeof body === "string";
  response.writeHead(status, { "content-type": plain ? "text/html" : "application/json; charset=utf-8", ...headers });
  const text = plain ? body : JSON.stringify(body);
  if (endless) response.write(text);
  else response.end(text);
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
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
