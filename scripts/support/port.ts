/** Ports of this machine's loopback interface. */
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

/** A port that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await listen(server, 0);
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has a port");
  return address.port;
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  server.listen(port, HOST);
  await once(server, "listening");
}
