/** Retention end to end: sessions that are not used are erased by themselves, with a receipt, and those that are used stay. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { sessionObjectName, tenantObjectName } from "../../../src/app/object-name";
import type { ErasureView } from "../../../src/contract/erasure";
import type { SessionId } from "../../../src/domain/ids";
import { ringNow } from "../../workers/alarms";
import { advanceClock, restoreClock } from "../../workers/clock";
import { migrate, newChat, newId, newTenant, readBody, readStorage, request, type Tenant } from "../../workers/support";

beforeAll(migrate);
afterEach(() => {
  vi.restoreAllMocks();
  restoreClock();
});

const DAY = 86_400_000;
const MONTH = { erase_sessions_after_days: 30 };

interface Preview {
  readonly data: readonly { readonly session_id: SessionId; readonly action: string; readonly due_at: number; readonly used_at: number }[];
  readonly candidates: number;
  readonly looked_at: number;
  readonly next_cursor: string | null;
}

const toStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const put = async (tenant: Tenant, rules: object) => readBody(await tenant.call("PUT", "/v1/retention", rules));
const preview = async (tenant: Tenant, body: object = {}): Promise<Preview> =>
  readBody<Preview>(await tenant.call("POST", "/v1/retention/dry-run", body));
const listErasures = async (tenant: Tenant): Promise<readonly ErasureView[]> =>
  (await readBody<{ data: readonly ErasureView[] }>(await tenant.call("GET", "/v1/erasures"))).data;

/** The tenant's alarm, as if the notes of erasures were due, too. */
async function ring(tenant: Tenant): Promise<void> {
  await ringNow(toStub(tenant));
  await runInDurableObject(toStub(tenant), (_, { storage }) => void storage.sql.exec("UPDATE erasures SET due_at = 0"));
  await ringNow(toStub(tenant));
}

describe("the rules", () => {
  it("are none until they are put, are replaced as a whole, and have an etag and an entry in the audit log", async () => {
    const tenant = await newTenant();
    const none = await tenant.call("GET", "/v1/retention");
    expect(await readBody(none)).toEqual({
      archive_sessions_after_days: null,
      erase_sessions_after_days: null,
      remove_tool_results_after_days: null,
      remove_usage_after_months: null,
      by_policy: {},
      starts_at: null,
    });

    const by_policy = { verbatim: { erase_sessions_after_days: null } };
    const first = await tenant.call("PUT", "/v1/retention", { ...MONTH, by_policy });
    expect(await readBody(first)).toMatchObject({ ...MONTH, by_policy });
    const etag = first.headers.get("etag") ?? "";
    expect((await tenant.call("GET", "/v1/retention")).headers.get("etag")).toBe(etag);
    const stale = await tenant.call("PUT", "/v1/retention", {}, { "if-match": none.headers.get("etag") ?? "" });
    expect(await readBody(stale, 412)).toMatchObject({ title: "Precondition failed" });
    const second = await tenant.call("PUT", "/v1/retention", { by_policy: { economy: MONTH } }, { "if-match": etag });
    expect(await readBody(second)).toMatchObject({ erase_sessions_after_days: null, by_policy: { economy: MONTH } });

    const audit = await readBody<{ data: { details: object }[] }>(await tenant.call("GET", "/v1/audit?action=retention.changed"));
    expect(audit.data.map(({ details }) => details)).toEqual([{ fields: [] }, { fields: ["erase_sessions_after_days"] }]);
  });

  it("need the scope retention:write, and name the field that is wrong", async () => {
    const tenant = await newTenant();
    const made = await tenant.call("POST", "/v1/keys", { name: "settings", scopes: ["settings:write", "sessions:erase"] });
    const { key } = await readBody<{ key: string }>(made, 201);
    const other: Tenant = Object.assign(Object.create(Object.getPrototypeOf(tenant)), { id: tenant.id, key });
    expect((await other.call("PUT", "/v1/retention", MONTH)).status).toBe(403);

    const wrong = await tenant.call("PUT", "/v1/retention", { by_policy: { verbatim: { erase_sessions_after_days: 0 } } });
    expect(await readBody(wrong, 400)).toMatchObject({ errors: [{ field: "by_policy.verbatim.erase_sessions_after_days" }] });
    const unknown = await tenant.call("PUT", "/v1/retention", { by_policy: { mine: MONTH } });
    expect((await unknown.json<{ errors: { field: string }[] }>()).errors[0]?.field).toMatch(/^by_policy/);
  });
});

