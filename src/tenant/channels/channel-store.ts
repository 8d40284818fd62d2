/** Stores a tenant's channels: their settings, and their secrets sealed. The tenant's object cannot open them. */
import {
  type ChannelEntry,
  type ChannelSecrets,
  MAX_CHANNELS,
  type PutChannel,
  readChannelPlace,
  type SealedChannel,
  toChannelPlace,
} from "../../app/channels-api";
import type { Resealed, SealedCredential, TenantError } from "../../app/tenant-api";
import type { ChannelSettings } from "../../contract/channel";
import type { TenantId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";

export interface ChannelStore {
  list(): readonly ChannelEntry[];
  find(name: string): ChannelEntry | null;
  /** The limit on their number never refuses the replacement of an existing one. Call it inside a transaction. */
  put(input: PutChannel, at: number): Result<ChannelEntry, TenantError>;
  /** Without secrets, except those that the tenant has of a channel of this name and type. Call it inside a transaction. */
  restore(name: string, settings: ChannelSettings, at: number): Result<ChannelEntry, TenantError>;
  /** Removes it with its users, codes and log. Call it inside a transaction. */
  remove(name: string): Result<null, TenantError>;
  /** The access list of the settings is as it was put. */
  sealed(name: string): SealedChannel | null;
  allSealed(): readonly { readonly name: string; readonly sealed: SealedCredential }[];
  /** Replaces the secrets that have not changed since they were read, and returns their number. A concurrent `put` wins. */
  replace(resealed: readonly Resealed[]): number;
}

type ChannelRow = {
  readonly name: string;
  readonly settings: string;
  readonly secrets: string;
  readonly kid: string | null;
  readonly wrapped_key: string | null;
  readonly sealed: string | null;
  readonly created_at: number;
  readonly updated_at: number;
};

// Only this file writes the two JSON columns, from values of these types.
function toEntry({ name, settings, secrets, created_at, updated_at }: ChannelRow): ChannelEntry {
  return {
    name,
    ...(JSON.parse(settings) as ChannelSettings),
    credentials: JSON.parse(secrets) as readonly string[],
    created_at,
    updated_at,
  };
}

function toSecrets({ kid, wrapped_key, sealed, secrets }: ChannelRow): ChannelSecrets | null {
  if (kid === null || wrapped_key === null || sealed === null) return null;
  return { names: JSON.parse(secrets) as readonly string[], sealed: { kid, wrapped_key, sealed } };
}

const NEEDS_SECRETS = "are required: none are stored for this channel";
const OF_OTHER_TYPE = "are required: the stored ones are of another type";

/** What belongs to a platform: its people, and the codes that were meant for them. */
const OF_PLATFORM = ["channel_users", "pairing_codes", "pairing_guesses"];

export function createChannelStore(sql: SyncSql, owner: () => TenantId): ChannelStore {
  const findRow = (name: string): ChannelRow | undefined => sql.rows<ChannelRow>("SELECT * FROM channels WHERE name = ?", name)[0];
  const all = (): readonly ChannelRow[] => sql.rows<ChannelRow>("SELECT * FROM channels ORDER BY name");
  const count = (): number => sql.rows<{ n: number }>("SELECT count(*) AS n FROM channels")[0]?.n ?? 0;

  /** `secrets` null: there are none. */
  function write(name: string, { settings, secrets, at }: Written): Result<ChannelEntry, TenantError> {
    const before = findRow(name);
    if (!before && count() >= MAX_CHANNELS) return err({ code: "channel_limit", limit: MAX_CHANNELS });
    if (before && toEntry(before).type !== settings.type)
      for (const table of OF_PLATFORM) sql.rows(`DELETE FROM ${table} WHERE channel = ?`, name);
    sql.rows(
      `INSERT INTO channels (name, settings, secrets, kid, wrapped_key, sealed, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, secrets = excluded.secrets, kid = excluded.kid,
         wrapped_key = excluded.wrapped_key, sealed = excluded.sealed, updated_at = excluded.updated_at`,
      name,
      JSON.stringify(settings),
      JSON.stringify(secrets?.names ?? []),
      secrets?.sealed.kid ?? null,
      secrets?.sealed.wrapped_key ?? null,
      secrets?.sealed.sealed ?? null,
      at,
      at,
    );
    const stored = findRow(name);
    return stored ? ok(toEntry(stored)) : err({ code: "channel_not_found", channel: name });
  }

  /** The stored secrets, if they are of this type. */
  function keep(name: string, { type }: ChannelSettings): Result<ChannelSecrets, string> {
    const row = findRow(name);
    const secrets = row && toSecrets(row);
    if (!secrets) return err(NEEDS_SECRETS);
    return toEntry(row).type === type ? ok(secrets) : err(OF_OTHER_TYPE);
  }

  function replaceOne({ name, before, after }: Resealed): number {
    const taken = sql.rows(
      "UPDATE channels SET kid = ?, wrapped_key = ? WHERE name = ? AND wrapped_key = ? AND sealed = ? RETURNING name",
      after.kid,
      after.wrapped_key,
      readChannelPlace(name),
      before.wrapped_key,
      before.sealed,
    );
    return taken.length;
  }
  return {
    list: () => all().map(toEntry),
    find: (name) => {
      const row = findRow(name);
      return row ? toEntry(row) : null;
    },
    put: ({ name, settings, secrets }, at) => {
      if (secrets) return write(name, { settings, secrets, at });
      const kept = keep(name, settings);
      return kept.ok
        ? write(name, { settings, secrets: kept.value, at })
        : err({ code: "invalid", field: "credentials", detail: kept.error });
    },
    restore: (name, settings, at) => {
      const kept = keep(name, settings);
      return write(name, { settings, secrets: kept.ok ? kept.value : null, at });
    },
    remove: (name) => {
      const removed = sql.rows("DELETE FROM channels WHERE name = ? RETURNING name", name);
      if (removed.length === 0) return err({ code: "channel_not_found", channel: name });
      for (const table of [...OF_PLATFORM, "channel_log"]) sql.rows(`DELETE FROM ${table} WHERE channel = ?`, name);
      return ok(null);
    },
    sealed: (name) => {
      const row = findRow(name);
      const secrets = row && toSecrets(row);
      if (!secrets) return null;
      return { settings: JSON.parse(row.settings) as ChannelSettings, sealed: secrets.sealed };
    },
    allSealed: () =>
      all().flatMap((row) => {
        const secrets = toSecrets(row);
        return secrets ? [{ name: toChannelPlace(owner(), row.name).name, sealed: secrets.sealed }] : [];
      }),
    replace: (resealed) => resealed.reduce((replaced, each) => replaced + replaceOne(each), 0),
  };
}

interface Written {
  readonly settings: ChannelSettings;
  readonly secrets: ChannelSecrets | null;
  readonly at: number;
}
