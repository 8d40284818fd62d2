/** Providers' model endpoints over HTTP, as their documentation shows them. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { createProbeLimits } from "../../src/model/probe-limits";
import { modelSpec } from "./model-request";

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

let server: Server;
let base = "";
let answer: Answer = {};
let heard: Pick<IncomingMessage, "url" | "headers">[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    heard.push({ url: request.url, headers: request.headers });
    const { status = 200, headers = {}, body } = answer;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => void server.close());
beforeEach(() => {
  heard = [];
});

const probe = createProbeLimits({ credentials: async () => "sk-a-key" });
const spec = (changes: Partial<ModelSpec>) => modelSpec({ base_url: base, upstream_id: "m", ...changes });

async function asked(provider: ModelSpec["provider"], given: Answer, changes: Partial<ModelSpec> = {}) {
  answer = given;
  return await probe(spec({ provider, ...changes }));
}
const listed = (...entries: readonly object[]): Answer => ({ body: { object: "list", data: entries } });

describe("a provider that is asked for a model's limits", () => {
  it.each<[string, Answer, object]>([
    ["vLLM", listed({ id: "m", max_model_len: 32_768 }), { context_window: 32_768 }],
    ["Groq", listed({ id: "m", context_window: 131_072, max_completion_tokens: 32_768 }), { context_window: 131_072, max_output: 32_768 }],
    ["Mistral", listed({ id: "m", max_context_length: 131_072 }), { context_window: 131_072 }],
    ["Together, whose list is bare", { body: [{ id: "m", context_length: 8_192 }] }, { context_window: 8_192 }],
    [
      "OpenRouter: who would answer goes before what the model could elsewhere",
      listed({ id: "m", context_length: 200_000, top_provider: { context_length: 128_000, max_completion_tokens: 16_384 } }),
      { context_window: 128_000, max_output: 16_384 },
    ],
    [
      "OpenRouter, where its top provider does not say",
      listed({ id: "m", context_length: 200_000, top_provider: { context_length: null, max_completion_tokens: null } }),
      { context_window: 200_000 },
    ],
  ])("%s", async (_, given, limits) => {
    expect(await asked("openai-compatible", given)).toEqual({ ok: true, value: limits });
    expect(heard).toMatchObject([{ url: "/v1/models", headers: { authorization: "Bearer sk-a-key" } }]);
  });

  it("Anthropic", async () => {
    const body = { type: "model", id: "m", max_input_tokens: 200_000, max_tokens: 64_000 };
    expect(await asked("anthropic", { body })).toEqual({ ok: true, value: { context_window: 200_000, max_output: 64_000 } });
    expect(heard).toMatchObject([{ url: "/v1/models/m", headers: { "x-api-key": "sk-a-key", "anthropic-version": "2023-06-01" } }]);
  });

  it("Google", async () => {
    const body = { name: "models/m", inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 };
    const value = { context_window: 1_048_576, max_output: 65_536 };
    expect(await asked("google", { body }, { upstream_id: "models/m" })).toEqual({ ok: true, value });
    expect(heard).toMatchObject([{ url: "/v1/models/m", headers: { "x-goog-api-key": "sk-a-key" } }]);
  });

  it("without a key is asked without one", async () => {
    answer = listed({ id: "m", context_length: 4_096 });
    await createProbeLimits({ credentials: async () => null })(spec({ provider: "openai-compatible" }));
    expect(heard[0]?.headers).not.toHaveProperty("authorization");
  });

  it("whose key is missing is not asked", async () => {
    const asked = await createProbeLimits({ credentials: async () => ({ missing: true }) })(spec({ provider: "openai-compatible" }));
    expect(asked).toEqual({ ok: false, error: { reason: "no_key", status: null } });
    expect(heard).toEqual([]);
  });

  it.each(["embedded", "workers-ai"] as const)("is not asked: %s", async (provider) => {
    expect(await asked(provider, {})).toEqual({ ok: false, error: { reason: "unsupported", status: null } });
    expect(heard).toEqual([]);
  });
});

describe("an answer that names no limit", () => {
  it.each<[string, Answer, string, number | null]>([
    ["has the model and says nothing of it", listed({ id: "m" }), "no_limits", 200],
    ["says what cannot be", listed({ id: "m", context_length: -5, max_completion_tokens: "many" }), "no_limits", 200],
    ["has other models", listed({ id: "other", context_length: 5_000 }), "unknown_model", 200],
    ["is a list of nonsense", { body: { data: [null, 1, "m", []] } }, "unknown_model", 200],
    ["is no JSON", { body: "<html>" }, "malformed", 200],
    ["is empty", { body: "" }, "malformed", 200],
    ["is more than is read", { body: `[${" ".repeat(4_194_304)}]` }, "malformed", 200],
    ["is a refusal", { status: 401, body: {} }, "refused", 401],
    ["is that there is no such thing", { status: 404, body: {} }, "unknown_model", 404],
  ])("%s", async (_, given, reason, status) => {
    expect(await asked("openai-compatible", given)).toEqual({ ok: false, error: { reason, status } });
  });

  it("is a redirect, which is not followed", async () => {
    const refused = await asked("openai-compatible", { status: 302, headers: { location: "/elsewhere" }, body: {} });
    expect(refused).toEqual({ ok: false, error: { reason: "refused", status: 302 } });
    expect(heard.map(({ url }) => url)).toEqual(["/v1/models"]);
  });

  it("is missing, or there is no key for the request", async () => {
    const unreachable = { ok: false, error: { reason: "unreachable", status: null } };
    expect(await asked("openai-compatible", {}, { base_url: "http://127.0.0.1:1/v1" })).toEqual(unreachable);
    const keyless = createProbeLimits({
      credentials: async () => {
        throw new Error("the tenant is out of reach");
      },
    });
    expect(await keyless(spec({ provider: "openai-compatible" }))).toEqual(unreachable);
  });
});
