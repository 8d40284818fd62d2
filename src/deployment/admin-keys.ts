/** Stores the admin keys by their keyed hashes. It never sees a key. Methods that change rows are called inside a transaction. */
import type {
  AdminKeyError,
  AdminKeyOutcome,
  AdminKeyRevocation,
  AdminKeyRotation,
  AdminPrincipal,
  DeploymentApi,
  NewAdminKey,
  NewSecret,
} from "../app/deployment-api";
import { IDEMPOTENCY_TTL_MS, type OutcomeStore, runOnce } from "../app/idempotency";
import type { AdminKeyView } from "../contract/deployment";
import { ADMIN_ROLES } from "../domain/admin-roles";
import { type AdminKeyId, parseId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import type { SyncSql } from "../lib/sync-sql";

/** A key for each person and service, with a second one during a rotation, is far below. */
export const MAX_ACTIVE_ADMIN_KEYS = 100;
/** The most revoked and expired keys that are still listed, newest first. */
export const MAX_ENDED_ADMIN_KEYS = 300;
/** A use is noted only if the last noted one is older: a key that is used all the time is written once a minute. */
export const USE_PRECISION_MS = 60_000;

/** `beside`: under the other pepper of a rotation. Null: none is under way. */
interface KeyHashes {
  readonly hash: string;
  readonly beside: string | null;
}

export interface AdminKeys {
  add(key: NewAdminKey, at: number): AdminKeyOutcome;
  list(): readonly AdminKeyView[];
  find(id: AdminKeyId): AdminKeyOutcome;
  /** A repeated revocation changes nothing: the first time stays. */
  revoke(revocation: AdminKeyRevocation, at: number): AdminKeyOutcome;
  rotate(rotation: AdminKeyRotation, at: number): AdminKeyOutcome;
  authenticate(hashes: KeyHashes, at: number): Awaited<ReturnType<DeploymentApi["authenticateAdmin"]>>;
  noteUse(id: AdminKeyId, at: number): void;
}

type KeyRow = { readonly [C in keyof AdminKeyView]: C extends "created_at" ? number : string | number | null };

const COLUMNS = "id, name, role, created_at, expires_at, revoked_at, created_by, revoked_by, rotated_from, rotated_to, last_used_at";
const ENDED = "(revoked_at IS NOT NULL OR expires_at <= ?)";

function toKeyId(text: unknown): AdminKeyId {
  const id = parseId("adm", String(text));
  if (!id) throw new Error("A stored admin key id is malformed");
  return id;
}

const toIdOrNull = (text: unknown): AdminKeyId | null => (text === null ? null : toKeyId(text));
const toTime = (cell: unknown): number | null => (typeof cell === "number" ? cell : null);

/** A role that this build does not know may read. */
const toRole = (stored: unknown) => ADMIN_ROLES.find((role) => role === stored) ?? "read";

const toView = (row: KeyRow): AdminKeyView => ({
  id: toKeyId(row.id),
  name: String(row.name),
  role: toRole(row.role),
  created_at: row.created_at,
  expires_at: toTime(row.expires_at),
  revoked_at: toTime(row.revoked_at),
  created_by: toIdOrNull(row.created_by),
  revoked_by: toIdOrNull(row.revoked_by),
  rotated_from: toIdOrNull(row.rotated_from),
  rotated_to: toIdOrNull(row.rotated_to),
  last_used_at: toTime(row.last_used_at),
});

/** When the key ends by itself. */
const findEnd = ({ expires_at }: Pick<AdminKeyView, "expires_at">): number => expires_at ?? Number.POSITIVE_INFINITY;
const hasEnded = (key: AdminKeyView, at: number): boolean => key.revoked_at !== null || findEnd(key) <= at;

/** The requests that made keys are kept with what they made. */
function createKeyRequests(sql: SyncSql): OutcomeStore<string> {
  return {
    find: (key, now) =>
      sql.rows<{ digest: string; outcome: string }>(
        "SELECT request_digest AS digest, id AS outcome FROM admin_keys WHERE request = ? AND created_at > ? ORDER BY id DESC LIMIT 1",
        key,
        now - IDEMPOTENCY_TTL_MS,
      )[0] ?? null,
    keep: ({ key, digest }, { outcome }) => {
      sql.rows("UPDATE admin_keys SET request = ?, request_digest = ? WHERE id = ?", key, digest, outcome);
    },
  };
}

interface NewRow extends NewSecret, Pick<AdminKeyView, "name" | "role" | "expires_at" | "created_by" | "rotated_from"> {}

export function createAdminKeys(sql: SyncSql): AdminKeys {
  const requests = createKeyRequests(sql);
  const list = (): readonly AdminKeyView[] => sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM admin_keys ORDER BY id DESC`).map(toView);

  function find(id: string): Result<AdminKeyView, Extract<AdminKeyError, { readonly code: "key_not_found" }>> {
    const row = sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM admin_keys WHERE id = ?`, id)[0];
    return row ? ok(toView(row)) : err({ code: "key_not_found", key: id });
  }
  function findByHash(hash: string, at: number): AdminKeyView | undefined {
    const [row] = sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM admin_keys WHERE hash = ? AND NOT coalesce(${ENDED}, 0)`, hash, at);
    return row && toView(row);
  }
  /** A key that was not used since the pepper was rotated. */
  function storeAnew(beside: string, { hash, at }: { readonly hash: string; readonly at: number }): AdminKeyView | undefined {
    const key = findByHash(beside, at);
    if (key) sql.rows("UPDATE admin_keys SET hash = ? WHERE id = ?", hash, key.id);
    return key;
  }
  /** Refuses what would outlive the calling key, whose present state counts: an isolate may still have one cached that has ended. */
  function refuseBeyond(
    by: AdminKeyId | null,
    end: number,
    { field, at }: { readonly field: "expires_at" | "key_id"; readonly at: number },
  ) {
    const actor = by === null ? null : find(by);
    if (!actor) return null;
    if (!actor.ok || hasEnded(actor.value, at)) return err({ code: "own_key_ended" } as const);
    const detail = `the calling key expires at ${actor.value.expires_at}, and this one later`;
    return end > findEnd(actor.value) ? err({ code: "beyond_own_key", field, detail } as const) : null;
  }
  /** Until when there is an owner, without the key `but`. */
  function findLastOwned(at: number, but?: AdminKeyId): number {
    const owners = list().filter((key) => key.role === "own" && !hasEnded(key, at) && key.id !== but);
    return Math.max(0, ...owners.map(findEnd));
  }
  function insert({ id, hash, name, role, expires_at, created_by, rotated_from }: NewRow, at: number): Result<string, AdminKeyError> {
    const active = sql.rows<{ n: number }>(`SELECT count(*) AS n FROM admin_keys WHERE NOT coalesce(${ENDED}, 0)`, at)[0]?.n ?? 0;
    if (active >= MAX_ACTIVE_ADMIN_KEYS) return err({ code: "key_limit", limit: MAX_ACTIVE_ADMIN_KEYS });
    const ended = `SELECT id FROM admin_keys WHERE ${ENDED} ORDER BY id DESC LIMIT -1 OFFSET ?`;
    sql.rows(`DELETE FROM admin_keys WHERE id IN (${ended})`, at, MAX_ENDED_ADMIN_KEYS);
    sql.rows(
      `INSERT INTO admin_keys (id, hash, name, role, created_at, expires_at, created_by, rotated_from) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      hash,
      name,
      role,
      at,
      expires_at,
      created_by,
      rotated_from,
    );
    return ok(id);
  }
  function insertNext({ old: id, next, overlap, by }: AdminKeyRotation, at: number): Result<string, AdminKeyError> {
    const found = find(id);
    if (!found.ok) return found;
    const old = found.value;
    if (old.rotated_to !== null) return err({ code: "key_ended", became: "rotated", rotated_to: old.rotated_to });
    if (hasEnded(old, at)) return err({ code: "key_ended", became: old.revoked_at === null ? "expired" : "revoked", rotated_to: null });
    const refused = refuseBeyond(by, findEnd(old), { field: "key_id", at });
    if (refused) return refused;
    const { name, role, expires_at } = old;
    const made = insert({ ...next, name, role, expires_at, created_by: by, rotated_from: id }, at);
    if (!made.ok) return made;
    const end = Math.min(findEnd(old), at + overlap);
    sql.rows("UPDATE admin_keys SET expires_at = ?, rotated_to = ? WHERE id = ?", end, next.id, id);
    return made;
  }

  return {
    list,
    find,
    add: (key, at) => {
      const { idempotency, by, expires_at } = key;
      const refused = refuseBeyond(by, findEnd(key), { field: "expires_at", at });
      if (refused) return refused;
      const row = { ...key, expires_at, created_by: by, rotated_from: null };
      const made = runOnce<string, AdminKeyError>(requests, { idempotency, now: at }, () => insert(row, at));
      return made.ok ? find(made.value.outcome) : made;
    },
    revoke: ({ id, by, hasAdminKey }, at) => {
      const found = find(id);
      if (!found.ok) return found;
      const refused = id === by ? null : refuseBeyond(by, findEnd(found.value), { field: "key_id", at });
      if (refused) return refused;
      if (!hasAdminKey && findLastOwned(at, id) < findLastOwned(at)) return err({ code: "last_owner" });
      sql.rows("UPDATE admin_keys SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL", at, by, id);
      return find(id);
    },
    rotate: (rotation, at) => {
      const { idempotency } = rotation;
      const made = runOnce<string, AdminKeyError>(requests, { idempotency, now: at }, () => insertNext(rotation, at));
      return made.ok ? find(made.value.outcome) : made;
    },
    authenticate: ({ hash, beside }, at) => {
      const key = findByHash(hash, at) ?? (beside === null ? undefined : storeAnew(beside, { hash, at }));
      return key ? ({ key: key.id, role: key.role, expires_at: key.expires_at } satisfies AdminPrincipal) : null;
    },
    noteUse: (id, at) => {
      const before = at - USE_PRECISION_MS;
      sql.rows("UPDATE admin_keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) <= ?", at, id, before);
    },
  };
}
