/** The typed client against a running backend over HTTP, with a proxy in between that loses, cuts and refuses. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Item, Longhand, LonghandError } from "../../packages/client/src/client.ts";
import { openTenant } from "../support/shared-server";
import { answer, answerHtml, cutAnswer, FaultProxy, loseAnswer, neverAnswer, refuseConnection } from "./fault-proxy";

const MINUTES = 60_000;

let proxy: FaultProxy;
let key: string;
let longhand: Longhand;

beforeAll(async () => {
  const connection = await openTenant();
  key = connection.key;
  proxy = await FaultProxy.start(connection.url);
  longhand = new Longhand({ url: `${proxy.url}/`, key });
}, 2 * MINUTES);

afterAll(() => proxy.close());

beforeEach(() => proxy.plan());

async function refusal(call: Promise<unknown>): Promise<LonghandError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof LonghandError)) throw new Error("A LonghandError was expected.", { cause: error });
  return error;
}

async function collect<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

const readText = (content: Item["content"]): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : part.type)).join("");

const listContents = async (session_id: string) => {
  const items = await collect(longhand.list("/v1/sessions/{session_id}/messages", { path: { session_id } }));
  return items.map(({ role, content }) => `${role}: ${readText(content)}`);
};

describe("requests", () => {
  test("a session is created, read, changed and erased by the paths of the document", async () => {
    const { id } = await longhand.post("/v1/sessions", { body: { title: "支持 🐕" } });
    const path = { session_id: id };
    expect((await longhand.get("/v1/sessions/{session_id}", { path })).title).toBe("支持 🐕");
    const { etag } = await longhand.request("PATCH", "/v1/sessions/{session_id}", { path, body: { title: "Two" } });
    expect(etag).toMatch(/^"/);
    const stale = await refusal(longhand.patch("/v1/sessions/{session_id}", { path, body: { title: "Three" }, ifMatch: '"0"' }));
    expect(stale.status).toBe(412);
    await longhand.delete("/v1/sessions/{session_id}", { path });
    expect(await refusal(longhand.get("/v1/sessions/{session_id}", { path }))).toMatchObject({ status: 404, code: "session_erased" });
  });

  test.each(["工单-4711", "a/b?c#d%2F e", "..x", "100 %", "ticket+1&x=2"])(
    "the external id %s is one segment of a path",
    async (external_id) => {
      const put = await longhand.put("/v1/sessions/by-external-id/{external_id}", { path: { external_id } });
      expect(put.external_id).toBe(external_id);
      const found = await collect(longhand.list("/v1/sessions", { query: { external_id } }));
      expect(found.map(({ id }) => id)).toEqual([put.id]);
    },
  );

  test.each(["", ".", "..", "\uD800"])("%j cannot be part of a path, and nothing is sent", async (session_id) => {
    await expect(async () => longhand.get("/v1/sessions/{session_id}", { path: { session_id } })).rejects.toThrow(TypeError);
    expect(proxy.seen).toEqual([]);
  });

  test("metadata is asked for by name and value", async () => {
    const metadata = { "a colour": "red & 红" };
    const { id } = await longhand.post("/v1/sessions", { body: { metadata } });
    await longhand.post("/v1/sessions", { body: { metadata: { "a colour": "blue" } } });
    expect((await collect(longhand.list("/v1/sessions", { query: { metadata } }))).map((found) => found.id)).toEqual([id]);
  });

  test("a file keeps its bytes, and its content is bytes also if it is JSON", async () => {
    const file = await longhand.post("/v1/files", {
      query: { name: "数据.json" },
      body: new Blob(['{"a":1}'], { type: "application/json" }),
    });
    const content = await longhand.get("/v1/files/{file_id}/content", { path: { file_id: file.id } });
    expect(content).toBeInstanceOf(Blob);
    expect(await content.text()).toBe('{"a":1}');
    expect(await longhand.delete("/v1/files/{file_id}", { path: { file_id: file.id } })).toMatchObject({ id: file.id });
  });

  test("a key that is a function is asked before each attempt", async () => {
    let asked = 0;
    const other = new Longhand({
      url: proxy.url,
      key: async () => {
        asked++;
        return key;
      },
    });
    proxy.plan(refuseConnection);
    await other.get("/v1/tenant");
    expect(asked).toBe(2);
  });
});

describe("lists", () => {
  test("follow the cursor over several pages, in order, and ask for no page before it is needed", async () => {
    const { id } = await longhand.post("/v1/sessions");
    const messages = Array.from({ length: 7 }, (_, n) => ({ role: "user" as const, content: `Message ${n}` }));
    await longhand.post("/v1/sessions/{session_id}/messages/batch", { path: { session_id: id }, body: { items: messages } });
    proxy.plan();
    const path = { session_id: id };
    const entries = longhand.list("/v1/sessions/{session_id}/messages", { path, query: { limit: 3 } });
    const first = await entries.next();
    expect(first.done === true || readText(first.value.content)).toBe("Message 0");
    expect(proxy.seen).toHaveLength(1);
    expect((await collect(entries)).map(({ content }) => readText(content))).toEqual([1, 2, 3, 4, 5, 6].map((n) => `Message ${n}`));
    expect(proxy.seen).toHaveLength(3);
    const pages = await collect(longhand.pages("/v1/sessions/{session_id}/messages", { path, query: { limit: 3, order: "desc" } }));
    expect(pages.map(({ data }) => data.length)).toEqual([3, 3, 1]);
  });

  test("that are empty are one page", async () => {
    const { id } = await longhand.post("/v1/sessions");
    proxy.plan();
    expect(await listContents(id)).toEqual([]);
    expect(proxy.seen).toHaveLength(1);
  });
});

describe("messages", () => {
  test("a message is answered with its turn", async () => {
    const { id } = await longhand.post("/v1/sessions");
    const turn = await longhand.send(id, "My dog is called Rex.");
    expect(turn.status).toBe("completed");
    expect(turn.output_text).not.toBe("");
  });

  test("a message that is only accepted, because its turn could not be awaited, is answered with its turn in the end", async () => {
    const { id } = await longhand.post("/v1/sessions");
    proxy.plan(async ({ response, pass }) => {
      await pass();
      response.writeHead(202, { "content-type": "application/json" }).end("{}");
    });
    const turn = await longhand.send(id, "Hello.");
    expect(turn.status).toBe("completed");
    expect(await listContents(id)).toEqual(["user: Hello.", `assistant: ${turn.output_text}`]);
    expect(new Set(proxy.seen.flatMap(({ headers }) => headers["idempotency-key"] ?? [])).size).toBe(1);
  });

  test.each([
    ["the answer is lost", loseAnswer],
    ["the answer is cut in the middle", cutAnswer],
    ["the connection is refused", refuseConnection],
    ["a proxy answers 502 with a page", answerHtml(502)],
    ["the server is overloaded", answer(503, "{}", { "retry-after": "0" })],
    ["there are too many requests", answer(429, "", { "retry-after": "0" })],
  ])("a message is said once when %s", async (_, fault) => {
    const { id } = await longhand.post("/v1/sessions");
    proxy.plan(fault);
    const turn = await longhand.send(id, "Hello.");
    expect(turn.status).toBe("completed");
    expect(proxy.seen).toHaveLength(2);
    expect(new Set(proxy.seen.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(await listContents(id)).toEqual(["user: Hello.", `assistant: ${turn.output_text}`]);
  });
});

describe("failures", () => {
  test("a refusal names the field, the request and the server's reason", async () => {
    const error = await refusal(longhand.post("/v1/sessions", { body: { metadata: { a: "x".repeat(600) } } }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request", type: "urn:longhand:problem:invalid_request" });
    expect(error.errors.map(({ field }) => field)).toEqual(["metadata.a"]);
    expect(error.message).toContain("metadata.a");
    expect(error.requestId).toMatch(/./);
    expect(proxy.seen).toHaveLength(1);
  });

  test("a proxy's page is an unexpected answer with its status", async () => {
    proxy.plan(...Array.from({ length: 2 }, () => answerHtml(502)));
    const error = await refusal(new Longhand({ url: proxy.url, key, retries: 1 }).get("/v1/tenant"));
    expect(error).toMatchObject({ status: 502, code: "unexpected_answer", type: "about:blank" });
    expect(error.detail).toContain("text/html");
    expect(proxy.seen).toHaveLength(2);
  });

  test("a page with status 200 is not taken for an answer", async () => {
    proxy.plan(answerHtml(200));
    expect(await refusal(longhand.get("/v1/tenant"))).toMatchObject({ status: 200, code: "unexpected_answer" });
  });

  test("a server that never answers is given up on after the limit of each attempt", async () => {
    proxy.plan(neverAnswer, neverAnswer);
    const error = await refusal(new Longhand({ url: proxy.url, key, retries: 1, timeoutMs: 50 }).get("/v1/tenant"));
    expect(error).toMatchObject({ status: null, code: "timed_out" });
    expect(proxy.seen).toHaveLength(2);
  });

  test("a server that asks for a longer wait than a minute is not waited for", async () => {
    proxy.plan(answer(429, "{}", { "retry-after": "3600" }));
    expect(await refusal(longhand.get("/v1/tenant"))).toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
    expect(proxy.seen).toHaveLength(1);
  });

  test("a POST without a key is not sent again when it may have been carried out, and is when it was not", async () => {
    proxy.plan(loseAnswer);
    const body = { expires_in: 60 };
    expect(await refusal(longhand.post("/v1/tokens", { body }))).toMatchObject({ status: null, code: "connection_failed" });
    expect(proxy.seen).toHaveLength(1);
    proxy.plan(answer(429, "{}", { "retry-after": "0" }), loseAnswer);
    await refusal(longhand.post("/v1/tokens", { body }));
    expect(proxy.seen).toHaveLength(2);
  });

  test("a search, which changes nothing, is sent again", async () => {
    proxy.plan(loseAnswer);
    expect(await collect(longhand.list("/v1/sessions/search", { body: { query: "zyzzyva" } }))).toEqual([]);
    expect(proxy.seen).toHaveLength(2);
  });

  test("a deletion whose answer was lost is done, and one of something that never was is refused", async () => {
    const path = { credential_name: "a" };
    await longhand.put("/v1/credentials/{credential_name}", { path, body: { api_key: "sk-1234567890" } });
    proxy.plan(loseAnswer);
    expect(await longhand.delete("/v1/credentials/{credential_name}", { path })).toBeUndefined();
    expect(proxy.seen).toHaveLength(2);
    expect(await refusal(longhand.delete("/v1/credentials/{credential_name}", { path }))).toMatchObject({ code: "credential_not_found" });
    proxy.plan(answer(429, "{}", { "retry-after": "0" }));
    expect((await refusal(longhand.delete("/v1/credentials/{credential_name}", { path }))).status).toBe(404);
  });

  test("a model whose deletion was answered with silence is deleted", async () => {
    const path = { model_id: "short-lived" };
    await longhand.put("/v1/models/{model_id}", { path, body: { provider: "embedded", max_output: 1_000 } });
    proxy.plan(loseAnswer);
    expect(await longhand.delete("/v1/models/{model_id}", { path })).toEqual({ id: "short-lived", object: "model", deleted: true });
    expect(proxy.seen).toHaveLength(2);
  });

  test("a file whose deletion was answered with silence is erased, and one that never was is refused", async () => {
    const file = await longhand.post("/v1/files", { query: { name: "a.txt" }, body: new Blob(["A text"], { type: "text/plain" }) });
    const path = { file_id: file.id };
    proxy.plan(loseAnswer);
    expect(await longhand.delete("/v1/files/{file_id}", { path })).toEqual({ id: file.id, status: "erased" });
    expect(proxy.seen).toHaveLength(2);
    expect(await refusal(longhand.delete("/v1/files/{file_id}", { path }))).toMatchObject({ code: "file_not_found" });
  });

  test("a change with a condition is not sent again when it may have been carried out", async () => {
    const { etag } = await longhand.request("GET", "/v1/tenant");
    proxy.plan(loseAnswer);
    const error = await refusal(longhand.patch("/v1/tenant", { body: {}, ifMatch: etag ?? "" }));
    expect(error.code).toBe("connection_failed");
    expect(proxy.seen).toHaveLength(1);
  });
});

describe("signals", () => {
  test("an aborted call sends nothing", async () => {
    await expect(longhand.get("/v1/tenant", { signal: AbortSignal.abort(new Error("Enough.")) })).rejects.toThrow("Enough.");
    expect(proxy.seen).toEqual([]);
  });

  test("a call that waits for an answer ends with the signal's reason", async () => {
    const leaving = new AbortController();
    proxy.plan(() => leaving.abort(new Error("Enough.")));
    await expect(longhand.get("/v1/tenant", { signal: leaving.signal })).rejects.toThrow("Enough.");
    expect(proxy.seen).toHaveLength(1);
  });

  test("a call that waits to be sent again ends with the signal's reason", async () => {
    const leaving = new AbortController();
    proxy.plan(({ response }) => {
      response.writeHead(429, { "retry-after": "50" }).end("{}", () => leaving.abort(new Error("Enough.")));
    });
    await expect(longhand.get("/v1/tenant", { signal: leaving.signal })).rejects.toThrow("Enough.");
    expect(proxy.seen).toHaveLength(1);
  });
});
