/** End users: their list and what one of them has, with hostile names, foreign and suspended tenants, and beside erasures. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { EndUserSummary, EndUserView } from "../../../src/contract/end-user";
import type { List } from "../../../src/contract/page";
import { migrate, newChat, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrate);

const open = async (tenant: Tenant, end_user?: string): Promise<string> =>
  (await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", { ...(end_user !== undefined && { end_user }) }), 201)).id;
const list = async (tenant: Tenant, query = ""): Promise<List<EndUserSummary>> =>
  readBody(await tenant.call("GET", `/v1/end-users${query}`));
const toPath = (name: string) => `/v1/end-users/${encodeURIComponent(name)}`;
const read = async (tenant: Tenant, name: string): Promise<EndUserView> => readBody(await tenant.call("GET", toPath(name)));
const counts = (page: List<EndUserSummary>) => page.data.map(({ end_user, sessions }) => `${end_user}: ${sessions}`);

/** The list follows its sessions by the projector's delay. */
const listed = (tenant: Tenant, expected: readonly string[]) =>
  vi.waitFor(async () => expect(counts(await list(tenant))).toEqual(expected), { timeout: 20_000 });

const HOSTILE = [
  "名前 太郎",
  "a/b//c",
  "%2F",
  "' OR 1=1 --",
  "?x=1&y#z",
  "👩🏽‍🚀",
  "\u00e9",
  "e\u0301",
  "A",
  "a",
  "x".repeat(256),
  "null",
  " ",
];

describe("the list of end users", () => {
  it("counts the sessions of each, says when one was last used, and has no session without one", async () => {
    const tenant = await newTenant();
    for (const name of ["bob", "ann", "bob"]) await open(tenant, name);
    const before = Date.now();
    await open(tenant);
    await listed(tenant, ["ann: 1", "bob: 2"]);

    const { data } = await list(tenant);

    expect(data[1]?.last_used_at).toBeLessThanOrEqual(before + 60_000);
    expect(data.every(({ last_used_at }) => typeof last_used_at === "number")).toBe(true);
  });

  it("has every hostile name once, in pages of either order, and each is read, asked for and erased by its path", async () => {
    const tenant = await newTenant();
    for (const name of HOSTILE) await open(tenant, name);
    await vi.waitFor(async () => expect((await list(tenant, "?limit=200")).data).toHaveLength(HOSTILE.length), { timeout: 20_000 });
    const walk = async (order: string) => {
      const found: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: List<EndUserSummary> = await list(tenant, `?limit=3&order=${order}${cursor && `&after=${cursor}`}`);
        found.push(...page.data.map(({ end_user }) => end_user));
        cursor = page.next_cursor;
      }
      return found;
    };

    const [up, down] = [await walk("asc"), await walk("desc")];
    expect([up.length, [...up].sort(), [...down].reverse()]).toEqual([HOSTILE.length, [...HOSTILE].sort(), up]);
    for (const name of HOSTILE) {
      const view = await read(tenant, name);
      expect([view.end_user, view.sessions]).toEqual([name, 1]);
      expect((await readBody<List<unknown>>(await tenant.call("GET", view.links.sessions))).data).toHaveLength(1);
      expect((await tenant.call("GET", view.links.usage)).status).toBe(200);
    }
    for (const name of HOSTILE.slice(0, 5)) await readBody(await tenant.call("DELETE", toPath(name)));
    expect((await list(tenant, "?limit=200")).data.map(({ end_user }) => end_user).sort()).toEqual(HOSTILE.slice(5).sort());
  });

  it.each(["not-a-cursor", "WyJhIiwiYiJd", "WzFd", "%00"])("refuses the cursor %s", async (cursor) => {
    expect((await (await newTenant()).call("GET", `/v1/end-users?after=${cursor}`)).status).toBe(400);
  });
});

