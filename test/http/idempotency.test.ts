import { describe, expect, it } from "vitest";
import type { Idempotency, SessionApi } from "../../src/app/session-api";
import type { TenantApi } from "../../src/app/tenant-api";
import { err, ok } from "../../src/lib/result";
import { accepted, description, makeId, problemOf, SESSION, turn, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const keyed = { "idempotency-key": "k-1" };

async function idempotencyOf(path: string, body: string, headers: Record<string, string> = keyed): Promise<Idempotency | null | undefined> {
  const seen: (Idempotency | null)[] = [];
  const note = async (_: unknown, input: { readonly idempotency: Idempotency | null }) => {
    seen.push(input.idempotency);
    return ok(accepted());
  };
  const session: Partial<SessionApi> = { submit: note, toolResults: note, retry: note, waitForTurn: async () => ok(turn()) };
  const tenant: Partial<TenantApi> = {
    registerSession: async (input) => {
      seen.push(input.idempotency);
      return ok({ session: input.session, replayed: false });
    },
  };
  await world({ session, tenant }).call("POST", path, { body, headers });
  return seen[0];
}

describe("the digest", () => {
  const said = '{"content": "Hello"}';

  it("is the SHA-256 of method, path and body as they came", async () => {
    const text = new TextEncoder().encode(`POST ${base}/messages\n${said}`);
    const expected = Buffer.from(await crypto.subtle.digest("SHA-256", text)).toString("hex");

    expect(await idempotencyOf(`${base}/messages`, said)).toEqual({ key: "k-1", digest: expected });
  });

  it("is the same for the same request, whatever its other headers say", async () => {
    const first = await idempotencyOf(`${base}/messages`, said);
    const second = await idempotencyOf(`${base}/messages`, said, { ...keyed, prefer: "respond-async", "x-request-id": "other" });

    expect(second).toEqual(first);
  });

  it("differs with the path and with every character of the body", async () => {
    const other = makeId("ses", 2);
    const all = [
      await idempotencyOf(`${base}/messages`, said),
      await idempotencyOf(`${base}/messages`, `${said} `),
      await idempotencyOf(`/v1/sessions/${other}/messages`, said),
      await idempotencyOf(`${base}/retry`, "{}"),
      await idempotencyOf(`${base}/tool_results`, '{"results":[{"call_id":"c","output":""}]}'),
      await idempotencyOf("/v1/sessions", "{}"),
    ];

    expect(new Set(all.map((each) => each?.digest)).size).toBe(all.length);
  });

  it("is not made without a key", async () => {
    expect(await idempotencyOf(`${base}/messages`, said, {})).toBeNull();
  });
});

describe("a key with another request", () => {
  it.each([
    ["messages", { content: "x" }],
    ["retry", {}],
    ["tool_results", { results: [{ call_id: "c", output: "" }] }],
  ])("is refused by %s, naming the header", async (path, body) => {
    const no = async () => err({ code: "idempotency_conflict" } as const);
    const { call } = world({ session: { submit: no, retry: no, toolResults: no } });

    const response = await call("POST", `${base}/${path}`, { body, headers: keyed });

    expect(response.status).toBe(422);
    expect((await problemOf(response)).errors?.map(({ field }) => field)).toEqual(["Idempotency-Key"]);
  });

  it("is refused by sessions, and none is opened", async () => {
    const { call, asked } = world({ tenant: { registerSession: async () => err({ code: "idempotency_conflict" }) } });

    const response = await call("POST", "/v1/sessions", { body: {}, headers: keyed });

    expect(response.status).toBe(422);
    expect(asked.sessions).toEqual([]);
  });
});

describe("a session made twice with one key", () => {
  const first = makeId("ses", 5);
  const registerSession: TenantApi["registerSession"] = async () => ok({ session: first, replayed: true });

  it("is the first one, as it stands now", async () => {
    const session: Partial<SessionApi> = {
      open: async () => err({ code: "session_exists" }),
      describe: async (caller) => ok(description({ id: caller.session, title: "since then" })),
    };

    const response = await world({ session, tenant: { registerSession } }).call("POST", "/v1/sessions", { body: {}, headers: keyed });

    expect(response.status).toBe(201);
    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(await response.json()).toMatchObject({ id: first, title: "since then" });
  });

  it("is opened now, if the first request ended between directory and session", async () => {
    const open: SessionApi["open"] = async (caller) => ok(description({ id: caller.session }));

    const response = await world({ session: { open }, tenant: { registerSession } }).call("POST", "/v1/sessions", {
      body: {},
      headers: keyed,
    });

    expect(await response.json()).toMatchObject({ id: first });
  });

  it("keeps its place in the directory when it is refused: the same request may come again", async () => {
    const forgetSession: TenantApi["forgetSession"] = () => Promise.reject(new Error("must not be forgotten"));
    const open: SessionApi["open"] = async () => err({ code: "unknown_model", model: "nope" });

    const response = await world({ session: { open }, tenant: { registerSession, forgetSession } }).call("POST", "/v1/sessions", {
      body: {},
      headers: keyed,
    });

    expect(response.status).toBe(400);
  });
});
