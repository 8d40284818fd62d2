import { describe, expect, it } from "vitest";
import { toSums } from "../../src/app/usage-sums";
import type { EndUserSummary } from "../../src/contract/end-user";
import { NO_CALLS } from "../../src/domain/call-totals";
import { err, ok } from "../../src/lib/result";
import { readProblem, world } from "./support";

const person = (end_user: string): EndUserSummary => ({ end_user, sessions: 1, last_used_at: 5 });
const endUsers = {
  listEndUsers: async () => ok({ data: [person("ann"), person("bob")], has_more: true, next_cursor: "next" }),
  findEndUser: async (_: unknown, name: string) => (name === "ann" || name === "bob" ? person(name) : null),
};
const tenant = { listErasingUsers: async (names: readonly string[]) => ok(names.filter((name) => name === "bob")) };

describe("end users", () => {
  it("whose erasure runs are in no page and at no path, though the read model has them still", async () => {
    const { call } = world({ deps: { endUsers }, tenant });

    const page = await (await call("GET", "/v1/end-users")).json();
    const found = await call("GET", "/v1/end-users/bob");

    expect(page).toEqual({ data: [person("ann")], has_more: true, next_cursor: "next" });
    expect([found.status, (await call("GET", "/v1/end-users/ann")).status]).toEqual([404, 200]);
    const { request_id: _, ...absent } = await readProblem(await call("GET", "/v1/end-users/absent"));
    expect(await readProblem(found)).toMatchObject(absent);
  });

  it("without a session are there while a call of this month had them", async () => {
    const asked: unknown[] = [];
    const row = { day: null, session_id: null, model: null, purpose: null, source: null, key_id: null, end_user: null };
    const sumUsage = async (input: object) => {
      asked.push(input);
      return ok({ data: [{ ...row, ...toSums({ ...NO_CALLS, calls: 2 }) }], has_more: false, next_cursor: null, complete_from: null });
    };
    const { call } = world({ deps: { endUsers, usageList: { sumUsage, countOldUsage: async () => [] }, now: () => Date.UTC(2026, 1, 3) } });

    const view: object = await (await call("GET", "/v1/end-users/gone%2Faway")).json();

    const range = { from: Date.UTC(2026, 1, 1), to: Date.UTC(2026, 1, 3) + 1 };
    expect(view).toMatchObject({ end_user: "gone/away", sessions: 0, last_used_at: null, usage: { calls: 2, ...range } });
    expect(view).toMatchObject({ links: { sessions: "/v1/sessions?end_user=gone%2Faway" } });
    expect(asked).toMatchObject([{ endUser: "gone/away", ...range }]);
  });

  it("are 503 without the read model, and a tenant that is suspended meanwhile is answered as such", async () => {
    const lost = async () => Promise.reject(new Error("D1 is away"));
    const away = world({ deps: { endUsers: { listEndUsers: lost, findEndUser: lost } } });
    const suspended = world({ deps: { endUsers }, tenant: { listErasingUsers: async () => err({ code: "tenant_suspended" }) } });

    expect((await away.call("GET", "/v1/end-users")).status).toBe(503);
    expect((await away.call("GET", "/v1/end-users/ann")).status).toBe(503);
    expect((await suspended.call("GET", "/v1/end-users")).status).toBe(403);
  });
});