describe("a session that is not used", () => {
  it("is named by the dry run, then erased with a receipt whose cause is retention; one that is used stays", async () => {
    const idle = await newChat();
    const { tenant } = idle;
    const used = await newChat({ tenant });
    const kept = await newChat({ tenant, policy: "verbatim" });
    for (const chat of [idle, used, kept]) await chat.say("hello");
    expect(await preview(tenant, { rules: MONTH })).toMatchObject({ candidates: 0, data: [] });
    await put(tenant, { ...MONTH, by_policy: { verbatim: { erase_sessions_after_days: null } } });

    advanceClock(31 * DAY);
    await used.say("still here");
    const named = await preview(tenant);
    expect(named).toMatchObject({ candidates: 3, looked_at: 3, next_cursor: null });
    expect(named.data).toMatchObject([{ session_id: idle.id, action: "erase_session" }]);
    const [act] = named.data;
    expect((act?.due_at ?? 0) - (act?.used_at ?? 0)).toBe(30 * DAY);
    await ring(tenant);

    expect((await idle.call("GET")).status).toBe(404);
    for (const chat of [used, kept]) expect((await chat.call("GET")).status).toBe(200);
    expect(await listErasures(tenant)).toMatchObject([{ of: "session", target: idle.id, cause: "retention", status: "done" }]);
    expect(await preview(tenant)).toMatchObject({ candidates: 2, data: [] });
    await readBody(await used.call("DELETE"));
    expect((await listErasures(tenant))[0]).toMatchObject({ target: used.id, cause: "request" });
  });

  it("stays for a day after the rules were put, however old it is", async () => {
    const chat = await newChat();
    await chat.say("hello");
    advanceClock(400 * DAY);
    await put(chat.tenant, MONTH);
    await ring(chat.tenant);
    expect((await chat.call("GET")).status).toBe(200);

    advanceClock(DAY);
    await ring(chat.tenant);
    expect((await chat.call("GET")).status).toBe(404);
  });

  it("is erased although every object was ended in the middle", async () => {
    const chats = [await newChat()];
    const [first] = chats;
    if (!first) throw new Error("no chat");
    const { tenant } = first;
    while (chats.length < 5) chats.push(await newChat({ tenant }));
    for (const chat of chats) await chat.say("hello");
    await put(tenant, MONTH);
    advanceClock(40 * DAY);

    const hung = ringNow(toStub(tenant)).catch(() => {});
    await abortAllDurableObjects();
    await hung;
    // The alarm of the next life is set when the object is called.
    await readBody(await tenant.call("GET", "/v1/retention"));
    advanceClock(2 * 60 * 60 * 1_000);
    await ring(tenant);
    await ring(tenant);

    for (const chat of chats) expect((await chat.call("GET")).status).toBe(404);
    expect((await listErasures(tenant)).map(({ cause, status }) => [cause, status])).toEqual(chats.map(() => ["retention", "done"]));
  });

  it("to which a message comes at the same time answers it, or is gone before: no acknowledged message is lost", async () => {
    const chats = [await newChat()];
    const [first] = chats;
    if (!first) throw new Error("no chat");
    const { tenant } = first;
    while (chats.length < 4) chats.push(await newChat({ tenant }));
    for (const chat of chats) await chat.say("hello");
    await put(tenant, MONTH);
    advanceClock(40 * DAY);

    const [sent] = await Promise.all([Promise.all(chats.map((chat) => chat.send("are you there?"))), ringNow(toStub(tenant))]);

    for (const [n, chat] of chats.entries()) {
      const isTaken = (sent[n]?.status ?? 0) < 300;
      await sent[n]?.text();
      expect((await chat.call("GET")).status).toBe(isTaken ? 200 : 404);
    }
  });
});

