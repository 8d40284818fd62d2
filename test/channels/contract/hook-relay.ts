/**
 * Stands between a platform and the backend. It passes webhooks on as they are, keeps what they were answered, and loses, doubles or changes
 * those that a test chooses by a text of theirs.
 */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type Server, type ServerResponse } from "node:http";

export interface Relayed {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  readonly status: number;
  readonly answer: string;
  readonly ms: number;
}

export type RelayMishap =
  /** The backend has answered, and the platform does not hear it. */
  | { readonly type: "lose_answer" }
  /** As many requests at once. The platform hears the first answer. */
  | { readonly type: "copies"; readonly copies: number }
  /** The platform hears 200, whatever the backend says, so that it does not deliver again. */
  | { readonly type: "headers"; readonly change: (headers: OutgoingHttpHeaders) => OutgoingHttpHeaders };

interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Headers of one connection alone, and the one that asks for answers that the relay could not read. */
const HOP = ["host", "connection", "content-length", "transfer-encoding", "keep-alive", "accept-encoding"];

export class HookRelay {
  readonly log: Relayed[] = [];
  readonly #server: Server;
  readonly #mishaps: { readonly text: string; readonly mishap: RelayMishap }[] = [];
  #target = "";
  #port = 0;

  constructor() {
    this.#server = createServer((incoming, response) => {
      this.#take(incoming, response).catch(() => response.destroy());
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The relay has no port.");
    this.#port = address.port;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  passTo(target: string): void {
    this.#target = target;
  }

  /** Happens to the next request whose body contains the text. */
  mishap(text: string, mishap: RelayMishap): void {
    this.#mishaps.push({ text, mishap });
  }

  /** The requests whose bodies contain the text. */
  find(text: string): readonly Relayed[] {
    return this.log.filter(({ body }) => body.includes(text));
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !HOP.includes(name)));
    const arrived = { method: incoming.method ?? "POST", path: (incoming.url ?? "").replace("/hook", ""), headers, body };
    const mishap = this.#findMishap(body.toString("utf8"));
    const sent = mishap?.type === "headers" ? { ...arrived, headers: mishap.change(headers) } : arrived;
    const copies = Array.from({ length: mishap?.type === "copies" ? mishap.copies : 1 }, () => this.#pass(sent));
    const [first] = await Promise.all(copies);
    if (mishap?.type === "lose_answer" || !first) return void response.destroy();
    if (mishap?.type === "headers") return void response.writeHead(200).end();
    response.writeHead(first.status, first.headers).end(first.answer);
  }

  #findMishap(body: string): RelayMishap | null {
    const index = this.#mishaps.findIndex(({ text }) => body.includes(text));
    return index < 0 ? null : (this.#mishaps.splice(index, 1)[0]?.mishap ?? null);
  }

  async #pass({ method, path, headers, body }: Arrived): Promise<Pick<Relayed, "status" | "answer"> & { headers: OutgoingHttpHeaders }> {
    const began = performance.now();
    const answered = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers: { ...headers, "content-length": body.byteLength } };
      request(this.#target + path, options, resolve)
        .on("error", reject)
        .end(body);
    });
    const pieces: Buffer[] = [];
    for await (const piece of answered) pieces.push(piece);
    const answer = Buffer.concat(pieces).toString("utf8");
    const status = answered.statusCode ?? 0;
    this.log.push({ method, headers, body: body.toString("utf8"), status, answer, ms: performance.now() - began });
    return { status, answer, headers: { "content-type": answered.headers["content-type"] ?? "text/plain" } };
  }
}
