/** The tenant's name, and the defaults for sessions that name none. */
import type { TenantSettings } from "../app/tenant-api";
import { parseId, type TenantId } from "../domain/ids";
import type { TenantSql } from "./tenant-sql";

/** The default model of a tenant that has chosen none. Every deployment has it. */
export const DEFAULT_MODEL = "embedded";
/** Empty: the deployment's policy holds. */
const NO_POLICY = "";

interface TenantIdentity {
  readonly tenant: TenantId;
  readonly created_at: number;
}

export interface Settings {
  insert(input: { readonly tenant: TenantId; readonly name: string; readonly at: number }): void;
  read(): TenantSettings;
  identity(): TenantIdentity;
  /** Changes settings. An absent field stays unchanged. */
  change(changes: Partial<TenantSettings>): TenantSettings;
}

type TenantRow = {
  readonly id: string;
  readonly name: string;
  readonly default_model: string;
  readonly default_policy: string;
  readonly created_at: number;
};

/** Reads and changes the settings of an existing tenant. A missing row or a malformed id is a defect, and throws. */
export function createSettings(sql: TenantSql): Settings {
  function row(): TenantRow {
    const found = sql.rows<TenantRow>("SELECT id, name, default_model, default_policy, created_at FROM tenant")[0];
    if (!found) throw new Error("The tenant's row is missing");
    return found;
  }
  function read(): TenantSettings {
    const { name, default_model, default_policy } = row();
    return { name, default_model, default_policy };
  }
  return {
    insert: ({ tenant, name, at }) => {
      sql.rows(
        "INSERT INTO tenant (one, id, name, default_model, default_policy, created_at) VALUES (1, ?, ?, ?, ?, ?)",
        tenant,
        name,
        DEFAULT_MODEL,
        NO_POLICY,
        at,
      );
    },
    read,
    identity: () => {
      const { id, created_at } = row();
      const tenant = parseId("ten", id);
      if (!tenant) throw new Error("The stored tenant id is malformed");
      return { tenant, created_at };
    },
    change: (changes) => {
      const now = read();
      sql.rows(
        "UPDATE tenant SET name = ?, default_model = ?, default_policy = ?",
        changes.name ?? now.name,
        changes.default_model ?? now.default_model,
        changes.default_policy ?? now.default_policy,
      );
      return read();
    },
  };
}
