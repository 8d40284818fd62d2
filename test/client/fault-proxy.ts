/** A proxy on this machine in front of a backend, which does to each request what the test says: cuts, delays, refuses, or passes it on. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Deals with a request. `pass` sends it to the backend and returns the whole answer. */
export type Fault = (context: { readonly seen: Seen; readonly response: ServerResponse; pass(): Promise<Passed> }) => unknown;

export interface Passed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The backend carries the request out, and the client never hears of it. */
export const loseAnswer: Fault = async ({ response, pass }) => {
  await pass();
  response.destroy();
};

/** The connection ends in the middle of the answer. */
export const cutAnswer: Fault = async ({ response, pass }) => {
  const { status, headers, body } = await pass();
  response.writeHead(status, { ...headers, "content-length": body.length });
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
};

/** The backend never sees the request. */
export const refuseConnection: Fault = ({ response }) => response.destroy();

export const neverAnswer: Fault = () => undefined;

export const answer =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Fault =>
  ({ response }) =>
    response.writeHead(status, headers).end(body);

/** A page as proxies show it. */
export const answerHtml = (status: number): Fault => answer(status, "<html><h1>Bad gateway</h1></html>", { "content-type": "text/html" });

export class FaultProxy {
  readonly #server: Server;
  readonly #target: string;
  #faults: Fault[] = [];
  #seen: Seen[] = [];
  url = "";

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => void this.#deal(request, response));
  }

  static async start(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    const address = proxy.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The proxy has no port.");
    proxy.url = `http://127.0.0.1:${address.port}`;
    return proxy;
  }

  /** The next requests meet these faults, one each. Later ones are passed on. */
  plan(...faults: readonly Fault[]): void {
    this.#faults = [...faults];
    this.#seen = [];
  }

  /** The requests since the last plan. */
  get seen(): readonly Seen[] {
    return this.#seen;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #deal(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    const seen = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body: bytes.toString() };
    this.#seen.push(seen);
    const pass = () => this.#pass(seen, bytes);
    const fault = this.#faults.shift() ?? passOn;
    await fault({ seen, response, pass });
  }

  async #pass({ method, path, headers }: Seen, bytes: Buffer): Promise<Passed> {
    const kept = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !/^(host|connection|content-length|transfer-encoding|expect)$/.test(name)
        ? [[name, value] as const]
        : [],
    );
    const answered = await fetch(this.#target + path, {
      method,
      headers: kept.map(([...pair]) => pair),
      ...(bytes.length > 0 && { body: bytes }),
    });
    const body = Buffer.from(await answered.arrayBuffer());
    const returned = [...answered.headers].filter(
      ([name]) => !/^(content-encoding|content-length|transfer-encoding|connection)$/.test(name),
    );
    return { status: answered.status, headers: Object.fromEntries(returned), body };
  }
}

const passOn: Fault = async ({ response, pass }) => {
  const { status, headers, body } = await pass();
  response.writeHead(status, headers).end(body);
};
