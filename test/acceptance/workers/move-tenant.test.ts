/** Tenants move between three databases while their sessions chat. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import { PLACEMENT_TTL_MS } from "../../../src/app/placement";
import type { ListedTenant } from "../../../src/contract/deployment";
import type { PlacementView } from "../../../src/contract/placement";
import { createRebuildRows } from "../../../src/read-model/rebuild";
import { rebuildSession } from "../../read-model/rows";
import { advanceClock } from "../../workers/clock";
import { asAdmin, countRows, migrateAll, movePath, moveUntil, named, placement, projected, step } from "../../workers/moves";
import { type Chat, newChat, newId, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrateAll);
afterEach(() => vi.restoreAllMocks());

async function differences(chat: Chat, name: string) {
  const readLog = (after: number) => chat.api.exportLog(chat.caller, { after, limit: 200 });
  const outcome = await rebuildSession({ readLog, rows: createRebuildRows(named(name)), now: Date.now }, chat.caller);
  if (!outcome.ok) throw new Error(outcome.error.code);
  return outcome.value.differences;
}

const listed = async (tenant: Tenant): Promise<readonly string[]> =>
  (await readBody<{ data: { id: string }[] }>(await tenant.call("GET", "/v1/sessions?limit=100"))).data.map(({ id }) => id);
const found = async (tenant: Tenant, query: string): Promise<readonly string[]> =>
  (await readBody<{ data: { session: { id: string } }[] }>(await tenant.call("POST", "/v1/sessions/search", { query }))).data.map(
    ({ session }) => session.id,
  );

/** Everything of the tenant is in this database, as its sessions' logs say, and nothing is in another one. */
async function expectOnlyIn(tenant: Tenant, name: string, chats: readonly Chat[]): Promise<void> {
  for (const chat of chats) await projected(chat, name);
  const { [name]: here, ...elsewhere } = await countRows(tenant);
  expect(here).toBeGreaterThan(0);
  expect(Object.values(elsewhere)).toEqual([0, 0]);
  for (const chat of chats) expect(await differences(chat, name)).toEqual([]);
  const rebuilt = await request("POST", `/v1/admin/tenants/${tenant.id}/rebuild`, asAdmin);
  expect(await readBody(rebuilt)).toMatchObject({ differences: [], repaired: true });
}

const PHASES = ["announce", "copy", "verify", "settle", "release", "clean", "sweep", null] as const;

describe("a tenant that is moved", () => {
  it("has all its rows in the other database and none in the old one, and lists, searches and sums miss nothing in any phase", async () => {
    const tenant = await newTenant();
    const [asleep, talking] = [await newChat({ tenant }), await newChat({ tenant })];
    await asleep.say("about walruses");
    await talking.say("about penguins");
    for (const chat of [asleep, talking]) await projected(chat, "DB");

    for (const [turn, phase] of PHASES.entries()) {
      const at = await moveUntil(tenant, "DB_2", phase);
      await talking.say(`phase number${turn}`);
      await projected(talking, at.database);

      expect([...(await listed(tenant))].sort()).toEqual([asleep.id, talking.id].sort());
      expect(await found(tenant, "walruses")).toEqual([asleep.id]);
      expect(await found(tenant, `number${turn}`)).toEqual([talking.id]);
      const usage = await readBody<{ data: { calls: number }[] }>(await tenant.call("GET", "/v1/usage"));
      expect(usage.data[0]?.calls).toBe(turn + 3);
    }

    expect(await placement(tenant)).toMatchObject({ database: "DB_2", move: null, wait_ms: 0 });
    await expectOnlyIn(tenant, "DB_2", [asleep, talking]);
    const tenants = await readBody<{ data: ListedTenant[] }>(await request("GET", "/v1/admin/tenants?limit=100", asAdmin));
    expect(tenants.data.find(({ id }) => id === tenant.id)).toMatchObject({ database: "DB_2" });
  });

  it("keeps what is erased, redacted, forked and rebuilt in each phase, and moves back", async () => {
    const tenant = await newTenant();
    const chat = await newChat({ tenant });
    const doomed = await Promise.all(PHASES.map(() => newChat({ tenant })));
    for (const each of [chat, ...doomed]) {
      await each.say("a secret walrus");
      await projected(each, "DB");
    }
    const forks: string[] = [];

    for (const [n, phase] of PHASES.entries()) {
      const at = await moveUntil(tenant, "DB_3", phase);
      const gone = doomed[n];
      if (gone) await readBody(await tenant.call("DELETE", `/v1/sessions/${gone.id}`), 200);
      await chat.say(`redacted${n}`);
      const items = await readBody<{ data: { id: string; role: string }[] }>(
        await tenant.call("GET", `/v1/sessions/${chat.id}/messages?limit=1`),
      );
      await readBody(await tenant.call("POST", `/v1/sessions/${chat.id}/messages/${items.data[0]?.id}/redact`, {}));
      forks.push((await readBody<{ id: string }>(await tenant.call("POST", `/v1/sessions/${chat.id}/fork`, {}), 201)).id);
      await projected(chat, at.database);
      const rebuilt = await request("POST", `/v1/admin/tenants/${tenant.id}/sessions/${chat.id}/rebuild`, asAdmin);
      expect(await readBody(rebuilt)).toMatchObject({ differences: [] });
      expect([...(await listed(tenant))].sort()).toEqual([chat.id, ...doomed.slice(n + 1).map(({ id }) => id), ...forks].sort());
    }
    await expectOnlyIn(tenant, "DB_3", [chat]);

    await moveUntil(tenant, "DB", null);
    await expectOnlyIn(tenant, "DB", [chat]);
    expect([...(await listed(tenant))].sort()).toEqual([chat.id, ...forks].sort());
    const stones = await env.DB.prepare("SELECT count(*) AS n FROM session_tombstones WHERE tenant_id = ?").bind(tenant.id).first("n");
    expect(stones).toBe(doomed.length);
  });
});

