import { describe, expect, it } from "vitest";
import type { TenantAct } from "../../src/app/audit-chain";
import { createAuditLog } from "../../src/audit/audit-log";
import type { AuditSubject } from "../../src/contract/audit";
import { createAdminActs } from "../../src/tenant/core/admin-acts";
import { createSettings } from "../../src/tenant/settings/settings";
import { createMigratedSql } from "./memory-sql";
import { createTestClock, makeId } from "./support";

const TENANT = makeId("ten", 1);
const ADMIN = { actor: { kind: "admin" as const, id: null }, request_id: "r" };
const ITS_OWN = { actor: { kind: "key" as const, id: makeId("key", 1) }, request_id: "r" };
const SYSTEM = { actor: { kind: "system" as const, id: null }, request_id: null };

const about = (action: AuditSubject["action"], type: AuditSubject["target"]["type"], id: string): AuditSubject => ({
  action,
  target: { type, id },
  details: {},
});
const SUSPENDED = about("tenant.suspended", "tenant", TENANT);

/** A deployment's object that has what it took, and loses its answer or is away when the test says so. */
function given() {
  const sql = createMigratedSql();
  createSettings(sql).insert({ tenant: TENANT, name: "Ada", at: 1 });
  const clock = createTestClock();
  const taken: TenantAct[][] = [];
  const world: { fault: "none" | "away" | "lost"; alarm: number | null } = { fault: "none", alarm: null };
  const acts = createAdminActs({
    sql,
    tenant: () => TENANT,
    record: async (_, delivered) => {
      if (world.fault === "away") throw new Error("away");
      taken.push([...delivered]);
      if (world.fault === "lost") throw new Error("the answer was lost");
    },
    alarm: {
      get: async () => world.alarm,
      set: (at) => {
        world.alarm = at;
      },
    },
    now: clock.now,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  const audit = createAuditLog({ sql, owner: () => TENANT, now: clock.now, noteAppended: acts.note });
  return { sql, clock, taken, world, acts, audit, seqs: () => taken.map((each) => each.map(({ seq }) => seq)) };
}

describe("what the deployment's log is given of a tenant", () => {
  it("is what an admin did and the end of its deletion, and not what its own people or its own objects did", async () => {
    const { audit, acts, taken } = given();
    audit.append(ITS_OWN, about("model.put", "model", "mine"));
    audit.append(ADMIN, SUSPENDED);
    audit.append(SYSTEM, about("erasure.finished", "session", makeId("ses", 1)));
    audit.append(SYSTEM, about("erasure.finished", "tenant", TENANT));
    audit.append(ADMIN, about("limits.changed", "tenant", TENANT));

    await acts.deliver();

    expect(taken.flat().map(({ seq, subject }) => [seq, subject.action])).toEqual([
      [2, "tenant.suspended"],
      [4, "erasure.finished"],
    ]);
  });

  it("names the tenant, and in it only what has a generated id", async () => {
    const { audit, acts, taken } = given();
    audit.append(ADMIN, { ...about("key.created", "key", makeId("key", 7)), details: { scopes: ["audit:read"] } });
    audit.append(ADMIN, about("model.put", "model", "name-of-a-tenant"));

    await acts.deliver();

    const target = { type: "tenant", id: TENANT };
    expect(taken.flat().map(({ subject }) => subject)).toEqual([
      {
        action: "key.created",
        target,
        details: { scopes: ["audit:read"], about: { type: "key", id: makeId("key", 7) }, audit_seq: 1 },
      },
      { action: "model.put", target, details: { audit_seq: 2 } },
    ]);
  });

  it("waits for the alarm where the deployment's object is away, longer each time, and comes in order", async () => {
    const { audit, acts, clock, world, seqs } = given();
    world.fault = "away";
    audit.append(ADMIN, SUSPENDED);
    await acts.deliver();
    const waits = [];
    for (let rings = 0; rings < 3; rings++) {
      const due = world.alarm ?? 0;
      waits.push(due - clock.now());
      clock.advance(due - clock.now());
      world.alarm = null;
      await acts.run();
    }
    world.fault = "none";
    audit.append(ADMIN, SUSPENDED);
    await acts.deliver();

    expect(waits).toEqual([5_000, 10_000, 20_000]);
    expect([seqs(), acts.nextDue()]).toEqual([[[1, 2]], null]);
  });

  it("is delivered again after a lost answer, and a call that did nothing for admins delivers nothing", async () => {
    const { audit, acts, clock, world, seqs } = given();
    world.fault = "lost";
    audit.append(ADMIN, SUSPENDED);
    await acts.deliver();
    await acts.deliver();
    await acts.run();
    world.fault = "none";
    clock.advance(5_000);
    await acts.run();

    expect([seqs(), acts.nextDue()]).toEqual([[[1], [1]], null]);
  });

  it("is there when the object starts again before it was delivered, with its alarm", async () => {
    const { audit, acts, world, clock } = given();
    audit.append(ADMIN, SUSPENDED);

    await acts.resume();

    expect(world.alarm).toBe(clock.now() + 5_000);
  });

  it("rolls back with the entry", async () => {
    const { sql, audit, acts, taken } = given();
    const fail = () =>
      sql.transaction(() => {
        audit.append(ADMIN, SUSPENDED);
        throw new Error("disk full");
      });
    expect(fail).toThrow("disk full");

    await acts.deliver();

    expect(taken).toEqual([]);
  });

  it("takes what is noted while a delivery runs, by the same delivery or the alarm", async () => {
    const { audit, acts, clock, seqs } = given();
    audit.append(ADMIN, SUSPENDED);
    const first = acts.deliver();
    audit.append(ADMIN, SUSPENDED);
    await Promise.all([first, acts.deliver()]);
    clock.advance(5_000);
    await acts.run();

    expect([seqs().flat(), acts.nextDue()]).toEqual([[1, 2], null]);
  });
});
