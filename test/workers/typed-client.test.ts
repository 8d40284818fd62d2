/** The typed client inside workerd, with the Worker itself as its `fetch`. */
import { exports } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { Longhand, LonghandError } from "../../packages/client/src/client.ts";
import { migrate, newTenant } from "./support";

beforeAll(migrate);

async function connect(): Promise<Longhand> {
  const { key } = await newTenant();
  return new Longhand({ url: "https://longhand.test", key, fetch: (url, init) => exports.default.fetch(new Request(url, init)) });
}

it("the typed client runs in a Worker: requests, pages and bytes", async () => {
  const longhand = await connect();
  const { id } = await longhand.post("/v1/sessions", { body: { title: "支持" } });
  const path = { session_id: id };
  for (const content of ["one", "two", "three"]) {
    await longhand.post("/v1/sessions/{session_id}/messages", { path, body: { content, run: false } });
  }
  const roles: string[] = [];
  for await (const { role } of longhand.list("/v1/sessions/{session_id}/messages", { path, query: { limit: 2 } })) roles.push(role);
  expect(roles).toEqual(["user", "user", "user"]);
  const file = await longhand.post("/v1/files", { body: new Blob(["a,b"], { type: "text/csv" }) });
  const content = await longhand.get("/v1/files/{file_id}/content", { path: { file_id: file.id } });
  expect(await content.text()).toBe("a,b");
});

it("the typed client in a Worker throws a refusal that names the field", async () => {
  const longhand = await connect();
  const thrown = await longhand.post("/v1/sessions", { body: { metadata: { a: "x".repeat(600) } } }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(LonghandError);
  expect(thrown).toMatchObject({ status: 400, code: "invalid_request", errors: [{ field: "metadata.a" }] });
});