describe("a session that is archived", () => {
  const list = async (tenant: Tenant, query = ""): Promise<readonly SessionId[]> =>
    (await readBody<{ data: { id: SessionId }[] }>(await tenant.call("GET", `/v1/sessions${query}`))).data.map(({ id }) => id);
  const hasEnded = async (tenant: Tenant, query: string, ids: readonly SessionId[]) =>
    vi.waitFor(async () => expect((await list(tenant, query)).toSorted()).toEqual(ids.toSorted()));
  const listActs = async (tenant: Tenant) =>
    (await readBody<{ data: { action: string }[] }>(await tenant.call("GET", "/v1/audit"))).data
      .map(({ action }) => action)
      .filter((action) => action.startsWith("session."));

  it("by its age is named by the dry run, leaves the list and not the search, and comes back with the next message", async () => {
    const idle = await newChat();
    const { tenant } = idle;
    const used = await newChat({ tenant });
    for (const chat of [idle, used]) await chat.say("a blue bicycle");
    await put(tenant, { archive_sessions_after_days: 30 });
    advanceClock(31 * DAY);
    await used.say("still here");

    expect((await preview(tenant)).data).toMatchObject([{ session_id: idle.id, action: "archive_session" }]);
    await ring(tenant);

    await hasEnded(tenant, "", [used.id]);
    await hasEnded(tenant, "?archived=true", [idle.id]);
    await hasEnded(tenant, "?archived=any", [idle.id, used.id]);
    const found = await readBody<{ data: { session: { id: SessionId } }[] }>(
      await tenant.call("POST", "/v1/sessions/search", { query: "bicycle" }),
    );
    expect(found.data.map(({ session }) => session.id).toSorted()).toEqual([idle.id, used.id].toSorted());
    expect((await preview(tenant)).data).toEqual([]);
    expect(await listActs(tenant)).toEqual([]);

    await idle.say("and now?");
    expect(await readBody(await idle.call("GET"))).toMatchObject({ archived_at: null });
    await hasEnded(tenant, "", [idle.id, used.id]);
  });

  it("by hand says so, once in the audit log, and can be erased", async () => {
    const chat = await newChat();
    await chat.say("hello");
    const [first, second] = [await chat.call("POST", "/archive"), await chat.call("POST", "/archive")];
    const archived = await readBody<{ archived_at: number | null }>(first);
    expect(archived.archived_at).toEqual(expect.any(Number));
    expect(await readBody(second)).toEqual(archived);
    expect(await readBody(await chat.call("POST", "/unarchive"))).toMatchObject({ archived_at: null });
    await readBody(await chat.call("POST", "/archive"));
    expect(await listActs(chat.tenant)).toEqual(["session.archived", "session.unarchived", "session.archived"]);
    await readBody(await chat.call("DELETE"));
    expect((await chat.call("POST", "/archive")).status).toBe(404);
  });

  it("is refused while a turn waits for its tools", async () => {
    const tools = [{ name: "look", description: "look", parameters: { type: "object" } }];
    const chat = await newChat({ tools, replies: [{ tool_calls: [{ id: "call-1", name: "look", arguments: "{}" }] }] });
    await readBody(await chat.send("what do they have?"));
    expect(await readBody(await chat.call("POST", "/archive"), 409)).toMatchObject({ type: expect.stringContaining("turn_running") });
  });
});

describe("old tool results", () => {
  it("are named by the dry run, then removed; the conversation goes on, and calls say that the content is gone", async () => {
    const tools = [{ name: "look", description: "look", parameters: { type: "object" } }];
    const call = { tool_calls: [{ id: "call-1", name: "look", arguments: "{}" }] };
    const chat = await newChat({ tools, replies: [call, { text: "done" }, { text: "still here" }] });
    const { tenant } = chat;
    await readBody(await chat.send("what do they have?"));
    await readBody(await chat.call("POST", "/tool_results", { results: [{ call_id: "call-1", output: "PLANTED result" }] }));
    const before = await readBody<{ updated_at: number }>(await chat.call("GET"));
    await put(tenant, { remove_tool_results_after_days: 30 });
    advanceClock(31 * DAY);

    expect((await preview(tenant)).data).toMatchObject([{ session_id: chat.id, action: "remove_tool_results", results: 1 }]);
    await ring(tenant);

    const messages = await (await chat.call("GET", "/messages")).text();
    expect(messages).not.toContain("PLANTED");
    expect(messages).toContain("older than the retention of tool results");
    expect(await readStorage(chat.stub)).not.toContain("PLANTED");
    expect(await readBody(await chat.call("GET"))).toMatchObject({ updated_at: before.updated_at });
    expect((await preview(tenant)).data).toEqual([]);
    const { id: copy } = await readBody<{ id: string }>(await chat.call("POST", "/fork"), 201);
    const copied = await (await tenant.call("GET", `/v1/sessions/${copy}/messages`)).text();
    expect(copied).toContain("older than the retention of tool results");
    await chat.say("and now?");
  });
});

