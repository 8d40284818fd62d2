/** What `http` and the sessions may ask of a tenant's object, which owns keys, the directory of sessions, models and the default policy. */
import type { PolicyChoice } from "../context/policy-choice";
import type { ErasedUsage } from "../domain/erased-usage";
import type { KeyId, SessionId, TenantId } from "../domain/ids";
import type { Result } from "../lib/result";
import type { RowDifference, RowSnapshot } from "./diff-rows";
import type { LimitSuggestion, ModelEntry, ModelOverride, SuggestedLimit } from "./model-entry";
import type { ModelSpec } from "./ports";
import type { Idempotency } from "./session-api";
import type { HttpTool, HttpToolEntry, McpListing, McpServer, McpServerEntry } from "./tool-entry";

export const SCOPES = ["sessions:read", "sessions:write", "models:write", "tools:write", "keys:write"] as const;
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
  /** Null: the deployment's admin, or an older build that did not record it. */
  readonly created_by: KeyId | null;
  /** Null also while it is not revoked. */
  readonly revoked_by: KeyId | null;
}

export type TenantError =
  | { readonly code: "tenant_not_found" }
  | { readonly code: "tenant_exists" }
  /** Its erasure is under way. */
  | { readonly code: "session_erased" }
  | { readonly code: "key_not_found"; readonly key: string }
  /** A key makes and revokes no key that can more, or lasts longer, than itself. `field` as the client wrote it. */
  | { readonly code: "beyond_own_key"; readonly field: "scopes" | "expires_at" | "key_id"; readonly detail: string }
  /** The key that asks has ended since it was looked up. */
  | { readonly code: "own_key_ended" }
  /** As many as a tenant can have are there already. */
  | { readonly code: "key_limit"; readonly limit: number }
  | { readonly code: "model_limit"; readonly limit: number }
  | { readonly code: "model_not_found"; readonly model: string }
  /** The deployment's, which a tenant can override and not remove. */
  | { readonly code: "model_not_own"; readonly model: string }
  /** Sessions that name no model get it. */
  | { readonly code: "model_is_default"; readonly model: string }
  | { readonly code: "credential_not_found"; readonly credential: string }
  | { readonly code: "credential_limit"; readonly limit: number }
  | { readonly code: "tool_not_found"; readonly tool: string }
  | { readonly code: "mcp_server_not_found"; readonly server: string }
  /** `of`: HTTP tools, or MCP servers. */
  | { readonly code: "tool_limit"; readonly of: "tools" | "mcp_servers"; readonly limit: number }
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

export interface ErasedSessionUsage {
  readonly session: SessionId;
  readonly usage: readonly ErasedUsage[];
}

export interface SessionPage {
  readonly data: readonly { readonly id: SessionId; readonly created_at: number }[];
  readonly has_more: boolean;
}

/** Absent: unchanged. A policy goes over the tenant's present one; null: again what the deployment says. */
interface TenantChanges {
  readonly name?: string;
  readonly default_model?: string;
  readonly default_policy?: PolicyChoice | null;
}

/** A credential as the tenant's object keeps it: what it says can be read with a master key of the deployment only. */
export interface SealedCredential {
  /** Which master key sealed the data key. */
  readonly kid: string;
  /** The credential's own data key, under the master key: nonce and ciphertext in base64. */
  readonly wrapped_key: string;
  /** The credential under its data key: nonce and ciphertext in base64. */
  readonly sealed: string;
}

/** A credential as it is shown: never it, nor any part of it. */
export interface CredentialView {
  readonly name: string;
  /** Which of the deployment's master keys seals it. */
  readonly key_id: string;
  readonly created_at: number;
  /** When it was last put; sealing it again under another master key is no change. */
  readonly updated_at: number;
  /** Ids of the tenant's models that are called with it. */
  readonly models: readonly string[];
}

/** A credential sealed anew, and how it was sealed before: whoever put another one meanwhile wins. */
export interface Resealed {
  readonly name: string;
  readonly before: SealedCredential;
  readonly after: SealedCredential;
}

/** `names` null: all of them, by name; else those of them that there are. */
export interface TenantToolsApi {
  listTools(names: readonly string[] | null): Promise<TenantOutcome<readonly HttpToolEntry[]>>;
  /** Putting one that is there replaces it; sessions that offer it call what is there now. */
  putTool(name: string, tool: HttpTool): Promise<TenantOutcome<HttpToolEntry>>;
  deleteTool(name: string): Promise<TenantOutcome<null>>;
  listMcpServers(names: readonly string[] | null): Promise<TenantOutcome<readonly McpServerEntry[]>>;
  /** With what it was just found to have. `unchanged`: only if the server is as it was then, in epoch milliseconds of its last change; absent: whatever is there. */
  putMcpServer(input: {
    readonly name: string;
    readonly server: McpServer;
    readonly listing: McpListing;
    readonly unchanged?: number;
  }): Promise<TenantOutcome<McpServerEntry>>;
  deleteMcpServer(name: string): Promise<TenantOutcome<null>>;
}

export interface TenantApi extends TenantToolsApi {
  /** With a key that was seen: the first request's outcome, `replayed`. */
  create(input: {
    readonly tenant: TenantId;
    readonly name: string;
    readonly idempotency: Idempotency | null;
  }): Promise<TenantOutcome<{ readonly replayed: boolean }>>;
  settings(): Promise<TenantOutcome<TenantSettings>>;
  changeSettings(changes: TenantChanges): Promise<TenantOutcome<TenantSettings>>;

