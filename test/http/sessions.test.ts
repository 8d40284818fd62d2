import { describe, expect, it } from "vitest";
import type { TenantErasureApi } from "../../src/app/erasure-api";
import type { OpenInput, PatchInput, SessionApi } from "../../src/app/session-api";
import type { TenantApi } from "../../src/app/tenant-api";
import type { WholeTenantApi } from "../../src/app/whole-tenant-api";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { description, makeId, readProblem, SESSION, type WorldInput, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const ERASURE = makeId("era");
const UNNAMED = { external_id: null, end_user: null };

describe("making a session", () => {
  async function opened(body: unknown) {
    const seen: OpenInput[] = [];
    const open: SessionApi["open"] = async (_, input) => {
      seen.push(input);
      return ok(description());
    };
    const response = await world({ session: { open } }).call("POST", "/v1/sessions", { body });
    return { response, seen };
  }

  it("takes what is not said from the tenant", async () => {
    const { response, seen } = await opened({});

    expect(response.status).toBe(201);
    expect(seen).toEqual([{ model: "embedded", policy: "oneclaw", system: null, tools: null, title: null, metadata: {}, ...UNNAMED }]);
  });

  it("takes no body for an empty one", async () => {
    const { response } = await opened(undefined);

    expect(response.status).toBe(201);
  });

  it("passes on the given fields", async () => {
    const said = {
      model: "gpt-4o",
      policy: "oneclaw",
      system: "Be brief",
      title: "T",
      metadata: { a: "b" },
      tools: [{ name: "x", parameters: {} }],
    };

    expect((await opened(said)).seen).toEqual([{ ...said, ...UNNAMED }]);
    const named = { ...said, external_id: "order/1", end_user: "user 1" };
    expect((await opened(named)).seen).toEqual([named]);
  });

  it("notes it in the directory before it is opened, and says where it is", async () => {
    const steps: string[] = [];
    const tenant: Partial<TenantApi & TenantErasureApi> = {
      registerSession: async ({ session }) => {
        steps.push(`registered ${session}`);
        return ok({ session, replayed: false });
      },
    };
    const open: SessionApi["open"] = async ({ session }) => {
      steps.push(`opened ${session}`);
      return ok(description({ id: session }));
    };

    const response = await world({ tenant, session: { open } }).call("POST", "/v1/sessions", { body: {} });

    const session: SessionId = (await response.json<{ id: SessionId }>()).id;
    expect(steps).toEqual([`registered ${session}`, `opened ${session}`]);
    expect(response.headers.get("location")).toBe(`/v1/sessions/${session}`);
  });

  it("leaves no trace in the directory when it is refused", async () => {
    const forgotten: SessionId[] = [];
    const tenant: Partial<TenantApi & TenantErasureApi> = {
      forgetSession: async (session) => {
        forgotten.push(session);
        return ok(null);
      },
    };
    const { call, asked } = world({ tenant, session: { open: async () => err({ code: "unknown_model", model: "nope" }) } });

    const response = await call("POST", "/v1/sessions", { body: { model: "nope" } });

    expect(response.status).toBe(400);
    expect(forgotten).toEqual(asked.sessions.map(({ session }) => session));
  });
});

it("a session that names no model, where the tenant's default is gone: the problem names the tenant's setting, and no field of the request", async () => {
  const open = async () => err({ code: "unknown_model", model: "old" } as const);

  const response = await world({ session: { open } }).call("POST", "/v1/sessions", { body: {} });

  expect(response.status).toBe(422);
  const problem = await readProblem(response);
  expect(problem).toMatchObject({ type: "urn:longhand:problem:default_model_gone", model: "old" });
  expect([problem.errors, String(problem.detail).includes("default_model")]).toEqual([undefined, true]);
});

describe("giving a session to another end user", () => {
  const given = (session: Partial<SessionApi>, headers: Record<string, string>) => {
    const asked: (string | null)[] = [];
    const giveSession: WholeTenantApi["giveSession"] = async (_, endUser) => {
      asked.push(endUser);
      return ok(null);
    };
    const described = { describe: async () => ok(description({ end_user: "ada", etag: '"now"' })), ...session };
    const answer = world({ tenant: { giveSession }, session: described }).call("PATCH", base, { body: { end_user: "bob" }, headers });
    return { answer, asked };
  };

  it("under a condition that does not hold gives nothing away", async () => {
    const { answer, asked } = given({}, { "If-Match": '"then"' });

    expect([(await answer).status, (await answer).headers.get("etag"), asked]).toEqual([412, '"now"', []]);
  });

  it("is taken back where the session changed in between", async () => {
    const patch: SessionApi["patch"] = async () => err({ code: "precondition_failed", etag: '"later"' } as const);
    const { answer, asked } = given({ patch }, { "If-Match": '"now"' });

    expect([(await answer).status, asked]).toEqual([412, ["bob", "ada"]]);
  });
});

describe("changing a session", () => {
  it.each<[string, unknown, PatchInput]>([
    ["what is absent stays", { title: "New" }, { title: "New" }],
    [
      "null removes",
      { system: null, tools: null, title: null, end_user: null },
      { system: null, tools: null, title: null, end_user: null },
    ],
    ["an end user is replaced", { end_user: "用户" }, { end_user: "用户" }],
    ["nothing changes nothing", {}, {}],
  ])("%s", async (_, body, changes) => {
    const seen: PatchInput[] = [];
    const patch: SessionApi["patch"] = async (_caller, input) => {
      seen.push(input);
      return ok(description());
    };

    const response = await world({ session: { patch, describe: async () => ok(description()) } }).call("PATCH", base, { body });

    expect(response.status).toBe(200);
    expect(seen).toStrictEqual([changes]);
  });
});

describe("erasing a session", () => {
  const receipt = { id: SESSION, erased_at: 1, stores: [{ store: "object", status: "erased" as const, rows: 4 }] };

  it("is noted before anything is asked of the session, and leaves the directory when every store has reported", async () => {
    const steps: string[] = [];
    const tenant: WorldInput["tenant"] = {
      releaseFiles: async (session) => {
        steps.push(`files of ${session}`);
        return ok({ erased: 2, pending: 0, exports: 0, chats: 0 });
      },
      beginErasure: async (_, { session }) => {
        steps.push(`noted ${session}`);
        return ok({ noted: true, erasure: ERASURE });
      },
      endErasure: async (session) => {
        steps.push(`ended ${session}`);
        return ok(ERASURE);
      },
    };
    const erase: SessionApi["erase"] = async (_, isNoted) => {
      steps.push(`erased ${isNoted}`);
      return ok(receipt);
    };

    const response = await world({ tenant, session: { erase } }).call("DELETE", base);

    expect(steps).toEqual([`noted ${SESSION}`, "erased true", `files of ${SESSION}`, `ended ${SESSION}`]);
    const files = { store: "files", status: "erased", rows: 2 };
    const exports = { store: "exports", status: "erased", rows: null };
    const chat = { store: "chat", status: "erased", rows: null };
    const directory = { store: "directory", status: "erased", rows: null };
    expect(await response.json()).toEqual({
      ...receipt,
      erasure_id: ERASURE,
      stores: [...receipt.stores, files, exports, chat, directory],
    });
  });

  it("under a condition is compared before anything is noted: a note cannot be taken back", async () => {
    const beginErasure: TenantErasureApi["beginErasure"] = () => Promise.reject(new Error("must not be noted"));
    const releaseFiles = () => Promise.reject(new Error("must not be released"));
    const asked: unknown[] = [];
    const erase: SessionApi["erase"] = async (_, isNoted, condition) => {
      asked.push([isNoted, condition]);
      return err({ code: "precondition_failed", etag: '"now"' } as const);
    };

    const response = await world({ tenant: { beginErasure, releaseFiles }, session: { erase } }).call("DELETE", base, {
      headers: { "If-Match": '"then"' },
    });

    expect([response.status, response.headers.get("etag")]).toEqual([412, '"now"']);
    expect(asked).toEqual([[false, { match: ['"then"'], none_match: null }]]);
  });

  it("under a condition that holds ends as any other: files, then the note", async () => {
    const steps: string[] = [];
    const tenant: WorldInput["tenant"] = {
      releaseFiles: async () => {
        steps.push("files");
        return ok({ erased: 0, pending: 0, exports: 0, chats: 0 });
      },
      endErasure: async () => {
        steps.push("ended");
        return ok(ERASURE);
      },
    };
    const erase: SessionApi["erase"] = async () => ok(receipt);

    const response = await world({ tenant, session: { erase } }).call("DELETE", base, { headers: { "If-Match": '"now"' } });

    expect([response.status, steps]).toEqual([200, ["files", "ended"]]);
    expect(await response.json()).toMatchObject({
      stores: [...receipt.stores, { store: "files" }, { store: "exports" }, { store: "chat" }, { store: "directory", status: "erased" }],
    });
  });

  it("stays noted while the bytes of its files are out of reach", async () => {
    const endErasure: TenantErasureApi["endErasure"] = () => Promise.reject(new Error("must not be ended"));
    const tenant: WorldInput["tenant"] = { endErasure, releaseFiles: async () => ok({ erased: 1, pending: 1, exports: 0, chats: 0 }) };

    const response = await world({ tenant, session: { erase: async () => ok(receipt) } }).call("DELETE", base);

    expect(await response.json()).toMatchObject({
      stores: [
        { status: "erased" },
        { store: "files", status: "pending", rows: 1 },
        { store: "exports" },
        { store: "chat" },
        { store: "directory", status: "pending" },
      ],
    });
  });

  it("stays noted, and says so, while a store has not reported", async () => {
    const endErasure: TenantErasureApi["endErasure"] = () => Promise.reject(new Error("must not be ended"));
    const pending = { ...receipt, stores: [...receipt.stores, { store: "read_model", status: "pending" as const, rows: null }] };

    const response = await world({ tenant: { endErasure }, session: { erase: async () => ok(pending) } }).call("DELETE", base);

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      stores: [
        { status: "erased" },
        { status: "pending" },
        { store: "files" },
        { store: "exports" },
        { store: "chat" },
        { store: "directory", status: "pending" },
      ],
    });
  });

  it("whose object holds nothing, but which is still listed, clears what is listed", async () => {
    const asked: unknown[] = [];
    const tenant: Partial<TenantApi & TenantErasureApi> = {
      beginErasure: async (_, { isKnown }) => ok({ noted: isKnown, erasure: ERASURE }),
    };
    const erase: SessionApi["erase"] = async (_, isNoted) => {
      asked.push(isNoted);
      return isNoted ? ok(receipt) : err({ code: "session_not_found" } as const);
    };
    const listSessions = async () => ok({ data: [], has_more: false, next_cursor: null });
    const withList = (isListed: () => Promise<boolean>) =>
      world({ tenant, session: { erase }, deps: { sessionList: { listSessions, isListed } } });

    expect((await withList(async () => true).call("DELETE", base)).status).toBe(200);
    expect(asked).toEqual([false, true]);
    expect((await withList(async () => false).call("DELETE", base)).status).toBe(404);
    expect((await withList(() => Promise.reject(new Error("D1_ERROR"))).call("DELETE", base)).status).toBe(503);
  });

  it("that is unknown leaves the directory alone", async () => {
    const endErasure: TenantErasureApi["endErasure"] = () => Promise.reject(new Error("must not be ended"));
    const beginErasure: TenantErasureApi["beginErasure"] = async () => ok({ noted: false, erasure: null });

    expect((await world({ tenant: { beginErasure, endErasure } }).call("DELETE", base)).status).toBe(404);
  });
});