/** Every so many calls the database fails: one time before the call takes effect, the next time after it. */
function shake(db: D1Database, every: number): () => number {
  let calls = 0;
  const batch = db.batch.bind(db);
  vi.spyOn(db, "batch").mockImplementation((async (statements: D1PreparedStatement[]) => {
    const turn = ++calls % (2 * every);
    if (turn === every) throw new Error("D1_ERROR: out of reach");
    const results = await batch(statements);
    if (turn === 0) throw new Error("D1_ERROR: the answer is lost");
    return results;
  }) as typeof db.batch);
  return () => Math.floor(calls / every);
}

/** As `moveUntil`, by an operator who repeats what fails, on a tenant's object that is evicted after each step. */
async function moveShaken(tenant: Tenant, to: string): Promise<void> {
  for (let steps = 0; steps < 500; steps++) {
    const answer = await request("POST", movePath(tenant), { ...asAdmin, body: { to } });
    if (answer.status === 503) await answer.body?.cancel();
    else {
      const at = await readBody<PlacementView>(answer);
      if (at.move === null) return;
      if (at.wait_ms > 0) advanceClock(at.wait_ms);
    }
    await evictDurableObject(env.TENANTS.getByName(tenantObjectName(tenant.id)));
  }
  throw new Error("the move does not end");
}

