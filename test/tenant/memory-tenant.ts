/** A tenant in plain Node, over a database in memory. It has no sessions and no bucket unless a test gives them. */

import type { Act } from "../../src/app/audit-chain";
import type { ExportStore } from "../../src/app/export-api";
import type { Setting } from "../../src/app/exported-settings";
import { SETTING_KINDS } from "../../src/domain/export-format";
import { err, ok } from "../../src/lib/result";
import { listSettings } from "../../src/tenant/list-settings";
import { buildDeploymentModels } from "../../src/tenant/registry";
import { Tenant } from "../../src/tenant/tenant";
import { createEmptySql } from "./memory-sql";
import { makeId } from "./support";

export const ACT: Act = { actor: { kind: "key", id: makeId("key", 1) }, request_id: "req-1" };
const NO_KEYS = { openai: undefined, anthropic: undefined, google: undefined, "openai-compatible": undefined };
const MISSING = { code: "session_not_found" } as const;

export function newMemoryTenant(n = 1, exportStore: () => ExportStore | null = () => null): Tenant {
  let alarm: number | null = null;
  const nothing = async (): Promise<void> => {};
  const tenant = new Tenant({
    sql: createEmptySql(),
    deployment: { models: buildDeploymentModels({}), keys: NO_KEYS, policy: "balanced" },
    storage: {
      getAlarm: async () => alarm,
      setAlarm: async (at) => {
        alarm = Number(at);
      },
      deleteAlarm: async () => {
        alarm = null;
      },
    },
    projection: { write: nothing, close: nothing, sweep: nothing, hide: nothing, writeUsage: nothing, removeUsage: async () => true },
    fileStore: () => null,
    exportStore,
    sessions: () => ({
      erase: async () => err(MISSING),
      describe: async () => err(MISSING),
      formerEndUsers: async () => ok([]),
      forgetEndUsers: async () => ok(true),
      exportLines: async () => err(MISSING),
      retain: async () => err(MISSING),
    }),
    recordAdminActs: nothing,
    overwrite: nothing,
    background: () => {},
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  tenant.create(() => {
    tenant.settings.insert({ tenant: makeId("ten", n), name: `tenant ${n}`, at: 1 });
    return ok(null);
  });
  return tenant;
}

export const listAllSettings = (tenant: Tenant): readonly Setting[] => listSettings(tenant, SETTING_KINDS);
