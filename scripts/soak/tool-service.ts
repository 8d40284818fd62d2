/** A tool that runs on the server side: a small HTTP service that is sometimes slow. */
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { HOST } from "../support/port.ts";

export interface ToolService {
  readonly url: string;
  close(): Promise<void>;
}

const SLOW_MS = 300;

export async function startToolService(): Promise<ToolService> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    request.resume();
    calls += 1;
    if (calls % 5 === 0) await delay(SLOW_MS);
    if (calls % 11 === 0) return void response.writeHead(500).end("broken");
    response.writeHead(200, { "content-type": "text/plain" }).end(`sunny, ${calls % 30} degrees`);
  });
  await once(server.listen(0, HOST), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has a port");
  return {
    url: `http://${HOST}:${address.port}/weather`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