  /**
   * `hash`: the keyed hash of the whole key; the key itself is never stored. With an idempotency key that was seen: the
   * first request's key, as it is now; another `id` than was given says so.
   */
  addKey(input: {
    readonly id: KeyId;
    readonly hash: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly expires_at: number | null;
    /** The key that asks; null: the deployment's admin, who is not bound by one. */
    readonly by: KeyId | null;
    readonly idempotency: Idempotency | null;
  }): Promise<TenantOutcome<KeyView>>;
  listKeys(): Promise<TenantOutcome<readonly KeyView[]>>;
  revokeKey(id: KeyId, by: KeyId | null): Promise<TenantOutcome<KeyView>>;
  /** Null: no such key, or expired, or revoked. */
  authenticate(hash: string): Promise<Principal | null>;

  /** Notes the session in the directory. With a key that was seen: the first request's session. */
  registerSession(input: {
    readonly session: SessionId;
    readonly idempotency: Idempotency | null;
  }): Promise<TenantOutcome<{ readonly session: SessionId; readonly replayed: boolean }>>;
  /** Takes a session that was never made out of the directory. */
  forgetSession(session: SessionId): Promise<TenantOutcome<null>>;
  /** Notes that the session is to be erased, if the directory, an earlier note or the caller knows that it was. */
  beginErasure(input: { readonly session: SessionId; readonly isKnown: boolean }): Promise<TenantOutcome<{ readonly noted: boolean }>>;
  /** Every store has reported: the session leaves the directory with the note. */
  endErasure(session: SessionId): Promise<TenantOutcome<null>>;
  listSessions(page: { readonly after: SessionId | null; readonly limit: number }): Promise<TenantOutcome<SessionPage>>;
  /**
   * Takes over what a session's calls come to, before its log is wiped, and returns what is kept of it. Handing the same over again
   * changes nothing; handing nothing over only asks.
   */
  keepUsage(input: { readonly session: SessionId; readonly usage: readonly ErasedUsage[] }): Promise<TenantOutcome<readonly ErasedUsage[]>>;

  /** The tenant's own override, else the deployment's model, else null. */
  resolveModel(id: string): Promise<ModelSpec | null>;
  listModels(): Promise<TenantOutcome<readonly ModelEntry[]>>;
  getModel(id: string): Promise<TenantOutcome<ModelEntry>>;
  putModel(id: string, model: ModelOverride): Promise<TenantOutcome<ModelEntry>>;
  deleteModel(id: string): Promise<TenantOutcome<null>>;
  /** Keeps what somebody else says a model's limits are, beside what the registry says; only a `putModel` adopts it. */
  suggestLimit(suggested: SuggestedLimit): Promise<TenantOutcome<readonly LimitSuggestion[]>>;

  /** Putting one that is there replaces it. */
  putCredential(input: { readonly name: string; readonly sealed: SealedCredential }): Promise<TenantOutcome<CredentialView>>;
  /** By name. */
  listCredentials(): Promise<TenantOutcome<readonly CredentialView[]>>;
  /** Models that name it are not called any more, never with the deployment's in its place. */
  deleteCredential(name: string): Promise<TenantOutcome<null>>;
  /** For where a model is called; null: there is none of that name. */
  sealedCredential(name: string): Promise<SealedCredential | null>;
}

/** A tenant as the read model shows it: always the whole of it, so that a lost or doubled write does no harm. */
export interface TenantChange {
  readonly tenant: TenantId;
  readonly settings: TenantSettings;
  /** What the tenant can name: its own overrides and the deployment's models that they leave standing, by id. */
  readonly models: readonly ModelEntry[];
}

/** The read model of tenants. A write replaces what the tenant's last one said; it may throw, and is then repeated. */
export interface TenantProjection {
  write(change: TenantChange): Promise<void>;
}

/** Everything that a tenant's object knows but its directory of sessions (`listSessions`), its tools, the hashes of its keys and its credentials. */
export interface TenantExport extends TenantChange {
  readonly created_at: number;
  readonly keys: readonly KeyView[];
}

/** For rebuilding the read model and for people in charge; no route of a tenant reaches it. */
export interface TenantMaintenance {
  exportTenant(): Promise<TenantOutcome<TenantExport>>;
  /** Writes the tenant's rows again. The object does it itself, so that no older truth overtakes a newer one. */
  projectAgain(): Promise<TenantOutcome<null>>;
  /** What is kept of erased sessions, in order of their ids; fewer sessions than asked for: the last page. */
  listErasedUsage(page: {
    readonly after: SessionId | null;
    readonly sessions: number;
  }): Promise<TenantOutcome<readonly ErasedSessionUsage[]>>;
  /** All of them, by name. */
  sealedCredentials(): Promise<TenantOutcome<readonly { readonly name: string; readonly sealed: SealedCredential }[]>>;
  /** Takes those that are still sealed as before; how many that were. */
  replaceSealed(resealed: readonly Resealed[]): Promise<TenantOutcome<{ readonly replaced: number }>>;
}

/** A tenant's rows in the read model, and what they should be. */
export interface TenantRows {
  /** Bounded: a tenant's models are few. */
  read(tenant: TenantId): Promise<RowSnapshot>;
  expect(change: TenantChange): RowSnapshot;
  /** Sessions that have a row, newest first: also those that the tenant's directory does not know. */
  listSessions(page: { readonly tenant: TenantId; readonly after: SessionId | null; readonly limit: number }): Promise<SessionPage>;
  /** Compares the usage of erased sessions behind `after` and up to `upTo` (null: all that follow) with what it should be, and mends it. */
  mendErasedUsage(input: {
    readonly tenant: TenantId;
    readonly after: SessionId | null;
    readonly upTo: SessionId | null;
    readonly usage: readonly ErasedSessionUsage[];
  }): Promise<{ readonly differences: readonly RowDifference[]; readonly rows: number }>;
}
