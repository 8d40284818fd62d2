/** Stores the tenant's API keys by their keyed hashes. It never sees a key. */
import { runOnce } from "../../app/idempotency";
import type { Principal } from "../../app/principal";
import type { KeyInput, RotationInput, TenantError } from "../../app/tenant-api";
import type { ClientSettings } from "../../contract/client-settings";
import type { KeyView } from "../../contract/tenant";
import { type KeyId, parseId, type TenantId } from "../../domain/ids";
import type { Restriction } from "../../domain/key-restriction";
import { SCOPES, type Scope } from "../../domain/scopes";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";
import { createRequests } from "../shared/requests";

/**
 * The most active keys of a tenant. A key for each person and service, with a second one during a rotation, is far
 * below. All keys are one answer of `GET /v1/keys`.
 */
export const MAX_ACTIVE_KEYS = 100;
/** The most revoked and expired keys that are still listed, newest first. A tenant that rotates keys daily sees most of a year. */
export const MAX_ENDED_KEYS = 300;

export interface NewKey extends KeyInput {
  readonly at: number;
}

/** The time in milliseconds for which a later use of a key is not recorded. */
const USE_PRECISION_MS = 60_000;

export interface Rotation extends RotationInput {
  readonly at: number;
}

interface KeyLookUp {
  readonly hash: string;
  readonly beside?: string | null;
  readonly tenant: TenantId;
  readonly at: number;
}

export interface Keys {
  /** Adds a key. Call it inside a transaction. A repeated idempotency key returns the key that the first request made. */
  add(key: NewKey): Result<KeyView, TenantError>;
  /** Makes a key in place of another one. Call it inside a transaction. A repeated idempotency key returns the key that the first request made. */
  rotate(rotation: Rotation): Result<KeyView, TenantError>;
  /** All keys, newest first. */
  list(): readonly KeyView[];
  /** Revokes a key. Call it inside a transaction. A repeated revocation changes nothing: the first time stays. */
  revoke(id: KeyId, input: { readonly by: KeyId | null; readonly at: number }): Result<KeyView, TenantError>;
  /** The key of a caller, while it is valid. Refuses a key that has ended. */
  findActive(id: KeyId, at: number): Result<KeyView, TenantError>;
  /**
   * Null when the key is unknown, expired or revoked. The answer does not say which. A key that is stored under `beside`, its hash under
   * the other pepper of a rotation, is stored under `hash` instead.
   */
  authenticate(input: KeyLookUp): Principal | null;
  /** Records a use, at most once a minute. */
  noteUse(id: KeyId, at: number): void;
}

type KeyRow = {
  readonly id: string;
  readonly name: string;
  readonly scopes: string;
  readonly restriction: string | null;
  readonly clients: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly created_by: string | null;
  readonly revoked_by: string | null;
  readonly rotated_from: string | null;
  readonly rotated_to: string | null;
  readonly last_used_at: number | null;
};

const COLUMNS =
  "id, name, scopes, restriction, clients, created_at, expires_at, revoked_at, created_by, revoked_by, rotated_from, rotated_to, last_used_at";

function toKeyId(text: string): KeyId {
  const id = parseId("key", text);
  if (!id) throw new Error("A stored key id is malformed");
  return id;
}

const toKeyIdOrNull = (text: string | null): KeyId | null => (text === null ? null : toKeyId(text));

/** A scope that this build does not know grants nothing. */
function toScopes(stored: string): readonly Scope[] {
  const words = stored.split(" ");
  return SCOPES.filter((scope) => words.includes(scope));
}

const toRestriction = (stored: string | null): Restriction | null => (stored === null ? null : (JSON.parse(stored) as Restriction));
const DEFAULT_CLIENTS: ClientSettings = { session_header: null, on_disconnect: null, chat_instructions: null };
/** What an older build did not know is at its default. */
const toClients = (stored: string | null): ClientSettings | null =>
  stored === null ? null : { ...DEFAULT_CLIENTS, ...(JSON.parse(stored) as ClientSettings) };

function toView(row: KeyRow): KeyView {
  return {
    id: toKeyId(row.id),
    name: row.name,
    scopes: toScopes(row.scopes),
    restriction: toRestriction(row.restriction),
    clients: toClients(row.clients),
    created_at: row.created_at,
    expires_at: row.expires_at,
    revoked_at: row.revoked_at,
    created_by: toKeyIdOrNull(row.created_by),
    revoked_by: toKeyIdOrNull(row.revoked_by),
    rotated_from: toKeyIdOrNull(row.rotated_from),
    rotated_to: toKeyIdOrNull(row.rotated_to),
    last_used_at: row.last_used_at,
  };
}

const toPrincipal = (tenant: TenantId, { id: key, scopes, expires_at, restriction, clients }: KeyView): Principal => ({
  ...{ tenant, key, scopes, expires_at },
  ...(restriction && { restriction }),
  ...(clients && { clients }),
});

/** The first wanted scope that the key lacks. Null when it has all. */
const lackingScope = (key: KeyView, wanted: readonly Scope[]): Scope | null => wanted.find((scope) => !key.scopes.includes(scope)) ?? null;

/** A key that is there, and has a scope that the key that asks does not have. */
function refuseScopes(actor: KeyView, target: KeyView): TenantError | null {
  const lacking = lackingScope(actor, target.scopes);
  const detail = `it has the scope ${lacking}, which the key that asks does not have`;
  return lacking && { code: "beyond_own_key", field: "key_id", detail };
}

