/** A request is refused by its URL and its headers, before its credential and its body are read. */
import { describe, expect, it } from "vitest";
import { MAX_HEADER_CHARS, MAX_HEADERS, MAX_URL } from "../../src/http/limit-problems";
import { findUnsafeHeaders } from "../support/unsafe-headers";
import { KEY, readProblem, world } from "./support";

const toHeaders = (pairs: readonly (readonly [string, string])[]) => Object.fromEntries(pairs);
const many = (count: number) => toHeaders(Array.from({ length: count }, (_, at) => [`x-many-${at}`, "1"] as const));

describe("a URL", () => {
  const path = "/v1/sessions?q=";

  it("may be as long as the limit, and no longer", async () => {
    const { app, asked } = world();
    const ask = (length: number) => app.request(path + "x".repeat(length - path.length), { headers: { authorization: `Bearer ${KEY}` } });

    expect((await ask(MAX_URL)).status).toBe(400);
    const refused = await ask(MAX_URL + 1);
    expect([refused.status, await readProblem(refused)]).toEqual([
      414,
      expect.objectContaining({ limit: MAX_URL, type: "urn:longhand:problem:url_too_long" }),
    ]);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it("is measured without the deployment's own name", async () => {
    const name = `https://${"a".repeat(60)}.example.com`;
    const { app } = world();

    expect((await app.request(`${name}${path}${"x".repeat(MAX_URL - path.length)}`)).status).toBe(401);
  });
});

describe("headers", () => {
  it("that are too many are refused, with the number that there may be", async () => {
    const { app } = world();

    expect((await app.request("/healthz", { headers: many(MAX_HEADERS) })).status).toBe(200);
    const refused = await app.request("/healthz", { headers: many(MAX_HEADERS + 1) });
    expect(refused.status).toBe(431);
    expect((await readProblem(refused)).errors).toEqual([{ field: "headers", detail: `at most ${MAX_HEADERS} headers` }]);
  });

  it("that are too large are refused, and the longest is named", async () => {
    const { app } = world();
    const value = "x".repeat(MAX_HEADER_CHARS - "cookie".length);

    expect((await app.request("/healthz", { headers: { cookie: value } })).status).toBe(200);
    const refused = await app.request("/healthz", { headers: { cookie: `${value}x` } });
    expect(refused.status).toBe(431);
    expect((await readProblem(refused)).errors?.map(({ field }) => field)).toEqual(["cookie"]);
    expect(findUnsafeHeaders(refused, { path: "/healthz", publicUrl: null })).toEqual([]);
  });

  it("are not repeated when their names are what is too long", async () => {
    const refused = await world().app.request("/healthz", { headers: { ["x".repeat(MAX_HEADER_CHARS)]: "1" } });

    expect((await readProblem(refused)).errors?.map(({ field }) => field)).toEqual(["headers"]);
  });

  it("are refused in the words of the API that is asked, and before a body is read", async () => {
    const headers = { "x-api-key": KEY, "x-large": "x".repeat(MAX_HEADER_CHARS), "content-type": "application/json" };
    const refused = await world().app.request("/v1/messages", { method: "POST", headers, body: "{" });

    expect([refused.status, await refused.json()]).toEqual([431, expect.objectContaining({ type: "error" })]);
  });
});
