/** What holds for every route in another vendor's words: no key, no answer, and a refusal in that vendor's form. */
import { describe, expect, it } from "vitest";
import { fillPath, KEY, listVendorRoutes, world } from "../support";

const routes = listVendorRoutes(world().app);

const openAiError = (code: string) => ({ error: { message: expect.any(String), type: expect.any(String), param: null, code } });

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))("%s", (_, { method, path }) => {
  it("without a key is refused, and no object is asked", async () => {
    const { app, asked } = world();

    const response = await app.request(fillPath(path), { method });

    // A host of MCP takes 401 as an offer of OAuth.
    expect(response.status).toBe(path === "/mcp" ? 403 : 401);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });
});

describe.each(routes.filter(({ method }) => method === "POST").map((route) => [route.path, route] as const))("POST %s", (_, { path }) => {
  it("refuses a body that is no JSON as the client's fault", async () => {
    const { app, log } = world();
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", accept: "application/json, text/event-stream" };

    const response = await app.request(fillPath(path), { method: "POST", headers: { ...headers, "anthropic-version": "1" }, body: "{" });

    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("refusals", () => {
  it.each([
    ["/v1/chat/completions/nothing", "not_found", 404],
    ["/v1/responses/a/b/c", "not_found", 404],
    ["/v1/conversations/a/b/c/d", "not_found", 404],
  ])("GET %s is refused as OpenAI does", async (path, code, status) => {
    const response = await world().app.request(path, { headers: { authorization: `Bearer ${KEY}` } });

    expect([response.status, await response.json()]).toEqual([status, openAiError(code)]);
  });

  it("an unknown path below Anthropic's is refused as Anthropic does, and takes its header for the key", async () => {
    const response = await world().app.request("/v1/messages/a/b", { headers: { "x-api-key": KEY } });

    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      type: "error",
      error: { type: "not_found_error", message: expect.any(String) },
      request_id: expect.any(String),
    });
  });

  it("the header x-api-key is no key elsewhere", async () => {
    const response = await world().app.request("/v1/sessions", { headers: { "x-api-key": KEY } });

    expect(response.status).toBe(401);
  });
});
