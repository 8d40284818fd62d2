import { describe, expect, it } from "vitest";
import type { OpenInput, PatchInput, SessionApi } from "../../src/app/session-api";
import type { TenantApi } from "../../src/app/tenant-api";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { description, SESSION, world } from "./support";

const base = `/v1/sessions/${SESSION}`;

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
    expect(seen).toEqual([{ model: "embedded", policy: "oneclaw", system: null, tools: null, title: null, metadata: {} }]);
  });

  it("takes no body for an empty one", async () => {
    const { response } = await opened(undefined);

    expect(response.status).toBe(201);
  });

  it("hands on what is said", async () => {
    const said = {
      model: "gpt-4o",
      policy: "oneclaw",
      system: "Be brief",
      title: "T",
      metadata: { a: "b" },
      tools: [{ name: "x", parameters: {} }],
    };

    expect((await opened(said)).seen).toEqual([said]);
  });

  it("notes it in the directory before it is opened, and says where it is", async () => {
    const steps: string[] = [];
    const tenant: Partial<TenantApi> = {
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
    const tenant: Partial<TenantApi> = {
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

describe("changing a session", () => {
  it.each<[string, unknown, PatchInput]>([
    ["what is absent stays", { title: "New" }, { title: "New" }],
    ["null removes", { system: null, tools: null, title: null }, { system: null, tools: null, title: null }],
    ["nothing changes nothing", {}, {}],
  ])("%s", async (_, body, changes) => {
    const seen: PatchInput[] = [];
    const patch: SessionApi["patch"] = async (_caller, input) => {
      seen.push(input);
      return ok(description());
    };

    const response = await world({ session: { patch } }).call("PATCH", base, { body });

    expect(response.status).toBe(200);
    expect(seen).toStrictEqual([changes]);
  });
});

describe("erasing a session", () => {
  const receipt = { session: SESSION, erased_at: 1, stores: [{ store: "object", status: "erased" as const, rows: 4 }] };

  it.each([
    ["erased now", ok(receipt), 200],
    ["erased before", err({ code: "session_erased" } as const), 404],
  ])("%s: it leaves the directory", async (_, outcome, status) => {
    const forgotten: SessionId[] = [];
    const tenant: Partial<TenantApi> = {
      forgetSession: async (session) => {
        forgotten.push(session);
        return ok(null);
      },
    };

    const response = await world({ tenant, session: { erase: async () => outcome } }).call("DELETE", base);

    expect(response.status).toBe(status);
    expect(forgotten).toEqual([SESSION]);
  });

  it("answers with the receipt", async () => {
    const { call } = world({ session: { erase: async () => ok(receipt) } });

    expect(await (await call("DELETE", base)).json()).toEqual(receipt);
  });

  it("that is unknown leaves the directory alone", async () => {
    const { call, asked } = world();

    await call("DELETE", base);

    expect(asked.tenants).toEqual([]);
  });
});
