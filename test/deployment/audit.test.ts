import { describe, expect, inject, it } from "vitest";
import { verifyAudit } from "../../scripts/audit/verify";
import type { AuditQuery } from "../../src/app/audit-api";
import { buildGenesis, type TenantAct } from "../../src/app/audit-chain";
import { NO_LIMITS } from "../../src/contract/limits";
import type { Deployment } from "../../src/deployment/deployment";
import { deploymentCalls } from "../../src/deployment/deployment-calls";
import { Random } from "../simulation/random";
import { toLines } from "../support/audit-lines";
import { makeId } from "../tenant/support";
import { openForTest } from "./support";

const ALL: AuditQuery = { after: null, limit: 10_000, order: "asc", action: null, actor: null, target: null, from: null, to: null };
const TENANT = makeId("ten", 1);
const by = (request: string) => ({ actor: { kind: "admin" as const, id: makeId("adm", 9) }, request_id: request, nonce: request });
const plan = (name: string, files: number) => ({ name, limits: { ...NO_LIMITS, tenant: { files } }, budgets: [] });
const newKey = (n: number) => ({
  id: makeId("adm", n),
  hash: `hash-${n}`,
  name: "planted-name",
  role: "operate" as const,
  expires_at: null,
  by: null,
  idempotency: null,
});
const actions = ({ audit }: Deployment) => audit.read(ALL).data.map(({ action, target }) => `${action} ${target.id}`);

describe("the deployment's audit log", () => {
  it("has what was done to admin keys, plans, limits and the list, and no name of a key or a tenant", async () => {
    const deployment = openForTest();
    const listed = { id: TENANT, name: "planted-name", created_at: 1, status: "active" as const, database: "DB" };
    await deploymentCalls.addAdminKey(deployment, by("1"), newKey(1));
    const next = { id: makeId("adm", 2), hash: "hash-2" };
    await deploymentCalls.rotateAdminKey(deployment, by("2"), { old: makeId("adm", 1), next, overlap: 5, by: null, idempotency: null });
    await deploymentCalls.revokeAdminKey(deployment, by("3"), { id: next.id, by: null, hasAdminKey: true });
    await deploymentCalls.putPlan(deployment, by("4"), plan("starter", 1));
    await deploymentCalls.assignPlan(deployment, by("5"), { tenant: TENANT, plan: "starter" });
    await deploymentCalls.assignPlan(deployment, by("6"), { tenant: TENANT, plan: null });
    await deploymentCalls.deletePlan(deployment, by("7"), "starter");
    await deploymentCalls.rebuildTenantList(deployment, by("8"), [listed]);

    const { data, anchor, head } = deployment.audit.read(ALL);

    expect(data.map(({ action, request_id, details }) => [action, request_id, details])).toEqual([
      ["admin_key.created", "1", { role: "operate", expires_at: null }],
      ["admin_key.rotated", "2", { replaced_by: next.id, overlap_ms: 5 }],
      ["admin_key.revoked", "3", {}],
      ["plan.put", "4", { version: 1 }],
      ["limits.changed", "5", { fields: ["plan"], plan: "starter", version: 2 }],
      ["limits.changed", "6", { fields: ["plan"], plan: null, version: 3 }],
      ["plan.deleted", "7", {}],
      ["tenant_list.rebuilt", "8", { number: 1 }],
    ]);
    expect(JSON.stringify(data)).not.toContain("planted-name");
    expect(verifyAudit(toLines(deployment.id, anchor, data), head)).toMatchObject({ ok: true, entries: 8 });
  });

  it("begins at a genesis that no other deployment has, and that stays when the object wakes again", async () => {
    const [one, other] = [openForTest(), openForTest()];
    await deploymentCalls.putPlan(one, by("1"), plan("starter", 1));
    const woken = openForTest({ sql: one.sql });

    expect(one.audit.read(ALL).anchor).toEqual(buildGenesis(one.id));
    expect(one.audit.read(ALL).anchor).not.toEqual(other.audit.read(ALL).anchor);
    expect([woken.id, woken.audit.read(ALL)]).toEqual([one.id, one.audit.read(ALL)]);
    expect(await deploymentCalls.findAuditStart(one, 0)).toEqual({ owner: one.id, anchor: buildGenesis(one.id) });
    expect(await deploymentCalls.findAuditStart(one, 2)).toEqual({ owner: one.id, anchor: null });
  });

  it("has nothing of what was refused, and no act without its entry", async () => {
    const deployment = openForTest();
    await deploymentCalls.deletePlan(deployment, by("1"), "none");
    await deploymentCalls.assignPlan(deployment, by("2"), { tenant: TENANT, plan: "none" });
    await deploymentCalls.revokeAdminKey(deployment, by("3"), { id: makeId("adm", 1), by: null, hasAdminKey: true });
    deployment.sql.rows("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'disk full'); END");

    await expect(deploymentCalls.putPlan(deployment, by("4"), plan("starter", 1))).rejects.toThrow("disk full");
    expect([deployment.plans.list(), actions(deployment)]).toEqual([[], []]);
  });

  it("takes no change or removal of an entry from any statement", async () => {
    const deployment = openForTest();
    await deploymentCalls.putPlan(deployment, by("1"), plan("starter", 1));

    for (const statement of ["UPDATE audit SET entry = '{}'", "DELETE FROM audit"])
      expect(() => deployment.sql.rows(statement)).toThrow("the audit log is append-only");
  });

  it("has a tenant's act once, however often it is delivered, and in which order", async () => {
    const deployment = openForTest();
    const act = (seq: number, tenant = TENANT): TenantAct => ({
      seq,
      at: 5,
      actor: { kind: "admin", id: null },
      request_id: "r",
      subject: { action: "tenant.suspended", target: { type: "tenant", id: tenant }, details: { audit_seq: seq } },
    });
    await deploymentCalls.recordTenantActs(deployment, TENANT, [act(1), act(2)]);
    await deploymentCalls.recordTenantActs(deployment, TENANT, [act(2), act(1), act(3)]);
    await deploymentCalls.recordTenantActs(deployment, makeId("ten", 2), [act(1, makeId("ten", 2))]);

    const { data } = deployment.audit.read(ALL);
    expect(data.map(({ target, details, at }) => [target.id, details.audit_seq, at])).toEqual([
      [TENANT, 1, 5],
      [TENANT, 2, 5],
      [TENANT, 3, 5],
      [makeId("ten", 2), 1, 5],
    ]);
    expect(data[0]?.recorded_at).toBeGreaterThan(5);
  });
});

