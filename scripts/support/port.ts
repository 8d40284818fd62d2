/** Ports of this machine's loopback interface. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

export const HOST = "127.0.0.1";

/** The error code of listening on `port` (`EADDRINUSE`, `EACCES`), or null if the port is free. */
export async function portError(port: number): Promise<string | null> {
  const server = createServer();
  try {
    await listen(server, port);
    return null;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unknown";
  } finally {
    server.close();
  }
}

/** Above the ports that `fetch` refuses, and below those of outgoing connections, which may be taken between two starts of a server. */
const FIRST = 11_000;
const LAST = 32_000;

/** The first free port above `port`, or any that is free where the next ones are busy, too. */
export async function findFreeBeside(port: number): Promise<number> {
  for (let other = port + 1; other <= Math.min(port + 20, 65_535); other++) if ((await portError(other)) === null) return other;
  return findFreePort();
}

/** A port that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(FIRST, LAST);
  return (await portError(port)) === null ? port : findFreePort();
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  server.listen(port, HOST);
  await once(server, "listening");
}
