/** One alarm for two jobs: the row in the read model, and running erasures. Neither delays the other. */
import { expect, it } from "vitest";
import type { Log } from "../../src/app/ports";
import type { SessionApi } from "../../src/app/session-api";
import type { TenantChange } from "../../src/app/tenant-api";
import { createAuditLog } from "../../src/audit/audit-log";
import { err, ok } from "../../src/lib/result";
import { startTimer } from "../../src/lib/timer";
import { createUpkeep } from "../../src/tenant/core/upkeep";
import { createFiles } from "../../src/tenant/files/files";
import { createDirectory } from "../../src/tenant/shared/directory";
import { createRequests } from "../../src/tenant/shared/requests";
import { createTenantEvents } from "../../src/tenant/shared/tenant-events";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageBound } from "../../src/tenant/usage/usage-bound";
import { createMigratedSql } from "./memory-sql";
import { makeId, NAMES } from "./support";

const NO_TENANT = async () => err({ code: "tenant_not_found" as const });
const IMPORTS = {
  parseLine: () => err("no line"),
  recordCheck: { findEventFault: () => "no event", findTextFault: () => "no text" },
  parseSetting: () => err("no setting"),
  own: {
    registerRestored: NO_TENANT,
    forgetSession: NO_TENANT,
    restoreSettings: NO_TENANT,
    getFile: NO_TENANT,
    beginFile: NO_TENANT,
    finishFile: NO_TENANT,
    abandonFile: NO_TENANT,
  },
};
const SESSION = makeId("ses", 1);
const TENANT = makeId("ten", 1);

type Erase = SessionApi["erase"];

const eraseAtOnce: Erase = async (caller) =>
  ok({ id: caller.session, erased_at: 1, stores: [{ store: "session", status: "erased", rows: null }] });

function world(write: () => Promise<void>, eraseSession: Erase = eraseAtOnce) {
  const sql = createMigratedSql();
  createDirectory(sql).register({ session: SESSION, idempotency: null, at: 1 });
  const set: { alarm: number | null } = { alarm: null };
  const storage = {
    getAlarm: async () => set.alarm,
    setAlarm: async (at: number | Date) => {
      set.alarm = Number(at);
    },
    deleteAlarm: async () => {
      set.alarm = null;
    },
  };
  const asked: (boolean | undefined)[] = [];
  const erase: Erase = (caller, isNoted) => {
    asked.push(isNoted);
    return eraseSession(caller, isNoted);
  };
  const lines: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> | undefined }[] = [];
  const note: Log["warn"] = (event, fields) => void lines.push({ event, fields });
  const log: Log = { info: note, warn: note, error: note };
  const snapshot = (): TenantChange => ({
    tenant: TENANT,
    created_at: 1,
    settings: { name: "t", default_model: "m", default_policy: "", allowed_origins: [] },
    models: [],
  });
  const deps = {
    sql,
    storage,
    projection: {
      write,
      writeUsage: async () => {},
      hide: async () => {},
      close: async () => {},
      sweep: async () => true,
      removeUsage: async () => true,
    },
    snapshot,
    listSettings: () => [],
    tenant: () => TENANT,
    isDeleted: () => false,
    isSuspended: () => false,
    chats: () => ({ forgetSession: async () => {}, empty: async () => {} }),
    sessions: () => ({
      erase,
      describe: async () => err({ code: "session_not_found" as const }),
      formerEndUsers: async () => ok([]),
      forgetEndUsers: async () => ok(true),
      exportLines: async () => err({ code: "session_not_found" as const }),
      stageRestore: async () => err({ code: "session_not_found" as const }),
      finishRestore: async () => err({ code: "session_not_found" as const }),
      dropRestore: async () => ok(null),
      retain: async () => err({ code: "session_not_found" as const }),
    }),
    audit: createAuditLog({ sql, owner: () => TENANT, now: Date.now }),
    files: createFiles(sql),
    directory: createDirectory(sql),
    exportStore: () => null,
    imports: IMPORTS,
    erasedUsage: createErasedUsage(sql, NAMES),
    usageBound: createUsageBound(sql),
    fileStore: () => null,
    scrub: async () => ({ isComplete: true }),
    schedule: startTimer,
    recordAdminActs: async () => {},
    sendWebhook: async () => ({ status: 200, failure: null, answer: "" }),
    requests: createRequests(sql),
    events: createTenantEvents(sql, { isDeleted: () => false, appended: () => {} }),
    background: () => {},
    log,
  };
  return { sql, set, asked, lines, upkeep: createUpkeep(deps) };
}

it("the alarm asks the sessions whose erasure was cut off, and is gone when nothing is owed", async () => {
  const { sql, set, asked, upkeep } = world(async () => {});
  upkeep.erasures.begin({ session: SESSION, isKnown: false });
  sql.rows("UPDATE erasures SET due_at = 0");

  await upkeep.ring();

  expect(asked).toEqual([true]);
  expect(sql.rows("SELECT id FROM sessions")).toEqual([]);
  expect(set.alarm).toBeNull();
});

it("a read model that is level again leaves an erasure its alarm", async () => {
  const { set, upkeep } = world(async () => {});
  upkeep.outbox.touch();
  upkeep.erasures.begin({ session: SESSION, isKnown: false });
  const due = upkeep.erasures.nextDue();

  await upkeep.outbox.drain();

  expect(set.alarm).toBe(due);
});

it("a read model that is out of reach does not put an erasure off", async () => {
  const { set, upkeep } = world(() => Promise.reject(new Error("gone")));
  upkeep.erasures.begin({ session: SESSION, isKnown: false });
  const due = upkeep.erasures.nextDue();
  upkeep.outbox.touch();

  await upkeep.outbox.drain();

  expect(set.alarm).toBe(due);
});

it("lines of failed erasures and projections say whose they are", async () => {
  const away = () => Promise.reject(new Error("out of reach"));
  const { sql, lines, upkeep } = world(away, away);
  upkeep.outbox.touch();
  upkeep.erasures.begin({ session: SESSION, isKnown: false });
  sql.rows("UPDATE erasures SET due_at = 0");

  await upkeep.ring();

  expect(lines.map(({ event }) => event).toSorted()).toEqual(["tenant.erasure_failed", "tenant.projection_failed"]);
  for (const { fields } of lines) expect(fields).toMatchObject({ tenant_id: TENANT });
});
