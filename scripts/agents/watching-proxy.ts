/** A proxy on this machine between an agent and the backend. It changes nothing, and keeps what was asked and how it was answered. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** 0 until the answer begins, and where the backend was not there. */
  status: number;
  answerHeaders: IncomingHttpHeaders;
}

export interface WatchingProxy {
  readonly url: string;
  readonly exchanges: readonly Exchange[];
  close(): void;
}

export async function startWatchingProxy(target: string): Promise<WatchingProxy> {
  const exchanges: Exchange[] = [];
  const server = createServer((request, response) => {
    pass(target, request, response, exchanges).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function pass(target: string, request: IncomingMessage, response: ServerResponse, exchanges: Exchange[]): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces);
  const { method = "GET", url: path = "/", headers } = request;
  const kept = { method, path, headers, body: body.toString("utf8") };
  const exchange: Exchange = { ...kept, status: 0, answerHeaders: {} };
  exchanges.push(exchange);
  const { host: _host, ...passed } = headers;
  const asked = openRequest(`${target}${path}`, { method, headers: { ...passed, "accept-encoding": "identity" } });
  response.once("close", () => asked.destroy());
  asked.once("error", () => response.destroy());
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  exchange.status = answer.statusCode ?? 0;
  exchange.answerHeaders = answer.headers;
  response.writeHead(exchange.status, answer.headers);
  response.flushHeaders();
  for await (const piece of answer) response.write(piece);
  response.end();
}