describe("usage of old months", () => {
  interface Usage {
    readonly data: readonly { readonly calls: number }[];
    readonly complete_from: number | null;
  }
  const readUsage = async (tenant: Tenant, query = "group_by=") =>
    readBody<Usage>(await tenant.call("GET", `/v1/usage?${query}&from=${Date.now() - 90 * DAY}&to=${Date.now() + DAY}`));

  it("is named by the dry run, then leaves the sums, which say so; the session's own ledger keeps it", async () => {
    const chat = await newChat();
    const { tenant } = chat;
    await chat.say("hello");
    const erased = await newChat({ tenant });
    await erased.say("hello");
    await readBody(await erased.call("DELETE"));
    const total = async () => (await readUsage(tenant)).data[0]?.calls ?? 0;
    await vi.waitFor(async () => expect(await total()).toBe(2));
    const month = new Date(Date.now()).toISOString().slice(0, 7);
    advanceClock(62 * DAY);
    await chat.say("later");
    await vi.waitFor(async () => expect(await total()).toBe(3));
    const rules = { remove_usage_after_months: 1 };

    const named = await readBody<{ usage: { complete_from: number; months: { month: string; rows: number }[] } | null }>(
      await tenant.call("POST", "/v1/retention/dry-run", { rules }),
    );
    expect(named.usage?.months).toEqual([{ month, rows: 2 }]);
    expect(await readUsage(tenant)).toMatchObject({ data: [{ calls: 3 }], complete_from: null });
    await put(tenant, rules);
    advanceClock(DAY);
    await ring(tenant);

    const left = await readUsage(tenant);
    expect(left).toMatchObject({ data: [{ calls: 1 }], complete_from: expect.any(Number) });
    expect(left.complete_from).toBeGreaterThanOrEqual(named.usage?.complete_from ?? Number.POSITIVE_INFINITY);
    const csv = await tenant.call("GET", "/v1/usage?format=csv");
    expect(csv.headers.get("usage-complete-from")).toBe(String(left.complete_from));
    await csv.text();
    const rows = await env.DB.prepare(
      "SELECT (SELECT count(*) FROM usage WHERE tenant_id = ?1) AS calls, (SELECT count(*) FROM erased_usage WHERE tenant_id = ?1) AS sums",
    )
      .bind(tenant.id)
      .first();
    expect(rows).toEqual({ calls: 1, sums: 0 });
    const ledger = await readBody<{ data: unknown[] }>(await chat.call("GET", "/usage"));
    expect(ledger.data).toHaveLength(2);

    // A rebuild brings nothing back.
    const admin = { key: env.ADMIN_KEY };
    await readBody(await request("POST", `/v1/admin/tenants/${tenant.id}/sessions/${chat.id}/rebuild`, admin));
    expect(await readUsage(tenant)).toMatchObject({ data: [{ calls: 1 }] });
    const again = await readBody<{ usage: unknown }>(await tenant.call("POST", "/v1/retention/dry-run", { rules }));
    expect(again.usage).toBeNull();
  });
});

it("a session that was registered and never opened does no harm", async () => {
  const tenant = await newTenant();
  const session = newId("ses");
  await toStub(tenant).registerSession({ session, idempotency: null });
  await put(tenant, MONTH);
  advanceClock(40 * DAY);

  expect(await preview(tenant)).toMatchObject({ candidates: 1, data: [] });
  await ring(tenant);
  expect(await listErasures(tenant)).toEqual([]);
  expect(env.SESSIONS.getByName(sessionObjectName(tenant.id, session))).toBeDefined();
});
