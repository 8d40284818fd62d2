/** A tenant in plain Node, over a database in memory. It has no sessions and no bucket unless a test gives them. */

import type { Act } from "../../src/app/audit-chain";
import type { ExportStore } from "../../src/app/export-api";
import type { Setting } from "../../src/app/exported-settings";
import type { TenantFileStore } from "../../src/app/file-api";
import type { Schedule } from "../../src/app/session-ports";
import type { SendWebhook } from "../../src/app/webhook-api";
import { SETTING_KINDS } from "../../src/domain/export-format";
import type { TenantId } from "../../src/domain/ids";
import { parseExportLine } from "../../src/http/import-sessions";
import { createSettingParser } from "../../src/http/schemas/setting";
import { recordCheck } from "../../src/http/schemas/stored-record";
import { err, ok } from "../../src/lib/result";
import type { SyncSql } from "../../src/lib/sync-sql";
import { startTimer } from "../../src/lib/timer";
import { listSettings } from "../../src/tenant/core/list-settings";
import { Tenant } from "../../src/tenant/core/tenant";
import { buildDeploymentModels } from "../../src/tenant/settings/registry";
import { bindImports } from "../../src/tenant/tenant-calls";
import { createEmptySql } from "./memory-sql";
import { makeId } from "./support";

export const ACT: Act = { actor: { kind: "key", id: makeId("key", 1) }, request_id: "req-1" };
const NO_KEYS = { openai: undefined, anthropic: undefined, google: undefined, "openai-compatible": undefined };
const MISSING = { code: "session_not_found" } as const;

export type MemorySessions = ConstructorParameters<typeof Tenant>[0]["sessions"];

export const NO_SESSIONS: MemorySessions = () => ({
  erase: async () => err(MISSING),
  describe: async () => err(MISSING),
  formerEndUsers: async () => ok([]),
  forgetEndUsers: async () => ok(true),
  exportLines: async () => err(MISSING),
  stageRestore: async () => err(MISSING),
  finishRestore: async () => err(MISSING),
  dropRestore: async () => ok(null),
  retain: async () => err(MISSING),
});

interface MemoryWorld {
  readonly sql?: SyncSql;
  readonly exportStore?: (tenant: TenantId) => ExportStore | null;
  readonly fileStore?: () => TenantFileStore | null;
  readonly sessions?: MemorySessions;
  readonly sendWebhook?: SendWebhook;
  readonly projection?: Partial<ConstructorParameters<typeof Tenant>[0]["projection"]>;
  readonly chats?: ConstructorParameters<typeof Tenant>[0]["chats"];
  /** Absent: real timers. */
  readonly schedule?: Schedule;
  /** When the object's alarm rings. The test may read it and ring. */
  readonly alarm?: { at: number | null };
}

/** A tenant's object over a database that may have been an earlier one's: then that one was lost. */
export function openMemoryTenant({
  sql = createEmptySql(),
  exportStore,
  fileStore,
  sessions = NO_SESSIONS,
  ...world
}: MemoryWorld = {}): Tenant {
  const { alarm = { at: null } } = world;
  const nothing = async (): Promise<void> => {};
  const tenant: Tenant = new Tenant({
    sql,
    deployment: { models: buildDeploymentModels({}), keys: NO_KEYS, policy: "balanced" },
    storage: {
      getAlarm: async () => alarm.at,
      setAlarm: async (at) => {
        alarm.at = Number(at);
      },
      deleteAlarm: async () => {
        alarm.at = null;
      },
    },
    projection: {
      write: nothing,
      close: nothing,
      sweep: async () => true,
      hide: nothing,
      writeUsage: nothing,
      removeUsage: async () => true,
      ...world.projection,
    },
    fileStore: fileStore ?? (() => null),
    exportStore: exportStore ?? (() => null),
    chats: world.chats ?? (() => ({ forgetSession: nothing, empty: nothing })),
    sessions,
    imports: {
      parseLine: parseExportLine,
      recordCheck,
      parseSetting: createSettingParser({ allowPrivateModelUrls: false, allowPrivateToolUrls: false }),
      own: bindImports(() => tenant),
    },
    sendWebhook: world.sendWebhook ?? (async () => ({ status: null, failure: "unreachable", answer: null })),
    recordAdminActs: nothing,
    scrub: async () => ({ isComplete: true }),
    schedule: world.schedule ?? startTimer,
    background: () => {},
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  return tenant;
}

export function newMemoryTenant(n = 1, world: MemoryWorld = {}): Tenant {
  const tenant = openMemoryTenant(world);
  tenant.create(() => {
    tenant.settings.insert({ tenant: makeId("ten", n), name: `tenant ${n}`, at: 1 });
    return ok(null);
  });
  return tenant;
}

export const listAllSettings = (tenant: Tenant): readonly Setting[] => listSettings(tenant, SETTING_KINDS);
