/** `/v1/models` for three clients: the native API's, OpenAI's package and Anthropic's. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { err, ok } from "../../../src/lib/result";
import { KEY, modelEntry, world } from "../support";

const ids = ["beta", "alpha", "org/gamma", "模型"];
const entries = [...ids, ...Array.from({ length: 60 }, (_, index) => `m${index}`)].map((id) =>
  modelEntry({ id, provider: "openai", context_window: 8_000 }),
);
const sorted = entries.map(({ id }) => id).sort();

function connect() {
  const { app, call } = world({
    tenant: {
      listModels: async () => ok(entries),
      getModel: async (model) => {
        const entry = entries.find(({ id }) => id === model);
        return entry ? ok(entry) : err({ code: "model_not_found", model });
      },
      deleteModel: async (_, model) => (model === "org/gamma" ? ok(null) : err({ code: "model_not_own", model })),
    },
  });
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => app.request(String(url), init);
  return {
    call,
    openai: new OpenAI({ apiKey: KEY, baseURL: "http://longhand.test/v1", maxRetries: 0, fetch }),
    anthropic: new Anthropic({ apiKey: KEY, baseURL: "http://longhand.test", maxRetries: 0, fetch }),
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("OpenAI's client", () => {
  it("lists all models, because it asks for one page", async () => {
    const models = await collect(connect().openai.models.list());

    expect(models.map(({ id }) => id)).toEqual(sorted);
    expect(models[0]).toMatchObject({ object: "model", created: 0, owned_by: "openai" });
  });

  it("reads one, also with a slash in its id", async () => {
    expect(await connect().openai.models.retrieve("org/gamma")).toMatchObject({ id: "org/gamma", object: "model", owned_by: "openai" });
  });

  it("reads why a model is refused", async () => {
    await expect(connect().openai.models.retrieve("nope")).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
      type: "invalid_request_error",
      error: { message: expect.stringContaining("no such model") },
    });
  });

  it("deletes one of the tenant's own, and reads why another one stays", async () => {
    const { openai } = connect();

    expect(await openai.models.delete("org/gamma")).toEqual({ id: "org/gamma", object: "model", deleted: true });
    await expect(openai.models.delete("beta")).rejects.toMatchObject({
      status: 409,
      code: "model_not_own",
      type: "invalid_request_error",
      error: { message: expect.stringContaining("deployment") },
    });
  });
});

describe("Anthropic's client", () => {
  it("lists all models page by page, forwards and backwards", async () => {
    const { anthropic } = connect();

    expect((await collect(anthropic.models.list({ limit: 7 }))).map(({ id }) => id)).toEqual(sorted);
    expect((await anthropic.models.list()).data).toHaveLength(20);
    const back = await collect(anthropic.models.list({ limit: 25, before_id: sorted.at(-1) ?? "" }));
    expect(back.map(({ id }) => id).sort()).toEqual(sorted.slice(0, -1));
  });

  it("reads one in its API's form", async () => {
    expect(await connect().anthropic.models.retrieve("org/gamma")).toEqual({
      type: "model",
      id: "org/gamma",
      display_name: "org/gamma",
      created_at: "1970-01-01T00:00:00.000Z",
      max_input_tokens: 8_000,
      max_tokens: 1_000,
      capabilities: null,
      lifecycle: "active",
      line: null,
      deprecated_at: null,
      retires_at: null,
      allowed_fallback_models: null,
    });
  });

  it("is refused in its API's form", async () => {
    const { anthropic } = connect();

    await expect(anthropic.models.retrieve("nope")).rejects.toMatchObject({
      status: 404,
      error: { type: "error", error: { type: "not_found_error" } },
    });
    await expect(anthropic.models.list({ limit: 0 })).rejects.toMatchObject({
      status: 400,
      error: { error: { type: "invalid_request_error" } },
    });
    const stranger = new Anthropic({
      apiKey: "lh_test_no",
      baseURL: "http://longhand.test",
      maxRetries: 0,
      fetch: async (url, init) => world().app.request(String(url), init),
    });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, error: { error: { type: "authentication_error" } } });
  });
});

describe("the native list", () => {
  it("has the members of both others, and an empty one has no ends", async () => {
    const page = await (await connect().call("GET", "/v1/models?limit=2")).json<{ readonly data: readonly object[] }>();
    expect(page).toMatchObject({ object: "list", first_id: sorted[0], last_id: sorted[1], has_more: true, next_cursor: sorted[1] });
    expect(page.data[0]).toMatchObject({ id: "alpha", object: "model", type: "model", display_name: "alpha", upstream_id: "m" });
    expect(await (await world().call("GET", "/v1/models")).json()).toMatchObject({ data: [], first_id: null, last_id: null });
  });
});