/** A new key that would live longer than the key that asks. Null: for ever. */
function refuseLonger({ expires_at: last }: KeyView, expiresAt: number | null, field: "expires_at" | "key_id"): TenantError | null {
  const detail = `the key that asks expires at ${last}: a key that it makes expires no later`;
  return last !== null && (expiresAt === null || expiresAt > last) ? { code: "beyond_own_key", field, detail } : null;
}

/** Why the key opens nothing any more. Null: it does. */
function findEnd({ revoked_at, expires_at }: KeyView, at: number): "revoked" | "expired" | null {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= at ? "expired" : null;
}

const ENDED = "(revoked_at IS NOT NULL OR expires_at <= ?)";

export function createKeys(sql: SyncSql): Keys {
  const requests = createRequests(sql);

  function find(id: string): Result<KeyView, TenantError> {
    const row = sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE id = ?`, id)[0];
    return row ? ok(toView(row)) : err({ code: "key_not_found", key: id });
  }
  /** The present state of the key that asks: an isolate may still have one cached that has ended. */
  function findActive(id: KeyId, at: number): Result<KeyView, TenantError> {
    const found = find(id);
    return found.ok && findEnd(found.value, at) === null ? found : err({ code: "own_key_ended" });
  }
  function refuseToMake({ by, scopes, expires_at, at }: NewKey): TenantError | null {
    if (by === null) return null;
    const actor = findActive(by, at);
    if (!actor.ok) return actor.error;
    const lacking = lackingScope(actor.value, scopes);
    if (lacking) return { code: "beyond_own_key", field: "scopes", detail: `the calling key does not have the scope ${lacking}` };
    return refuseLonger(actor.value, expires_at, "expires_at");
  }
  function refuseToRevoke(id: KeyId, { by, at }: { readonly by: KeyId | null; readonly at: number }): TenantError | null {
    if (by === null) return null;
    const actor = findActive(by, at);
    if (!actor.ok) return actor.error;
    const target = find(id);
    if (!target.ok) return target.error;
    return id === by ? null : refuseScopes(actor.value, target.value);
  }
  /** The rights of the new key are those of the old one: only a key that has them all may have them made again. */
  function refuseToRotate(target: KeyView, { by, at }: Rotation): TenantError | null {
    const actor = findActive(by, at);
    if (!actor.ok) return actor.error;
    const became = target.rotated_to === null ? findEnd(target, at) : "rotated";
    if (became) return { code: "key_ended", became, rotated_to: target.rotated_to };
    if (target.id === by) return null;
    return refuseScopes(actor.value, target) ?? refuseLonger(actor.value, target.expires_at, "key_id");
  }
  function countActive(at: number): number {
    return sql.rows<{ n: number }>(`SELECT count(*) AS n FROM keys WHERE NOT coalesce(${ENDED}, 0)`, at)[0]?.n ?? 0;
  }
  function forgetEnded(at: number): void {
    sql.rows(`DELETE FROM keys WHERE id IN (SELECT id FROM keys WHERE ${ENDED} ORDER BY id DESC LIMIT -1 OFFSET ?)`, at, MAX_ENDED_KEYS);
  }
  function insert({ id, hash, name, scopes, restriction, clients, expires_at, by, at }: NewKey): Result<KeyId, TenantError> {
    if (countActive(at) >= MAX_ACTIVE_KEYS) return err({ code: "key_limit", limit: MAX_ACTIVE_KEYS });
    forgetEnded(at);
    sql.rows(
      "INSERT INTO keys (id, hash, name, scopes, restriction, clients, created_at, expires_at, created_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      id,
      hash,
      name,
      scopes.join(" "),
      restriction && JSON.stringify(restriction),
      clients && JSON.stringify(clients),
      at,
      expires_at,
      by,
    );
    return ok(id);
  }
  const findByHash = (hash: string, at: number): KeyRow | null =>
    sql.rows<KeyRow>(
      `SELECT ${COLUMNS} FROM keys WHERE hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
      hash,
      at,
    )[0] ?? null;
  function storeAnew(before: string, { hash, at }: { readonly hash: string; readonly at: number }): KeyRow | null {
    const row = findByHash(before, at);
    if (row) sql.rows("UPDATE keys SET hash = ? WHERE id = ?", hash, row.id);
    return row;
  }
  function replace(rotation: Rotation): Result<KeyId, TenantError> {
    const { from, id, at, overlap_ms } = rotation;
    const target = find(from);
    if (!target.ok) return target;
    const refused = refuseToRotate(target.value, rotation);
    if (refused) return err(refused);
    const { name, scopes, restriction, clients, expires_at } = target.value;
    const made = insert({ ...rotation, name, scopes, restriction, clients, expires_at });
    if (!made.ok) return made;
    const end = Math.min(expires_at ?? Number.POSITIVE_INFINITY, at + overlap_ms);
    sql.rows("UPDATE keys SET rotated_from = ? WHERE id = ?", from, id);
    sql.rows("UPDATE keys SET rotated_to = ?, expires_at = ? WHERE id = ?", id, end, from);
    return made;
  }
  return {
    findActive,
    rotate: (rotation) => {
      const { idempotency, at } = rotation;
      const made = runOnce<string, TenantError>(requests, { idempotency, now: at }, () => replace(rotation));
      return made.ok ? find(made.value.outcome) : made;
    },
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
    authenticate: ({ hash, beside = null, tenant, at }) => {
      const row = findByHash(hash, at) ?? (beside === null ? null : storeAnew(beside, { hash, at }));
      return row ? toPrincipal(tenant, toView(row)) : null;
    },
    noteUse: (id, at) => {
      const before = at - USE_PRECISION_MS;
      sql.rows("UPDATE keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at <= ?, 1)", at, id, before);
    },
  };
}
