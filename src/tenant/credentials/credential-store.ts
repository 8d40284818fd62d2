/** Stores the tenant's credentials sealed. The tenant's object has no master key and never sees one in the clear. */
import type { Resealed, SealedCredential, TenantError } from "../../app/tenant-api";
import type { CredentialView } from "../../contract/credential";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";

/** More than a tenant has providers. All credentials are returned in one answer and sealed again in one rotation. */
export const MAX_CREDENTIALS = 50;

type CredentialRow = {
  readonly name: string;
  readonly kid: string;
  readonly wrapped_key: string;
  readonly sealed: string;
  readonly created_at: number;
  readonly updated_at: number;
};

export interface CredentialStore {
  has(name: string): boolean;
  /** Stores a credential. Replacing an existing one is never refused. */
  put(name: string, sealed: SealedCredential, at: number): Result<null, TenantError>;
  /** All credentials by name, without the models that use them. */
  list(): readonly Omit<CredentialView, "models">[];
  remove(name: string): Result<null, TenantError>;
  sealed(name: string): SealedCredential | null;
  allSealed(): readonly { readonly name: string; readonly sealed: SealedCredential }[];
  /** Replaces the credentials that have not changed since they were read, and returns their number. A concurrent `put` wins. */
  replace(resealed: readonly Resealed[]): number;
}

const toSealed = ({ kid, wrapped_key, sealed }: CredentialRow): SealedCredential => ({ kid, wrapped_key, sealed });

export function createCredentialStore(sql: SyncSql): CredentialStore {
  const find = (name: string): CredentialRow | undefined => sql.rows<CredentialRow>("SELECT * FROM credentials WHERE name = ?", name)[0];
  const count = (): number => sql.rows<{ n: number }>("SELECT count(*) AS n FROM credentials")[0]?.n ?? 0;
  const all = (): readonly CredentialRow[] => sql.rows<CredentialRow>("SELECT * FROM credentials ORDER BY name");

  function replaceOne({ name, before, after }: Resealed): number {
    const taken = sql.rows(
      "UPDATE credentials SET kid = ?, wrapped_key = ? WHERE name = ? AND wrapped_key = ? AND sealed = ? RETURNING name",
      after.kid,
      after.wrapped_key,
      name,
      before.wrapped_key,
      before.sealed,
    );
    return taken.length;
  }
  return {
    has: (name) => find(name) !== undefined,
    put: (name, { kid, wrapped_key, sealed }, at) => {
      if (!find(name) && count() >= MAX_CREDENTIALS) return err({ code: "credential_limit", limit: MAX_CREDENTIALS });
      sql.rows(
        `INSERT INTO credentials (name, kid, wrapped_key, sealed, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET kid = excluded.kid, wrapped_key = excluded.wrapped_key, sealed = excluded.sealed,
           updated_at = excluded.updated_at`,
        name,
        kid,
        wrapped_key,
        sealed,
        at,
        at,
      );
      return ok(null);
    },
    list: () => all().map(({ name, kid, created_at, updated_at }) => ({ name, key_id: kid, created_at, updated_at })),
    remove: (name) => {
      const removed = sql.rows("DELETE FROM credentials WHERE name = ? RETURNING name", name);
      return removed.length > 0 ? ok(null) : err({ code: "credential_not_found", credential: name });
    },
    sealed: (name) => {
      const row = find(name);
      return row ? toSealed(row) : null;
    },
    allSealed: () => all().map((row) => ({ name: row.name, sealed: toSealed(row) })),
    replace: (resealed) => resealed.reduce((replaced, each) => replaced + replaceOne(each), 0),
  };
}
