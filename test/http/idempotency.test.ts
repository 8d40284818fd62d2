import { describe, expect, it } from "vitest";
import type { Idempotency, SessionApi } from "../../src/app/session-api";
import type { TenantApi } from "../../src/app/tenant-api";
import { idPattern } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import {
  ADMIN_KEY,
  accepted,
  description,
  FOREIGN_TENANT,
  KEY,
  keyEntry,
  makeId,
  readProblem,
  SESSION,
  TENANT,
  turn,
  world,
} from "./support";

const base = `/v1/sessions/${SESSION}`;
const keyed = { "idempotency-key": "k-1" };

async function sendIdempotent(
  path: string,
  body: string,
  headers: Record<string, string> = keyed,
): Promise<Idempotency | null | undefined> {
  const seen: (Idempotency | null)[] = [];
  const note = async (_: unknown, input: { readonly idempotency: Idempotency | null }) => {
    seen.push(input.idempotency);
    return ok(accepted());
  };
  const stop: SessionApi["stop"] = async (_, input) => {
    seen.push(input.idempotency);
    return ok({ turn: turn(), replayed: false });
  };
  const session: Partial<SessionApi> = { submit: note, toolResults: note, retry: note, stop, waitForTurn: async () => ok(turn()) };
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

    expect(await sendIdempotent(`${base}/messages`, said)).toEqual({ key: "k-1", digest: expected });
  });

  it("is the same for the same request, whatever its other headers say", async () => {
    const first = await sendIdempotent(`${base}/messages`, said);
    const second = await sendIdempotent(`${base}/messages`, said, { ...keyed, prefer: "respond-async", "x-request-id": "other" });

    expect(second).toEqual(first);
  });

  it("differs with the path and with every character of the body", async () => {
    const other = makeId("ses", 2);
    const all = [
      await sendIdempotent(`${base}/messages`, said),
      await sendIdempotent(`${base}/messages`, `${said} `),
      await sendIdempotent(`/v1/sessions/${other}/messages`, said),
      await sendIdempotent(`${base}/retry`, "{}"),
      await sendIdempotent(`${base}/stop`, "{}"),
      await sendIdempotent(`${base}/tool_results`, '{"results":[{"call_id":"c","output":""}]}'),
      await sendIdempotent("/v1/sessions", "{}"),
    ];

    expect(new Set(all.map((each) => each?.digest)).size).toBe(all.length);
  });

  it("is not made without a key", async () => {
    expect(await sendIdempotent(`${base}/messages`, said, {})).toBeNull();
  });
});

describe("a key with another request", () => {
  it.each([
    ["messages", { content: "x" }],
    ["retry", {}],
    ["stop", {}],
    ["tool_results", { results: [{ call_id: "c", output: "" }] }],
  ])("is refused by %s, naming the header", async (path, body) => {
    const no = async () => err({ code: "idempotency_conflict" } as const);
    const { call } = world({ session: { submit: no, retry: no, stop: no, toolResults: no } });

    const response = await call("POST", `${base}/${path}`, { body, headers: keyed });

    expect(response.status).toBe(422);
    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["Idempotency-Key"]);
  });

  it("is refused by sessions, and none is opened", async () => {
    const { call, asked } = world({ tenant: { registerSession: async () => err({ code: "idempotency_conflict" }) } });

    const response = await call("POST", "/v1/sessions", { body: {}, headers: keyed });

    expect(response.status).toBe(422);
    expect(asked.sessions).toEqual([]);
  });
});

describe("a stop with a key", () => {
  it("is marked when it had been done, and is the turn alone", async () => {
    const stop: SessionApi["stop"] = async () => ok({ turn: turn({ status: "stopped" }), replayed: true });

    const response = await world({ session: { stop } }).call("POST", `${base}/stop`, { headers: keyed });

    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(await response.json()).toEqual(turn({ status: "stopped" }));
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
      body: { model: "nope" },
      headers: keyed,
    });

    expect(response.status).toBe(400);
  });
});

