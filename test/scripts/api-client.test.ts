import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { callApi } from "../../scripts/support/api-client.ts";

/** A server that answers in this way. */
async function serve(answer: Parameters<typeof createServer>[1]): Promise<{ readonly url: string; readonly key: string }> {
  const server = createServer(answer ?? (() => {}));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, key: "k" };
}

test.each([
  ["never answers", () => {}],
  ["stops in the middle of its answer", (_: unknown, response: { write(text: string): unknown }) => response.write("{")],
] as const)("a call of a server that %s ends by itself", async (_, answer) => {
  const connection = await serve(answer);
  await expect(callApi(connection, { method: "GET", path: "/v1/tenant" }, 50)).rejects.toThrow(
    "GET /v1/tenant was not answered within 0.05 s",
  );
});

test("a call that is answered in time is its JSON, or null for nothing", async () => {
  const connection = await serve((request, response) => response.end(request.method === "GET" ? '{"a":1}' : ""));
  await expect(callApi(connection, { method: "GET", path: "/" })).resolves.toEqual({ a: 1 });
  await expect(callApi(connection, { method: "DELETE", path: "/" })).resolves.toBeNull();
});