/** All that the entries are about. */
const readAll = ({ sql }: Deployment): string =>
  JSON.stringify(["plans", "assignments", "admin_keys"].map((table) => sql.rows(`SELECT * FROM ${table}`)));

type Send = (act: ReturnType<typeof by>) => Promise<unknown>;

/** One change, of a few names, so that many change nothing or are refused. */
function drawChange(deployment: Deployment, random: Random, step: number): Send {
  const name = random.pick(["a", "b"]);
  const tenant = makeId("ten", random.int(1, 2));
  const files = random.int(0, 1);
  const key = random.pick([
    ...deployment.adminKeys
      .list()
      .slice(0, 5)
      .map(({ id }) => id),
    makeId("adm", 1),
  ]);
  const idempotency = { key: `once-${random.int(1, 20)}`, digest: random.pick(["one", "other"]) };
  const changes: Record<string, Send> = {
    put: (act) => deploymentCalls.putPlan(deployment, act, plan(name, files)),
    remove: (act) => deploymentCalls.deletePlan(deployment, act, name),
    assign: (act) => deploymentCalls.assignPlan(deployment, act, { tenant, plan: name }),
    take: (act) => deploymentCalls.assignPlan(deployment, act, { tenant, plan: null }),
    add: (act) => deploymentCalls.addAdminKey(deployment, act, { ...newKey(100 + step), idempotency }),
    revoke: (act) => deploymentCalls.revokeAdminKey(deployment, act, { id: key, by: null, hasAdminKey: true }),
    rotate: (act) => {
      const next = { id: makeId("adm", 1_000 + step), hash: `next-${step}` };
      return deploymentCalls.rotateAdminKey(deployment, act, { old: key, next, overlap: 1_000, by: null, idempotency });
    },
  };
  return random.pick(Object.values(changes));
}

it("any order of changes, each sent once or again after a lost answer, makes one entry for each that changed something", async () => {
  const random = new Random(inject("seed"));
  const deployment = openForTest();
  let entries = 0;
  for (let step = 0; step < 400; step++) {
    const send = drawChange(deployment, random, step);
    for (let times = random.int(1, 3); times > 0; times--) {
      const before = readAll(deployment);
      await send(by(`request-${step}`));
      if (readAll(deployment) !== before) entries += 1;
    }

    expect(actions(deployment).length, `after step ${step}`).toBe(entries);
  }
  expect(entries).toBeGreaterThan(100);
});
