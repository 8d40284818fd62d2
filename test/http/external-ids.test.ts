import { describe, expect, it } from "vitest";
import type { Outcome, SessionApi } from "../../src/app/session-api";
import type { TenantApi } from "../../src/app/tenant-api";
import type { SessionDescription } from "../../src/contract/session";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { description, makeId, readProblem, SESSION, world } from "./support";

const path = "/v1/sessions/by-external-id/order%2F1";
const NAME = "order/1";
const body = { title: "T", end_user: "u" };
const taken = err({ code: "external_id_taken", session: SESSION } as const);
const notFound = err({ code: "session_not_found" } as const);
const unreachable = () => Promise.reject(new Error("must not be asked"));

/** A session's object that `open` opens once. `isOpen`: it is open from the beginning. */
function openable(isOpen = false): Pick<SessionApi, "open" | "describe"> {
  let session: Outcome<SessionDescription> = isOpen ? ok(description({ title: "first" })) : notFound;
  return {
    describe: async () => session,
    open: async (caller, { title }) => {
      if (session.ok) return err({ code: "session_exists" });
      session = ok(description({ id: caller.session, title }));
      return session;
    },
  };
}

/** The directory of a tenant, where `held` has the external id. */
function directory(held: SessionId | null): Pick<TenantApi, "findExternalId" | "registerSession"> {
  return {
    findExternalId: async (externalId) => ok(externalId === NAME ? held : null),
    registerSession: async ({ session, external_id, adopt }) => {
      if (external_id !== NAME || held === null) return ok({ session, replayed: false });
      return adopt ? ok({ session: held, replayed: false }) : taken;
    },
  };
}

describe("PUT by external id", () => {
  it("creates a session where none has the id", async () => {
    const response = await world({ tenant: directory(null), session: openable() }).call("PUT", path, { body });

    expect(response.status).toBe(201);
    const { id, title } = await response.json<SessionDescription>();
    expect(title).toBe("T");
    expect(response.headers.get("location")).toBe(`/v1/sessions/${id}`);
  });

  it("answers the session that has the id, unchanged, and registers nothing", async () => {
    const tenant = { ...directory(SESSION), registerSession: unreachable, settings: unreachable };

    const response = await world({ tenant, session: openable(true) }).call("PUT", path, { body });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: SESSION, title: "first" });
  });

  it("opens the session that an earlier request registered and did not live to open", async () => {
    const response = await world({ tenant: directory(SESSION), session: openable() }).call("PUT", path, { body });

    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ id: SESSION, title: "T" });
  });

  it("answers what another request has opened meanwhile", async () => {
    const session = openable();
    const open: SessionApi["open"] = async (caller, input) => {
      await session.open(caller, { ...input, title: "theirs" });
      return session.open(caller, input);
    };

    const response = await world({ tenant: directory(null), session: { ...session, open } }).call("PUT", path, { body });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ title: "theirs" });
  });

  it("frees the id when the session is refused", async () => {
    const forgotten: SessionId[] = [];
    const forgetSession: TenantApi["forgetSession"] = async (session) => {
      forgotten.push(session);
      return ok(null);
    };
    const open: SessionApi["open"] = async () => err({ code: "unknown_model", model: "nope" });

    const { call } = world({ tenant: { ...directory(SESSION), forgetSession }, session: { open } });

    expect((await call("PUT", path, { body: { model: "nope" } })).status).toBe(400);
    expect(forgotten).toEqual([SESSION]);
  });

  it.each([
    ["a control character", "a%0Ab"],
    ["more than 256 characters", "x".repeat(257)],
  ])("refuses an id with %s by name", async (_, name) => {
    const response = await world().call("PUT", `/v1/sessions/by-external-id/${name}`, { body: {} });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["external_id"]);
  });

  it("takes no external id in its body", async () => {
    const response = await world().call("PUT", path, { body: { external_id: "other" } });

    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["external_id"]);
  });

  it("serves an id that is a word of other paths", async () => {
    const session = openable(true);
    const tenant: Partial<TenantApi> = { findExternalId: async (name) => ok(name === "pins" ? SESSION : null) };

    const { call } = world({ tenant, session });

    expect((await call("PUT", "/v1/sessions/by-external-id/pins", { body: {} })).status).toBe(200);
    expect((await call("GET", "/v1/sessions/by-external-id/pins")).status).toBe(200);
  });
});

describe("GET by external id", () => {
  it("answers the session", async () => {
    const response = await world({ tenant: directory(SESSION), session: openable(true) }).call("GET", path);

    expect(await response.json()).toMatchObject({ id: SESSION });
  });

  it.each([
    ["no session has", null],
    ["is registered for a session that was never opened", SESSION],
  ])("answers 404 for an id that %s", async (_, held) => {
    expect((await world({ tenant: directory(held), session: openable() }).call("GET", path)).status).toBe(404);
  });
});

describe("POST with an external id", () => {
  const post = { external_id: NAME, title: "T" };

  it("that another session has is refused, and names that session", async () => {
    const response = await world({ tenant: directory(SESSION), session: openable(true) }).call("POST", "/v1/sessions", { body: post });

    expect(response.status).toBe(409);
    expect(await readProblem(response)).toMatchObject({
      type: "urn:longhand:problem:external_id_taken",
      session_id: SESSION,
      errors: [{ field: "external_id" }],
    });
  });

  it("that an earlier request registered, without living to open the session, opens that session", async () => {
    const response = await world({ tenant: directory(SESSION), session: openable() }).call("POST", "/v1/sessions", { body: post });

    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ id: SESSION });
  });

  it("loses to a request that opened the session meanwhile", async () => {
    const describe: SessionApi["describe"] = async () => notFound;
    const session = { ...openable(true), describe };

    const response = await world({ tenant: directory(SESSION), session }).call("POST", "/v1/sessions", { body: post });

    expect(response.status).toBe(409);
  });

  it("and an idempotency key is answered again, whatever became of the session", async () => {
    const made = makeId("ses", 4);
    const registerSession: TenantApi["registerSession"] = async () => ok({ session: made, replayed: true });
    const headers = { "Idempotency-Key": "k" };

    const response = await world({ tenant: { registerSession }, session: openable(true) }).call("POST", "/v1/sessions", {
      body: post,
      headers,
    });

    expect(response.status).toBe(201);
    expect(response.headers.get("idempotent-replayed")).toBe("true");
  });

  it.each([".", "..", "", "a\u0000b", "x".repeat(257)])("refuses %j", async (external_id) => {
    const response = await world().call("POST", "/v1/sessions", { body: { external_id } });

    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["external_id"]);
  });
});
