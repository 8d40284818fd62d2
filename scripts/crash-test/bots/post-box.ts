/** Takes what the stand-ins of platforms send, each at a path of its own, and answers at once: the courier delivers it. */
import { createServer, type IncomingMessage } from "node:http";

export interface Posted {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PostBox {
  readonly url: string;
  close(): Promise<void>;
}

const OF_A_CONNECTION = new Set(["host", "connection", "content-length", "transfer-encoding", "accept-encoding", "keep-alive"]);

async function read(request: IncomingMessage): Promise<Posted> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    OF_A_CONNECTION.has(name) || typeof value !== "string" ? [] : [[name, value]],
  );
  return { body: Buffer.concat(pieces).toString("utf8"), headers: Object.fromEntries(headers) };
}

export async function openPostBox(take: (path: string, posted: Posted) => void): Promise<PostBox> {
  const server = createServer(async (request, response) => {
    take((request.url ?? "").slice(1), await read(request));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The post box has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
