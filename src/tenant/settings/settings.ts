/** The tenant's name, and the defaults for sessions that name none. */
import { z } from "zod";
import type { TenantSettings } from "../../app/tenant-api";
import { parseId, type TenantId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";

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
  /** True from the moment when the tenant's erasure is noted. */
  isDeleted(): boolean;
  /** Changes settings. An absent field stays unchanged. */
  change(changes: Partial<TenantSettings>): TenantSettings;
}

type TenantRow = {
  readonly id: string;
  readonly name: string;
  readonly default_model: string;
  readonly default_policy: string;
  /** A JSON list. */
  readonly allowed_origins: string;
  readonly created_at: number;
};

const COLUMNS = "id, name, default_model, default_policy, allowed_origins, created_at";

/** A malformed list is a defect, and throws. */
const storedOrigins = z.array(z.string());

/** Reads and changes the settings of an existing tenant. A missing row or a malformed id is a defect, and throws. */
export function createSettings(sql: SyncSql): Settings {
  function row(): TenantRow {
    const found = sql.rows<TenantRow>(`SELECT ${COLUMNS} FROM tenant`)[0];
    if (!found) throw new Error("The tenant's row is missing");
    return found;
  }
  function read(): TenantSettings {
    const { name, default_model, default_policy, allowed_origins } = row();
    return { name, default_model, default_policy, allowed_origins: storedOrigins.parse(JSON.parse(allowed_origins)) };
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
    isDeleted: () => sql.rows("SELECT 1 FROM tenant WHERE deleted_at IS NOT NULL").length > 0,
    change: (changes) => {
      const now = read();
      sql.rows(
        "UPDATE tenant SET name = ?, default_model = ?, default_policy = ?, allowed_origins = ?",
        changes.name ?? now.name,
        changes.default_model ?? now.default_model,
        changes.default_policy ?? now.default_policy,
        JSON.stringify(changes.allowed_origins ?? now.allowed_origins),
      );
      return read();
    },
  };
}
