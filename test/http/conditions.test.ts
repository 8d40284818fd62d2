import { describe, expect, it } from "vitest";
import type { Condition } from "../../src/app/conditions";
import type { WebhookEndpoint } from "../../src/contract/webhook";
import { err, ok } from "../../src/lib/result";
import {
  ADMIN_KEY,
  description,
  fillPath,
  listRoutes,
  makeId,
  modelEntry,
  NOW,
  readProblem,
  SESSION,
  sampleBody,
  type WorldInput,
  world,
} from "./support";

const ETAG = '"0123456789abcdef"';
const http = { description: "The weather", parameters: { type: "object", properties: {} }, url: "https://api.example.com/weather" };
const entry = { created_at: NOW, updated_at: NOW, credential_missing: false };
const mcp = { url: "https://mcp.example.com" };
const listing = { tools: [], skipped: [], truncated: false };
const receipt = { id: SESSION, erased_at: NOW, stores: [] };
const endpoint = {
  ...{ url: "https://example.com/hooks", events: null, description: null, metadata: {}, created_at: NOW, updated_at: NOW },
  status: "enabled",
  ...{ disabled_reason: null, disabled_at: null, failing_since: null, previous_secret_until: null },
} satisfies Omit<WebhookEndpoint, "id">;
const settings = { name: "Acme", default_model: "embedded", default_policy: "", allowed_origins: [] };

/** A world that notes the conditions which it is asked under. */
function noting(): { readonly seen: (Condition | undefined)[]; readonly given: WorldInput } {
  const seen: (Condition | undefined)[] = [];
  const note = <T>(condition: Condition | undefined, value: T) => {
    seen.push(condition);
    return ok(value);
  };
  return {
    seen,
    given: {
      session: {
        describe: async () => ok(description()),
        patch: async (_, __, condition) => note(condition, description()),
        erase: async (_, __, condition) => note(condition, receipt),
      },
      tenant: {
        getModel: async (id) => ok(modelEntry({ id })),
        putModel: async (_, id, model, condition) => note(condition, modelEntry({ id, ...model })),
        deleteModel: async (_, __, condition) => note(condition, null),
        listTools: async (names) =>
          ok(
            (names ?? []).map(
              (name) =>
                ({
                  ...http,
                  name,
                  method: "POST",
                  secret_header: null,
                  timeout_ms: 1_000,
                  max_bytes: 1,
                  needs_approval: false,
                  files: null,
                  ...entry,
                }) as const,
            ),
          ),
        putTool: async (_, name, tool, condition) => note(condition, { ...tool, name, ...entry }),
        deleteTool: async (_, __, condition) => note(condition, null),
        listMcpServers: async (names) =>
          ok(
            (names ?? []).map((name) => ({
              ...mcp,
              name,
              secret_header: null,
              timeout_ms: 1_000,
              needs_approval: false,
              allowed_tools: null,
              listing,
              listed_at: NOW,
              ...entry,
            })),
          ),
        putMcpServer: async (_, { name, server, condition }) => note(condition, { ...server, name, listing, listed_at: NOW, ...entry }),
        deleteMcpServer: async (_, __, condition) => note(condition, null),
        settings: async () => ok(settings),
        changeSettings: async (_, __, condition) => note(condition, settings),
        getWebhookEndpoint: async (id) => ok({ ...endpoint, id }),
        changeWebhookEndpoint: async (_, id, { condition }) => note(condition, { ...endpoint, id }),
        deleteWebhookEndpoint: async (_, __, condition) => note(condition, null),
        putRetention: async (_, setting, condition) => note(condition, { ...setting, starts_at: NOW }),
      },
    },
  };
}

const model = { provider: "openai", max_output: 1_000 };
const changes = [
  ["PUT", "/v1/models/mine", model, 200],
  ["DELETE", "/v1/models/mine", undefined, 200],
  ["PUT", "/v1/tools/weather", http, 200],
  ["DELETE", "/v1/tools/weather", undefined, 204],
  ["PUT", "/v1/mcp_servers/github", mcp, 200],
  ["DELETE", "/v1/mcp_servers/github", undefined, 204],
  ["PATCH", "/v1/tenant", { name: "Acme" }, 200],
  ["PUT", "/v1/retention", { erase_sessions_after_days: 30 }, 200],
  ["PATCH", `/v1/webhook_endpoints/${makeId("whk")}`, { description: "The help desk" }, 200],
  ["DELETE", `/v1/webhook_endpoints/${makeId("whk")}`, undefined, 204],
  ["PATCH", `/v1/sessions/${SESSION}`, { title: "Holidays" }, 200],
  ["DELETE", `/v1/sessions/${SESSION}`, undefined, 200],
] as const;

