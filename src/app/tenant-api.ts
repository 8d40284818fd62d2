/** What `http` and the sessions may ask of a tenant's object, which owns keys, the directory of sessions, models and the default policy. */
import type { PolicyChoice } from "../context/policy-choice";
import type { KeyId, SessionId, TenantId } from "../domain/ids";
import type { Result } from "../lib/result";
import type { ModelSpec } from "./ports";
import type { Idempotency } from "./session-api";

export const SCOPES = ["sessions:read", "sessions:write", "models:write", "keys:write"] as const;
export type Scope = (typeof SCOPES)[number];

/** Who a valid key speaks for. */
export interface Principal {
  readonly tenant: TenantId;
  readonly key: KeyId;
  readonly scopes: readonly Scope[];
  /** Epoch milliseconds; null: never. */
  readonly expires_at: number | null;
}

export interface KeyView {
  readonly id: KeyId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

export type TenantError =
  | { readonly code: "tenant_not_found" }
  | { readonly code: "tenant_exists" }
  | { readonly code: "key_not_found"; readonly key: string }
  | { readonly code: "model_not_found"; readonly model: string }
  | { readonly code: "idempotency_conflict" }
  /** `field` as the client wrote it: `default_policy.keep.ratio`. */
  | { readonly code: "invalid"; readonly field: string; readonly detail: string };

export type TenantOutcome<T> = Result<T, TenantError>;

export interface TenantSettings {
  readonly name: string;
  /** What a session gets that names none. */
  readonly default_model: string;
  /** A choice as settings store it; empty: what the deployment says. */
  readonly default_policy: string;
}

/** Absent: unchanged. A policy goes over the tenant's present one; null: again what the deployment says. */
export interface TenantChanges {
  readonly name?: string;
  readonly default_model?: string;
  readonly default_policy?: PolicyChoice | null;
}

export type ModelOverride = Omit<ModelSpec, "id" | "source">;

export interface TenantApi {
  create(input: { readonly tenant: TenantId; readonly name: string }): Promise<TenantOutcome<TenantSettings>>;
  settings(): Promise<TenantOutcome<TenantSettings>>;
  changeSettings(changes: TenantChanges): Promise<TenantOutcome<TenantSettings>>;

  /** `hash`: the keyed hash of the whole key; the key itself is never stored. */
  addKey(input: {
    readonly id: KeyId;
    readonly hash: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly expires_at: number | null;
  }): Promise<TenantOutcome<KeyView>>;
  listKeys(): Promise<TenantOutcome<readonly KeyView[]>>;
  revokeKey(id: KeyId): Promise<TenantOutcome<KeyView>>;
  /** Null: no such key, or expired, or revoked. */
  authenticate(hash: string): Promise<Principal | null>;

  /** Notes the session in the directory. With a key that was seen: the first request's session. */
  registerSession(input: {
    readonly session: SessionId;
    readonly idempotency: Idempotency | null;
  }): Promise<TenantOutcome<{ readonly session: SessionId; readonly replayed: boolean }>>;
  forgetSession(session: SessionId): Promise<TenantOutcome<null>>;
  listSessions(page: {
    readonly after: SessionId | null;
    readonly limit: number;
  }): Promise<
    TenantOutcome<{ readonly data: readonly { readonly id: SessionId; readonly created_at: number }[]; readonly has_more: boolean }>
  >;

  /** The tenant's own override, else the deployment's model, else null. */
  resolveModel(id: string): Promise<ModelSpec | null>;
  listModels(): Promise<TenantOutcome<readonly ModelSpec[]>>;
  putModel(id: string, model: ModelOverride): Promise<TenantOutcome<ModelSpec>>;
  deleteModel(id: string): Promise<TenantOutcome<null>>;
}

/** A tenant as the read model shows it: always the whole of it, so that a lost or doubled write does no harm. */
export interface TenantChange {
  readonly tenant: TenantId;
  readonly settings: TenantSettings;
  /** What the tenant can name: its own overrides and the deployment's models that they leave standing, by id. */
  readonly models: readonly ModelSpec[];
}

/** The read model of tenants. A write replaces what the tenant's last one said; it may throw, and is then repeated. */
export interface TenantProjection {
  write(change: TenantChange): Promise<void>;
}

/** Everything that a tenant's object knows but its directory of sessions (`listSessions`) and the hashes of its keys. */
export interface TenantExport extends TenantChange {
  readonly created_at: number;
  readonly keys: readonly KeyView[];
}

/** For rebuilding the read model and for people in charge; no route of a tenant reaches it. */
export interface TenantMaintenance {
  exportTenant(): Promise<TenantOutcome<TenantExport>>;
}
