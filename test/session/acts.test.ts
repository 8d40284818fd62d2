/** Acts in a session reach the tenant's audit log once each, whatever fails between the act and its delivery. */
import { beforeEach, describe, expect, test } from "vitest";
import type { SessionAct } from "../../src/app/audit-chain";
import type { ActRecorder } from "../../src/app/ports";
import { createAuditLog } from "../../src/audit/audit-log";
import type { ItemId } from "../../src/domain/ids";
import { ringAlarm } from "../../src/session/alarm";
import { settingsEtag } from "../../src/session/calls/read-calls";
import { createMigratedSql } from "../tenant/memory-sql";
import { CALLER, Life } from "./life";

const ACTING = { ...CALLER, act: { actor: { kind: "key", id: "key_1" }, request_id: "req-1" } } as const;
const PLANTED = "planted-content";

/** The tenant's object: its log, whether it can be reached, and whether its answers are lost. */
class TenantLog implements ActRecorder {
  isAway = false;
  losesAnswers = false;
  calls = 0;
  readonly #sql = createMigratedSql();
  readonly log = createAuditLog({ sql: this.#sql, owner: () => CALLER.tenant, now: () => 5_000_000 });

  async record(session: string, acts: readonly SessionAct[]): Promise<void> {
    this.calls += 1;
    if (this.isAway) throw new Error("out of reach");
    for (const { seq, at, actor, request_id, subject } of acts)
      this.log.append({ actor, request_id, nonce: `${session}:${seq}` }, subject, at);
    if (this.losesAnswers) throw new Error("the answer was lost");
  }

  get entries() {
    return this.log.read({ after: null, limit: 100, order: "asc", action: null, actor: null, target: null, from: null, to: null }).data;
  }
  get actions(): readonly string[] {
    return this.entries.map(({ action }) => action);
  }
}

let life: Life;
let tenant: TenantLog;

beforeEach(async () => {
  life = new Life();
  tenant = new TenantLog();
  life.acts = tenant;
  await life.open();
});

/** Another life of the object, over the same database. */
function restart(): void {
  life = new Life(life.sql, "life-2");
  life.acts = tenant;
}
async function ring(): Promise<void> {
  await life.advance(2 * 60 * 60 * 1_000);
  ringAlarm(life.runtime);
  await life.advance(0);
}
const waiting = (): number => life.sql.all("SELECT seq FROM acts").length;

describe("an act in a session", () => {
  test("is in the log of the tenant when its call has answered, with who, what and when, and without content", async () => {
    await life.service.setPins(ACTING, [PLANTED]);
    await life.service.patch(ACTING, { title: PLANTED, metadata: { of: PLANTED } });

    expect(tenant.entries).toMatchObject([
      { action: "pins.set", actor: ACTING.act.actor, request_id: "req-1", target: { type: "session", id: CALLER.session } },
      { action: "session.settings_changed", details: { fields: ["metadata", "title"] } },
    ]);
    expect(tenant.entries[0]?.at).toBe(life.time.now());
    expect(tenant.entries[0]?.recorded_at).toBe(5_000_000);
    expect(JSON.stringify([tenant.entries, life.sql.all("SELECT * FROM acts")])).not.toContain(PLANTED);
    expect(waiting()).toBe(0);
  });

  test("leaves nothing when it was refused, changed nothing, or its caller does not say who acts", async () => {
    await life.service.redact(ACTING, "itm_none" as ItemId);
    await life.service.rewind(ACTING, { to: 99, idempotency: null });
    await life.service.patch(ACTING, { title: "x" }, { match: ["other"], none_match: null });
    await life.service.setPins(ACTING, []);
    await life.service.setPins(CALLER, ["x"]);

    expect([tenant.calls, waiting()]).toEqual([0, 0]);
  });

  test("is no chat: a turn makes no entry and no call", async () => {
    await life.send("hello");
    await life.answer("hi");

    expect([tenant.calls, waiting()]).toEqual([0, 0]);
  });

  test("answers while the tenant's object is away, and is delivered by the alarm when it is back", async () => {
    tenant.isAway = true;
    expect(await life.service.setPins(ACTING, ["x"])).toMatchObject({ ok: true });
    await ring();
    expect([tenant.actions, waiting()]).toEqual([[], 1]);

    tenant.isAway = false;
    await ring();

    expect([tenant.actions, waiting()]).toEqual([["pins.set"], 0]);
    expect(life.runtime.jobs.get("record_acts")).toBeNull();
  });

  test("is delivered by the next life when the object was lost before it could be", async () => {
    tenant.isAway = true;
    await life.service.setPins(ACTING, ["x"]);
    tenant.isAway = false;
    restart();
    await ring();

    expect([tenant.actions, waiting()]).toEqual([["pins.set"], 0]);
  });

  test("that is delivered twice, because the answer was lost, makes one entry", async () => {
    tenant.losesAnswers = true;
    await life.service.setPins(ACTING, ["x"]);
    expect([tenant.actions, waiting()]).toEqual([["pins.set"], 1]);
    tenant.losesAnswers = false;
    restart();
    await ring();

    expect([tenant.actions, waiting()]).toEqual([["pins.set"], 0]);
  });

  test("comes in the order in which the session's acts were done", async () => {
    tenant.isAway = true;
    await life.service.setPins(ACTING, ["x"]);
    await life.service.patch(ACTING, { title: "x" });
    tenant.isAway = false;
    await life.service.setPins(ACTING, ["y"]);

    expect(tenant.actions).toEqual(["pins.set", "session.settings_changed", "pins.set"]);
  });

  test("is delivered before its session is erased, which waits while the tenant's object is away", async () => {
    tenant.isAway = true;
    await life.service.setPins(ACTING, ["x"]);
    const receipt = await life.service.erase(CALLER);
    expect(receipt).toMatchObject({ ok: true, value: { stores: [{ store: "session", status: "pending" }, {}] } });

    tenant.isAway = false;
    await ring();

    expect([tenant.actions, waiting()]).toEqual([["pins.set"], 0]);
    expect(await life.service.erase(CALLER)).toMatchObject({ ok: true, value: { stores: [{ status: "erased" }, {}] } });
  });

  test("may be an erasure under a condition, which the session's object begins", async () => {
    await life.service.erase(ACTING, false, { match: [settingsEtag(life.runtime.state)], none_match: null });

    expect(tenant.entries).toMatchObject([{ action: "erasure.requested", actor: ACTING.act.actor, target: { id: CALLER.session } }]);
  });
});
