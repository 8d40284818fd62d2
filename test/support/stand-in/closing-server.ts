/** A server for tests, on 127.0.0.1, that ends each connection before it reads anything of it. */
import { createServer } from "node:net";

export async function startClosingServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The closing server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
