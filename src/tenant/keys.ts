/** The tenant's API keys, by their keyed hashes. It never sees a key. */
import { type KeyView, type Principal, SCOPES, type Scope, type TenantError } from "../app/tenant-api";
import { type KeyId, parseId, type TenantId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import type { TenantSql } from "./tenant-sql";

export interface NewKey {
  readonly id: KeyId;
  readonly hash: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: number | null;
  readonly at: number;
}

export interface Keys {
  add(key: NewKey): KeyView;
  /** Newest first. */
  list(): readonly KeyView[];
  /** Revoking again changes nothing: the first time stands. */
  revoke(id: KeyId, at: number): Result<KeyView, TenantError>;
  /** Null: unknown, expired or revoked; which one is nobody's business. */
  authenticate(input: { readonly hash: string; readonly tenant: TenantId; readonly at: number }): Principal | null;
}

type KeyRow = {
  readonly id: string;
  readonly name: string;
  readonly scopes: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
};

const COLUMNS = "id, name, scopes, created_at, expires_at, revoked_at";

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
  };
}

export function createKeys(sql: TenantSql): Keys {
  return {
    add: ({ id, hash, name, scopes, expires_at, at }) => {
      const stored = scopes.join(" ");
      sql.rows(
        "INSERT INTO keys (id, hash, name, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        hash,
        name,
        stored,
        at,
        expires_at,
      );
      return { id, name, scopes: toScopes(stored), created_at: at, expires_at, revoked_at: null };
    },
    list: () => sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM keys ORDER BY id DESC`).map(toView),
    revoke: (id, at) => {
      sql.rows("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", at, id);
      const row = sql.rows<KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE id = ?`, id)[0];
      return row ? ok(toView(row)) : err({ code: "key_not_found", key: id });
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