describe("a key that is made with an idempotency key", () => {
  const made = makeId("key", 7);
  const addKey: TenantApi["addKey"] = async (_, { name, scopes, expires_at }) => ok(keyEntry({ id: made, name, scopes, expires_at }));

  it.each([
    ["/v1/keys", KEY],
    [`/v1/admin/tenants/${FOREIGN_TENANT}/keys`, ADMIN_KEY],
  ])("by POST %s: a repeated request names the key and shows no secret, because none is stored", async (path, key) => {
    const response = await world({ tenant: { addKey } }).call("POST", path, { key, body: { name: "ci" }, headers: keyed });

    expect(response.status).toBe(201);
    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(await response.json()).toMatchObject({ id: made, key: null });
  });

  it("shows its secret when the answer of a first attempt was lost on the way to the door", async () => {
    let attempts = 0;
    const losing: TenantApi["addKey"] = async (_, { id, name, scopes, expires_at }) => {
      if (++attempts === 1) throw Object.assign(new Error("reset"), { retryable: true });
      return ok(keyEntry({ id, name, scopes, expires_at }));
    };

    const response = await world({ tenant: { addKey: losing } }).call("POST", "/v1/keys", { body: { name: "ci" }, headers: keyed });

    expect(await response.json()).toMatchObject({ key: expect.stringContaining("secret") });
    expect(response.headers.get("idempotent-replayed")).toBeNull();
  });

  it("is never asked for twice without one", async () => {
    let attempts = 0;
    const losing: TenantApi["addKey"] = async () => {
      attempts += 1;
      throw Object.assign(new Error("reset"), { retryable: true });
    };

    const response = await world({ tenant: { addKey: losing } }).call("POST", "/v1/keys", { body: { name: "ci" } });

    expect([response.status, attempts]).toEqual([503, 1]);
  });

  it("of the admin is not a tenant's: their idempotency keys never meet", async () => {
    const seen: (Idempotency | null)[] = [];
    const noting: TenantApi["addKey"] = async (act, input) => {
      seen.push(input.idempotency);
      return addKey(act, input);
    };
    const { call } = world({ tenant: { addKey: noting } });

    await call("POST", "/v1/keys", { body: { name: "ci" }, headers: keyed });
    await call("POST", `/v1/admin/tenants/${TENANT}/keys`, { key: ADMIN_KEY, body: { name: "ci" }, headers: keyed });

    expect(seen.map((each) => each?.key)).toEqual(["k-1", "admin k-1"]);
  });
});

describe("a tenant that is made with an idempotency key", () => {
  const make = async (headers: Record<string, string>) => {
    const create: TenantApi["create"] = async () => ok({ replayed: true });
    const response = await world({ tenant: { create } }).call("POST", "/v1/admin/tenants", {
      key: ADMIN_KEY,
      body: { name: "Acme" },
      headers,
    });
    return { id: (await response.json<{ id: string }>()).id, replayed: response.headers.get("idempotent-replayed") };
  };

  it("has the same id each time, and another key's has another", async () => {
    const [first, second, other] = [await make(keyed), await make(keyed), await make({ "idempotency-key": "k-2" })];

    expect(first.id).toMatch(idPattern("ten"));
    expect(second).toEqual({ id: first.id, replayed: "true" });
    expect(other.id).not.toBe(first.id);
  });
});

describe("what a tenant can have no more of", () => {
  it.each([
    ["keys", "POST", "/v1/keys", { name: "ci" }, "key_limit"],
    ["models", "PUT", "/v1/models/m", { provider: "embedded", context_window: 16_000, max_output: 1 }, "model_limit"],
  ] as const)("%s are refused with the limit", async (_, method, path, body, code) => {
    const refuse = async () => err({ code, limit: 3 });

    const problem = await readProblem(await world({ tenant: { addKey: refuse, putModel: refuse } }).call(method, path, { body }));

    expect(problem).toMatchObject({ type: `urn:longhand:problem:${code}`, status: 409, limit: 3 });
  });
});