describe("an end user", () => {
  it("has sessions, usage of this month, the limits of end users with what is used, and paths to the rest", async () => {
    const tenant = await newTenant();
    const limits = { tenant: { files: 9 }, end_user: { requests_per_minute: 60, sessions: 5 } };
    await readBody(await request("PATCH", `/v1/admin/tenants/${tenant.id}`, { key: env.ADMIN_KEY, body: { limits } }));
    const chat = await newChat({ tenant });
    await readBody(await chat.call("PATCH", "", { end_user: "ann" }));
    await chat.say("hello");
    await vi.waitFor(async () => expect(await read(tenant, "ann")).toMatchObject({ sessions: 1, usage: { calls: 1 } }), {
      timeout: 20_000,
    });

    const ann = await read(tenant, "ann");

    expect(new Date(ann.usage.from).toISOString()).toMatch(/-01T00:00:00\.000Z$/);
    expect(ann.limits.map(({ of, limit, max }) => [of, limit, max])).toEqual([
      ["end_user", "requests_per_minute", 60],
      ["end_user", "sessions", 5],
    ]);
    expect(ann.usage.input).toBeGreaterThan(0);
    expect((await tenant.call("GET", toPath("nobody"))).status).toBe(404);
  });

  it("that was erased is gone at once, and comes back with a new session", async () => {
    const tenant = await newTenant();
    for (const name of ["ann", "bob"]) await open(tenant, name);
    await listed(tenant, ["ann: 1", "bob: 1"]);

    await readBody(await tenant.call("DELETE", toPath("ann")));

    expect(counts(await list(tenant))).toEqual(["bob: 1"]);
    expect((await tenant.call("GET", toPath("ann"))).status).toBe(404);
    await open(tenant, "ann");
    await listed(tenant, ["ann: 1", "bob: 1"]);
  });

  it.each([
    ["of 257 characters", "x".repeat(257)],
    ["of 500 characters", "字".repeat(500)],
    ["with a control character", "a\u0000b"],
  ])("%s is refused by the name of the field, as by the DELETE", async (_, name) => {
    const tenant = await newTenant();
    const answers = [await tenant.call("GET", toPath(name)), await tenant.call("DELETE", toPath(name))];

    const bodies = await Promise.all(answers.map((answer) => readBody<{ errors: { field: string }[] }>(answer, 400)));
    expect(bodies.map(({ errors }) => errors.map(({ field }) => field))).toEqual([["end_user"], ["end_user"]]);
  });

  it("of another tenant is answered as an absent one, and so to every key that may not read it", async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    await open(tenant, "ann");
    await listed(tenant, ["ann: 1"]);
    const makeKey = async (body: object) => (await readBody<{ key: string }>(await tenant.call("POST", "/v1/keys", body), 201)).key;
    const keys = [
      other.key,
      await makeKey({ name: "scope", scopes: ["sessions:read"] }),
      await makeKey({ name: "held", restriction: { end_users: ["bob"] } }),
      (await readBody<{ token: string }>(await tenant.call("POST", "/v1/tokens", { end_user: "bob" }), 201)).token,
    ];
    const answer = async (key: string, path: string) => {
      const response = await request("GET", path, { key });
      return [response.status, ((await response.json()) as { type?: string }).type];
    };

    for (const key of keys) expect(await answer(key, toPath("ann"))).toEqual(await answer(key, toPath("absent")));
    const statuses = await Promise.all(keys.map(async (key) => (await answer(key, toPath("ann")))[0]));
    expect(statuses).toEqual([404, 403, 403, 403]);
    expect((await list(other)).data).toEqual([]);

    await readBody(await request("POST", `/v1/admin/tenants/${tenant.id}/suspend`, { key: env.ADMIN_KEY, body: {} }));
    expect(await answer(tenant.key, toPath("ann"))).toEqual(await answer(tenant.key, toPath("absent")));
    expect((await answer(tenant.key, "/v1/end-users"))[0]).toBe(403);
  });
});
