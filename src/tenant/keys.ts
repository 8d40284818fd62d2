/** Stores the tenant's API keys by their keyed hashes. It never sees a key. */
import { runOnce } from "../app/idempotency";
import type { Principal } from "../app/principal";
import type { Idempotency } from "../app/session-api";
import type { TenantError } from "../app/tenant-api";
import type { KeyView } from "../contract/tenant";
import { type KeyId, parseId, type TenantId } from "../domain/ids";
import { SCOPES, type Scope } from "../domain/scopes";
import { err, ok, type Result } from "../lib/result";
import { createRequests } from "./requests";
import type { TenantSql } from "./tenant-sql";

/**
 * The most active keys of a tenant. A key for each person and service, with a second one during a rotation, is far
 * below. All keys are one answer of `GET /v1/keys`.
 */
export const MAX_ACTIVE_KEYS = 100;
/** The most revoked and expired keys that are still listed, newest first. A tenant that rotates keys daily sees most of a year. */
export const MAX_ENDED_KEYS = 300;

export interface NewKey {
  readonly id: KeyId;
  readonly hash: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: number | null;
  /** The key that asked. Null: the deployment's admin. */
  readonly by: KeyId | null;
  readonly at: number;
  readonly idempotency: Idempotency | null;
}

export interface Keys {
  /** Adds a key. Call it inside a transaction. A repeated idempotency key returns the key that the first request made. */
  add(key: NewKey): Result<KeyView, TenantError>;
  /** All keys, newest first. */
  list(): readonly KeyView[];
  /** Revokes a key. Call it inside a transaction. A repeated revocation changes nothing: the first time stays. */
  revoke(id: KeyId, input: { readonly by: KeyId | null; readonly at: number }): Result<KeyView, TenantError>;
  /** The key of a caller, while it is valid. Refuses a key that has ended. */
  findActive(id: KeyId, at: number): Result<KeyView, TenantError>;
  /** Null when the key is unknown, expired or revoked. The answer does not say which. */
  authenticate(input: { readonly hash: string; readonly tenant: TenantId; readonly at: number }): Principal | null;
}

type KeyRow = {
  readonly id: string;
  readonly name: string;
  readonly scopes: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly created_by: string | null;
  readonly revoked_by: string | null;
};

const COLUMNS = "id, name, scopes, created_at, expires_at, revoked_at, created_by, revoked_by";

function toKeyId(text: string): KeyId {
  const id = parseId("key", text);
  if (!id) throw new Error("A stored key id is malformed");
  return id;
}

/** A scope that this build does not know grants nothing. */
function toScopes(stored: string): readonly Scope[] {
  const words = stored.split(" ");
  return SCOPES.filter((scope) => words.includes(scope));
}

function toView(row: KeyRow): KeyView {
  return {
    id: toKeyId(row.id),
    name: row.name,
    scopes: toScopes(row.scopes),
    created_at: row.created_at,
    expires_at: row.expires_at,
    revoked_at: row.revoked_at,
    created_by: row.created_by === null ? null : toKeyId(row.created_by),
    revoked_by: row.revoked_by === null ? null : toKeyId(row.revoked_by),
  };
}

/** The first wanted scope that the key lacks. Null when it has all. */
const lackingScope = (key: KeyView, wanted: readonly Scope[]): Scope | null => wanted.find((scope) => !key.scopes.includes(scope)) ?? null;

const ENDED = "(revoked_at IS NOT NULL OR expires_at <= ?)";

export function createKeys(sql: TenantSql): Keys {
  const requests = createRequests(sql);

  function find(id: string): Result<KeyView, TenantError> {
    const row = sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE id = ?`, id)[0];
    return row ? ok(toView(row)) : err({ code: "key_not_found", key: id });
  }
  /** The present state of the key that asks: an isolate may still have one cached that has ended. */
  function findActive(id: KeyId, at: number): Result<KeyView, TenantError> {
    const found = find(id);
    if (!found.ok) return err({ code: "own_key_ended" });
    const { revoked_at, expires_at } = found.value;
    const hasEnded = revoked_at !== null || (expires_at !== null && expires_at <= at);
    return hasEnded ? err({ code: "own_key_ended" }) : found;
  }
  function refuseToMake({ by, scopes, expires_at, at }: NewKey): TenantError | null {
    if (by === null) return null;
    const actor = findActive(by, at);
    if (!actor.ok) return actor.error;
    const lacking = lackingScope(actor.value, scopes);
    if (lacking) return { code: "beyond_own_key", field: "scopes", detail: `the calling key does not have the scope ${lacking}` };
    const last = actor.value.expires_at;
    const isLonger = last !== null && (expires_at === null || expires_at > last);
    const detail = `the key that asks expires at ${last}: a key that it makes expires no later`;
    return isLonger ? { code: "beyond_own_key", field: "expires_at", detail } : null;
  }
  function refuseToRevoke(id: KeyId, { by, at }: { readonly by: KeyId | null; readonly at: number }): TenantError | null {
    if (by === null) return null;
    const actor = findActive(by, at);
    if (!actor.ok) return actor.error;
    const target = find(id);
    if (!target.ok) return target.error;
    const lacking = lackingScope(actor.value, target.value.scopes);
    const detail = `it has the scope ${lacking}, which the key that asks does not have`;
    return lacking && id !== by ? { code: "beyond_own_key", field: "key_id", detail } : null;
  }
  function countActive(at: number): number {
    return sql.rows<{ n: number }>(`SELECT count(*) AS n FROM keys WHERE NOT coalesce(${ENDED}, 0)`, at)[0]?.n ?? 0;
  }
  function forgetEnded(at: number): void {
    sql.rows(`DELETE FROM keys WHERE id IN (SELECT id FROM keys WHERE ${ENDED} ORDER BY id DESC LIMIT -1 OFFSET ?)`, at, MAX_ENDED_KEYS);
  }
  function insert({ id, hash, name, scopes, expires_at, by, at }: NewKey): Result<KeyId, TenantError> {
    if (countActive(at) >= MAX_ACTIVE_KEYS) return err({ code: "key_limit", limit: MAX_ACTIVE_KEYS });
    forgetEnded(at);
    const stored = scopes.join(" ");
    sql.rows(
      "INSERT INTO keys (id, hash, name, scopes, created_at, expires_at, created_by) VALUES (?, ?, ?, ?, ?, ?, ?)",
      id,
      hash,
      name,
      stored,
      at,
      expires_at,
      by,
    );
    return ok(id);
  }
  return {
    findActive,
    add: (key) => {
      const { idempotency, at } = key;
      const refused = refuseToMake(key);
      if (refused) return err(refused);
      const made = runOnce<string, TenantError>(requests, { idempotency, now: at }, () => insert(key));
      return made.ok ? find(made.value.outcome) : made;
    },
    list: () => sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM keys ORDER BY id DESC`).map(toView),
    revoke: (id, { by, at }) => {
      const refused = refuseToRevoke(id, { by, at });
      if (refused) return err(refused);
      sql.rows("UPDATE keys SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL", at, by, id);
      return find(id);
    },
    authenticate: ({ hash, tenant, at }) => {
      const row = sql.rows<KeyRow>(
        `SELECT ${COLUMNS} FROM keys WHERE hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
        hash,
        at,
      )[0];
      return row ? { tenant, key: toKeyId(row.id), scopes: toScopes(row.scopes), expires_at: row.expires_at } : null;
    },
  };
}
