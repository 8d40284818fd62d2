/**
 * A receiver of webhooks on 127.0.0.1 that misbehaves on request. Each endpoint is a path (`/hooks/NAME`), with a script of its own: tests in
 * workerd write it and read what came through `/control/NAME`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** How one request is answered. Without a script: 200 at once. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly body?: string;
  readonly location?: string;
  /** `hang`: never. `close`: the connection is closed without an answer. */
  readonly how?: "hang" | "close";
  /** The answer waits until the test opens it. */
  readonly gate?: string;
}

export interface ReceivedHook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  close(): Promise<void>;
}

class Mailbox {
  readonly answers: ScriptedAnswer[] = [];
  readonly received: ReceivedHook[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();
  #waiting: (() => void)[] = [];

  gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }

  take(hook: ReceivedHook): ScriptedAnswer {
    this.received.push(hook);
    for (const wake of this.#waiting.splice(0)) wake();
    return this.answers.shift() ?? {};
  }

  async atLeast(count: number): Promise<readonly ReceivedHook[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.received;
  }
}

const mailboxes = new Map<string, Mailbox>();

function findMailbox(name: string): Mailbox {
  const known = mailboxes.get(name) ?? new Mailbox();
  mailboxes.set(name, known);
  return known;
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

async function receive(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readText(request);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([header, value]) => [header, String(value)]));
  const mailbox = findMailbox(name);
  const { status = 200, body: said = "", location, how, gate } = mailbox.take({ headers, body });
  if (gate !== undefined) await mailbox.gate(gate).promise;
  if (how === "hang") return;
  if (how === "close") return void response.destroy();
  response.writeHead(status, { ...(location !== undefined && { location }) }).end(said);
}

/** `POST` adds answers, `POST …?open=GATE` opens a gate, `GET …?at_least=N` waits for so many requests. */
async function control(name: string, request: IncomingMessage, query: URLSearchParams): Promise<unknown> {
  const mailbox = findMailbox(name);
  if (request.method === "GET") return mailbox.atLeast(Number(query.get("at_least") ?? 0));
  const gate = query.get("open");
  if (gate !== null) mailbox.gate(gate).resolve();
  else mailbox.answers.push(...(JSON.parse(await readText(request)) as ScriptedAnswer[]));
  return {};
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://receiver");
  const [, kind = "", name = ""] = pathname.split("/");
  if (kind !== "control") return receive(name, request, response);
  const answer = await control(name, request, searchParams);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

export function startWebhookReceiver(): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address !== "object" || address === null) return reject(new Error("The receiver has no port."));
      resolve({
        url: `http://127.0.0.1:${address.port}`,
        close: async () => {
          server.closeAllConnections();
          await new Promise((closed) => server.close(closed));
        },
      });
    });
  });
}