describe("a move that is cut off", () => {
  it("goes on where it was, whichever call of a database fails and however often the tenant's object dies", async () => {
    const tenant = await newTenant();
    const chats = await Promise.all([1, 2, 3].map(() => newChat({ tenant })));
    for (const chat of chats) {
      await chat.say("before");
      await projected(chat, "DB");
    }

    // A comparison of a short session takes up to some twenty calls of the target.
    const countFaults = [shake(named("DB"), 3), shake(named("DB_2"), 31)];
    await moveShaken(tenant, "DB_2");
    vi.restoreAllMocks();

    expect(Math.min(...countFaults.map((count) => count()))).toBeGreaterThan(0);
    for (const chat of chats) await chat.say("after");
    await expectOnlyIn(tenant, "DB_2", chats);
  });

  it("waits while the target is away: chat and lists go on, and no row is lost", async () => {
    const tenant = await newTenant();
    const chat = await newChat({ tenant });
    await chat.say("before");
    await moveUntil(tenant, "DB_3", "copy");
    await step(tenant, "DB_3");

    const away = vi.spyOn(named("DB_3"), "batch").mockRejectedValue(new Error("gone"));
    await chat.say("meanwhile");
    await projected(chat, "DB");
    const refused = await request("POST", movePath(tenant), { ...asAdmin, body: { to: "DB_3" } });
    const rows = await found(tenant, "meanwhile");
    away.mockRestore();

    expect([refused.status, await refused.json()]).toMatchObject([503, { type: "urn:longhand:problem:read_model_unavailable" }]);
    expect(rows).toEqual([chat.id]);
    expect(await placement(tenant)).toMatchObject({ database: "DB", move: { phase: "copy" } });
    await moveUntil(tenant, "DB_3", null);
    await expectOnlyIn(tenant, "DB_3", [chat]);
  });

  it("waits while the old database is away after the switch: chat, lists and searches need only the new one", async () => {
    const tenant = await newTenant();
    const chat = await newChat({ tenant });
    await chat.say("before");
    await projected(chat, "DB");
    await moveUntil(tenant, "DB_2", "clean");
    advanceClock(PLACEMENT_TTL_MS + 1);

    const away = vi.spyOn(named("DB"), "batch").mockRejectedValue(new Error("gone"));
    await chat.say("meanwhile");
    await projected(chat, "DB_2");
    const refused = await request("POST", movePath(tenant), { ...asAdmin, body: { to: "DB_2" } });
    const rows = await found(tenant, "meanwhile");
    away.mockRestore();

    expect([refused.status, rows]).toEqual([503, [chat.id]]);
    await refused.body?.cancel();
    await moveUntil(tenant, "DB_2", null);
    await expectOnlyIn(tenant, "DB_2", [chat]);
  });

  it("is one move, though twelve operators send its steps at the same time", async () => {
    const tenant = await newTenant();
    const chat = await newChat({ tenant });
    await chat.say("hello");
    await projected(chat, "DB");

    for (let at = await placement(tenant), steps = 0; steps === 0 || at.move !== null; steps++) {
      const answers = await Promise.all(Array.from({ length: 12 }, () => step(tenant, "DB_2")));
      at = answers[0] ?? at;
      if (at.wait_ms > 0) advanceClock(at.wait_ms);
      if (steps === 3) await chat.say("between");
      at = await placement(tenant);
    }

    await expectOnlyIn(tenant, "DB_2", [chat]);
  });

  it("is refused where another one is under way, and leaves nothing behind when it is cancelled before the switch", async () => {
    const tenant = await newTenant();
    const chat = await newChat({ tenant });
    await chat.say("hello");
    for (const phase of ["announce", "copy", "verify"] as const) {
      await moveUntil(tenant, "DB_2", phase);
      const other = await request("POST", movePath(tenant), { ...asAdmin, body: { to: "DB_3" } });
      expect([other.status, await other.json()]).toMatchObject([409, { type: "urn:longhand:problem:move_conflict", to: "DB_2" }]);

      const cancelled = await readBody<PlacementView>(await request("DELETE", movePath(tenant), asAdmin));
      await chat.say(`after ${phase}`);
      expect(cancelled).toMatchObject({ database: "DB", move: { from: "DB_2", to: "DB", phase: "release" } });
      await moveUntil(tenant, "DB", null);
      await expectOnlyIn(tenant, "DB", [chat]);
    }
    await moveUntil(tenant, "DB_2", "settle");
    const late = await request("DELETE", movePath(tenant), asAdmin);
    expect([late.status, await late.json()]).toMatchObject([409, { reason: "switched" }]);
    await moveUntil(tenant, "DB_2", null);
    await expectOnlyIn(tenant, "DB_2", [chat]);
  });

  it("names the field where the target is not bound, is the tenant's own, or lacks the tables", async () => {
    const tenant = await newTenant();
    const refuse = async (to: string) => {
      const answer = await request("POST", movePath(tenant), { ...asAdmin, body: { to } });
      return readBody<{ errors: { field: string; detail: string }[] }>(answer, 400);
    };
    await named("DB_3").exec("ALTER TABLE overlays RENAME TO overlays_away");

    expect([await refuse("DB_9"), await refuse("DB"), await refuse("DB_3"), await refuse("nowhere")]).toMatchObject([
      { errors: [{ field: "to", detail: "no such database is bound" }] },
      { errors: [{ field: "to", detail: "the tenant is in this database" }] },
      { errors: [{ field: "to", detail: "the database lacks tables: apply the migrations to it" }] },
      { errors: [{ field: "to" }] },
    ]);
    await named("DB_3").exec("ALTER TABLE overlays_away RENAME TO overlays");
  });

  it("is not known of a tenant that does not exist", async () => {
    const unknown = `/v1/admin/tenants/${newId("ten")}/move`;
    const asked = [
      request("GET", unknown, asAdmin),
      request("POST", unknown, { ...asAdmin, body: { to: "DB_2" } }),
      request("DELETE", unknown, asAdmin),
    ];

    for (const answer of await Promise.all(asked))
      expect(await readBody(answer, 404)).toMatchObject({ type: "urn:longhand:problem:tenant_not_found" });
  });

  it("takes along the stones of sessions that were erased before, and the sums of their calls", async () => {
    const tenant = await newTenant();
    const chat = await newChat({ tenant });
    await chat.say("hello");
    await readBody(await tenant.call("DELETE", `/v1/sessions/${chat.id}`));
    const sums = async () => (await readBody<{ data: object[] }>(await tenant.call("GET", "/v1/usage"))).data;
    const before = await sums();

    await moveUntil(tenant, "DB_2", null);

    expect(await sums()).toEqual(before);
    const counted = named("DB_2").prepare("SELECT count(*) AS n FROM session_tombstones WHERE tenant_id = ?").bind(tenant.id);
    expect(await counted.first("n")).toBe(1);
    expect(await countRows(tenant)).toMatchObject({ DB: 0, DB_3: 0 });
  });
});

describe("the databases", () => {
  it("are listed with their sizes and tenants, and a new tenant goes where the most room is", async () => {
    const listedNow = await readBody(await request("GET", "/v1/admin/databases", asAdmin));

    expect(listedNow).toMatchObject({
      data: ["DB", "DB_2", "DB_3"].map((database) => ({ database, bytes: expect.any(Number), level: "ok", tenants: expect.any(Number) })),
    });
    expect(await placement(await newTenant())).toMatchObject({ database: "DB" });

    vi.spyOn(named("DB"), "prepare").mockImplementation(() => {
      throw new Error("gone");
    });
    const elsewhere = await newTenant();
    vi.restoreAllMocks();
    expect(await placement(elsewhere)).toMatchObject({ database: "DB_2" });
    const chat = await newChat({ tenant: elsewhere });
    await chat.say("hello");
    await expectOnlyIn(elsewhere, "DB_2", [chat]);
  });
});