describe.each(changes)("%s %s", (method, path, body, status) => {
  it.each([
    ["If-Match", ETAG, { match: [ETAG], none_match: null }],
    ["If-Match", `"x", ${ETAG}`, { match: ['"x"', ETAG], none_match: null }],
    ["If-Match", `W/"x",${ETAG}`, { match: [ETAG], none_match: null }],
    ["If-Match", '"a,b"', { match: ['"a,b"'], none_match: null }],
    ["If-Match", "*", { match: "*", none_match: null }],
    ["If-None-Match", "*", { match: null, none_match: "*" }],
    ["If-None-Match", `W/${ETAG}`, { match: null, none_match: [ETAG] }],
  ])("passes %s: %s on", async (name, value, condition) => {
    const { seen, given } = noting();

    const response = await world(given).call(method, path, { body, headers: { [name]: value } });

    expect(response.status).toBe(status);
    expect(seen).toEqual([condition]);
  });

  it("needs no condition", async () => {
    const { seen, given } = noting();
    await world(given).call(method, path, { body });
    expect(seen).toEqual([undefined]);
  });

  it.each(["abc", "", '"a', '"a" "b"', "W/abc", `${ETAG},`, `"${"x".repeat(2_050)}"`])(
    "refuses If-Match: %j by name, and asks no object",
    async (value) => {
      const { seen, given } = noting();

      const response = await world(given).call(method, path, { body, headers: { "If-Match": value } });

      expect(response.status).toBe(400);
      expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["If-Match"]);
      expect(seen).toEqual([]);
    },
  );
});

const shown = changes.filter(([method]) => method !== "DELETE");

describe.each(shown)("%s %s", (method, path, body) => {
  it("answers with an etag, as a GET does", async () => {
    const { given } = noting();
    const changed = await world(given).call(method, path, { body });
    const read = await world(given).call("GET", path);

    expect(changed.headers.get("etag")).toMatch(/^"[0-9a-f]{16}"$/);
    expect(read.headers.get("etag")).toMatch(/^"[0-9a-f]{16}"$/);
  });

  it("is asked once under a condition: a repetition would meet its own change", async () => {
    let calls = 0;
    const moved = async () => {
      calls++;
      throw Object.assign(new Error("reset"), { retryable: true });
    };
    const given = {
      session: { patch: moved },
      tenant: {
        putModel: moved,
        putTool: moved,
        putMcpServer: moved,
        changeSettings: moved,
        putRetention: moved,
        changeWebhookEndpoint: moved,
      },
    };

    const response = await world(given).call(method, path, { body, headers: { "If-Match": ETAG } });

    expect([response.status, calls]).toEqual([503, 1]);
  });
});

describe("a condition that does not hold", () => {
  const refused = (etag: string | null) => ({ tenant: { putTool: async () => err({ code: "precondition_failed", etag } as const) } });

  it("is a 412 with the etag of the resource as it is", async () => {
    const response = await world(refused('"now"')).call("PUT", "/v1/tools/weather", { body: http, headers: { "If-Match": ETAG } });

    expect([response.status, response.headers.get("etag")]).toEqual([412, '"now"']);
    expect(await readProblem(response)).toMatchObject({ type: "urn:longhand:problem:precondition_failed", etag: '"now"' });
  });

  it("says so when there is no such resource", async () => {
    const response = await world(refused(null)).call("PUT", "/v1/tools/weather", { body: http, headers: { "If-Match": ETAG } });

    expect(response.headers.get("etag")).toBeNull();
    expect(await readProblem(response)).toMatchObject({ status: 412, etag: null, detail: "If-Match: the resource does not exist." });
  });
});

describe("a changing route that takes no condition", () => {
  const taking = [
    "PUT /v1/models/:model_id",
    "DELETE /v1/models/:model_id",
    "PUT /v1/tools/:tool_name",
    "DELETE /v1/tools/:tool_name",
    "PUT /v1/mcp_servers/:server_name",
    "DELETE /v1/mcp_servers/:server_name",
    "PUT /v1/channels/:channel_name",
    "DELETE /v1/channels/:channel_name",
    "PUT /v1/admin/plans/:plan_name",
    "DELETE /v1/admin/plans/:plan_name",
    "PATCH /v1/tenant",
    "PUT /v1/retention",
    "PATCH /v1/webhook_endpoints/:endpoint_id",
    "DELETE /v1/webhook_endpoints/:endpoint_id",
    "PATCH /v1/sessions/:session_id",
    "DELETE /v1/sessions/:session_id",
    "PUT /v1/sessions/:session_id/pins",
    "PUT /v1/sessions/:session_id/schedules/:schedule_name",
    "DELETE /v1/sessions/:session_id/schedules/:schedule_name",
  ];
  const changing = listRoutes(world().app).filter(({ method }) => method !== "GET");
  const routes = changing.filter(({ method, path }) => !taking.includes(`${method} ${path}`));

  it("is any other one", () => {
    expect(changing.length - routes.length).toBe(taking.length);
  });

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))("%s refuses one by name", async (_, route) => {
    const { call, asked } = world();
    const key = route.path.startsWith("/v1/admin/") ? { key: ADMIN_KEY } : {};

    const response = await call(route.method, fillPath(route.path), { body: sampleBody(route), headers: { "If-Match": ETAG }, ...key });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toEqual([{ field: "If-Match", detail: "this route takes no condition" }]);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });
});
