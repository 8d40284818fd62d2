/** What `http` and the sessions may ask of a tenant's object, which owns keys, the directory of sessions, models and the default policy. */
import type { PolicyChoice } from "../context/policy-choice";
import type { ClientSettings } from "../contract/client-settings";
import type { CredentialView } from "../contract/credential";
import type { ListedTenant } from "../contract/deployment";
import type { LimitSet } from "../contract/limits";
import type { LimitSuggestion } from "../contract/model";
import type { HttpTool, HttpToolEntry, McpServer } from "../contract/registered-tool";
import type { KeyView } from "../contract/tenant";
import type { ErasedUsage } from "../domain/erased-usage";
import type { KeyId, SessionId, TenantId } from "../domain/ids";
import type { Restriction } from "../domain/key-restriction";
import type { ErasureCause } from "../domain/retention-actions";
import type { Scope } from "../domain/scopes";
import type { Standing } from "../domain/tenant-status";
import type { Result } from "../lib/result";
import type { Act } from "./audit-chain";
import type { KnownBudgets } from "./budget-counters";
import type { ChannelError } from "./channel-error";
import type { Condition, UnmetCondition } from "./conditions";
import type { ModelEntry, ModelOverride, SuggestedLimit } from "./model-entry";
import type { Placement } from "./placement";
import type { ModelSpec } from "./ports";
import type { Principal } from "./principal";
import type { Idempotency } from "./session-api";
import type { TenantLimitsApi } from "./tenant-limits-api";
import type { McpListing, McpServerEntry } from "./tool-entry";
import type { TransferError } from "./transfer-api";

type BeyondKeyField = "scopes" | "expires_at" | "expires_in" | "key_id" | "session_id" | "end_user" | "metadata";

export type TenantError =
  | { readonly code: "tenant_not_found" }
  | { readonly code: "tenant_exists" }
  /** Nothing of the tenant is served to its own keys. */
  | { readonly code: "tenant_suspended" }
  /** The session's erasure has begun. */
  | { readonly code: "session_erased" }
  /** Another session of the tenant has this external id. */
  | { readonly code: "external_id_taken"; readonly session: SessionId }
  | { readonly code: "key_not_found"; readonly key: string }
  /** A key cannot create or revoke a key with more scopes or a longer life than its own, nor go beyond its restriction. `field` is named as the client wrote it. */
  | { readonly code: "beyond_own_key"; readonly field: BeyondKeyField; readonly detail: string }
  /** The key is valid no more, or another key has come in its place already. */
  | { readonly code: "key_ended"; readonly became: "revoked" | "expired" | "rotated"; readonly rotated_to: KeyId | null }
  /** The calling key was revoked or expired after it was looked up. */
  | { readonly code: "own_key_ended" }
  /** The tenant has as many keys as it may have. */
  | { readonly code: "key_limit"; readonly limit: number }
  | { readonly code: "model_limit"; readonly limit: number }
  /** The tenant has as many sessions as it may have. */
  | { readonly code: "session_limit"; readonly of: "tenant" | "end_user"; readonly limit: number }
  | { readonly code: "model_not_found"; readonly model: string }
  /** The model belongs to the deployment: a tenant can override it, but not remove it. */
  | { readonly code: "model_not_own"; readonly model: string }
  /** The model is the default for sessions that name none. */
  | { readonly code: "model_is_default"; readonly model: string }
  | { readonly code: "credential_not_found"; readonly credential: string }
  | { readonly code: "credential_limit"; readonly limit: number }
  | { readonly code: "tool_not_found"; readonly tool: string }
  | { readonly code: "mcp_server_not_found"; readonly server: string }
  /** `of`: HTTP tools, or MCP servers. */
  | { readonly code: "tool_limit"; readonly of: "tools" | "mcp_servers"; readonly limit: number }
  | { readonly code: "erasure_not_found"; readonly erasure: string }
  | { readonly code: "file_not_found"; readonly file: string }
  /** `of`: the number of the tenant's files, or their bytes. */
  | { readonly code: "file_limit"; readonly of: "files" | "bytes"; readonly limit: number }
  | ChannelError
  | TransferError
  | { readonly code: "webhook_endpoint_not_found"; readonly endpoint: string }
  | { readonly code: "webhook_delivery_not_found"; readonly delivery: string }
  | { readonly code: "webhook_endpoint_limit"; readonly limit: number }
  /** It is sent nothing until it is enabled. */
  | { readonly code: "webhook_endpoint_disabled"; readonly endpoint: string }
  | { readonly code: "idempotency_conflict" }
  | UnmetCondition
  /** `field` is named as the client wrote it: `default_policy.keep.ratio`. */
  | { readonly code: "invalid"; readonly field: string; readonly detail: string };

export type TenantOutcome<T> = Result<T, TenantError>;

export interface TenantSettings {
  readonly name: string;
  /** For sessions that name no model. */
  readonly default_model: string;
  /** A policy choice as settings store it. Empty: the deployment's policy. */
  readonly default_policy: string;
  /** The web origins whose pages may send requests, as browsers write them. */
  readonly allowed_origins: readonly string[];
}

export interface ErasedSessionUsage {
  /** Of throwaway sessions: the id of their day (`toDaySession`), except where a session reports its own end. */
  readonly session: SessionId;
  readonly usage: readonly ErasedUsage[];
  /** Why the session is erased. Absent: a request asked for it. */
  readonly cause?: ErasureCause;
}

export interface SessionRegistration {
  readonly session: SessionId;
  readonly idempotency: Idempotency | null;
  /** Unique in the tenant. Absent or null: none. */
  readonly external_id?: string | null;
  /** The end user, in the client's own words. Absent or null: none. The tenant's object keeps a digest of it. */
  readonly end_user?: string | null;
  /** The conversation of a channel that the session is of. Absent: none. */
  readonly chat?: { readonly channel: string; readonly conversation: string };
  /** The session of which this one is a copy. Absent: none. */
  readonly source?: SessionId | null;
  /** Takes over the session that has the external id already. Absent: such a session is a conflict. */
  readonly adopt?: true;
}

export interface SessionPage {
  readonly data: readonly { readonly id: SessionId; readonly created_at: number }[];
  readonly has_more: boolean;
}

/** An absent field is unchanged, and null returns to the deployment's default. A policy is merged over the tenant's current one. */
interface TenantChanges {
  readonly name?: string;
  readonly default_model?: string | null;
  readonly default_policy?: PolicyChoice | null;
  readonly allowed_origins?: readonly string[];
}

/** A credential as the tenant's object stores it. Only a master key of the deployment can open it. */
export interface SealedCredential {
  /** The id of the master key that sealed the data key. */
  readonly kid: string;
  /** The credential's own data key, sealed under the master key: nonce and ciphertext in base64. */
  readonly wrapped_key: string;
  /** The credential, sealed under its data key: nonce and ciphertext in base64. */
  readonly sealed: string;
}

/** A credential sealed anew, with its previous sealed form: a credential that was put again meanwhile is left as it is. */
export interface Resealed {
  readonly name: string;
  readonly before: SealedCredential;
  readonly after: SealedCredential;
}

/** `names`: only those that exist are returned; null: all, sorted by name. */
export interface TenantToolsApi {
  listTools(names: readonly string[] | null): Promise<TenantOutcome<readonly HttpToolEntry[]>>;
  /** Replaces a tool of the same name. Sessions that offer it call the new one. */
  putTool(act: Act, name: string, tool: HttpTool, condition?: Condition): Promise<TenantOutcome<HttpToolEntry>>;
  deleteTool(act: Act, name: string, condition?: Condition): Promise<TenantOutcome<null>>;
  listMcpServers(names: readonly string[] | null): Promise<TenantOutcome<readonly McpServerEntry[]>>;
  /**
   * Stores a server with its listing. `unchanged`: store only if the server's last change was at this time, in epoch milliseconds
   * (otherwise the newer entry stays); absent: store in any case.
   */
  putMcpServer(
    act: Act,
    input: {
      readonly name: string;
      readonly server: McpServer;
      readonly listing: McpListing;
      readonly unchanged?: number;
      readonly condition?: Condition | undefined;
    },
  ): Promise<TenantOutcome<McpServerEntry>>;
  deleteMcpServer(act: Act, name: string, condition?: Condition): Promise<TenantOutcome<null>>;
}

export interface KeyInput {
  readonly id: KeyId;
  readonly hash: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly restriction: Restriction | null;
  readonly clients: ClientSettings | null;
  /** Epoch milliseconds. Null: the key never expires. */
  readonly expires_at: number | null;
  /** The key of the caller. Null: the deployment's admin, who is not limited by a key's rights. */
  readonly by: KeyId | null;
  readonly idempotency: Idempotency | null;
}

export interface RotationInput extends Pick<KeyInput, "id" | "hash" | "idempotency"> {
  readonly from: KeyId;
  readonly overlap_ms: number;
  /** The key of the caller. */
  readonly by: KeyId;
}

/** A call that names an act first makes its entry in the audit log in the same transaction. */
export interface TenantApi extends TenantToolsApi, TenantLimitsApi {
  /** With a repeated idempotency key: the first request's outcome, with `replayed` set. `database`: absent, the first one. */
  create(
    act: Act,
    input: {
      readonly tenant: TenantId;
      readonly name: string;
      readonly database?: string;
      readonly idempotency: Idempotency | null;
    },
  ): Promise<TenantOutcome<{ readonly replayed: boolean }>>;
  settings(): Promise<TenantOutcome<TenantSettings>>;
  changeSettings(act: Act, changes: TenantChanges, condition?: Condition): Promise<TenantOutcome<TenantSettings>>;

  /**
   * `hash`: the keyed hash of the whole key; the key itself is never stored. With a repeated idempotency key: the first request's key in
   * its current state; its `id` then differs from the given one.
   */
  addKey(act: Act, input: KeyInput): Promise<TenantOutcome<KeyView>>;
  /**
   * Makes a key with the name, scopes and expiry of the key `from`, which ends `overlap_ms` later, unless it ends sooner by itself.
   * `id`, `hash` and a repeated idempotency key: as in `addKey`.
   */
  rotateKey(act: Act, input: RotationInput): Promise<TenantOutcome<KeyView>>;
  listKeys(): Promise<TenantOutcome<readonly KeyView[]>>;
  revokeKey(act: Act, id: KeyId, by: KeyId | null): Promise<TenantOutcome<KeyView>>;
  /** The calling key's present state: an isolate may still have one cached that has ended. */
  ownKey(id: KeyId): Promise<TenantOutcome<KeyView>>;
  /**
   * Null when there is no such key, or it has expired or was revoked. `beside`: the key's hash under the other pepper of a rotation. A key
   * that is stored under it is from then on stored under `hash`.
   */
  authenticate(hash: string, beside: string | null): Promise<Principal | null>;

  /** Adds the session to the directory. With a repeated idempotency key: the first request's session. */
  registerSession(input: SessionRegistration): Promise<TenantOutcome<{ readonly session: SessionId; readonly replayed: boolean }>>;
  /** The session that has this external id. It may never have been opened. Null: none. */
  findExternalId(externalId: string): Promise<TenantOutcome<SessionId | null>>;
  /** Removes a session that was never opened, and frees its external id. It stays while another request opens one under the same id. */
  forgetSession(session: SessionId): Promise<TenantOutcome<null>>;
  /**
   * Call it before the session's end user is changed. Refused when the new one has as many sessions as an end user may have. Until the erasure
   * of an end user asks the session's object, the directory does not know whose the session is.
   */
  giveSession(session: SessionId, endUser: string | null): Promise<TenantOutcome<null>>;
  listSessions(page: { readonly after: SessionId | null; readonly limit: number }): Promise<TenantOutcome<SessionPage>>;
  /** Stores the usage of a session before its log is wiped, once. An empty list only reads. Notes the erasure of a session of the directory. */
  keepUsage(input: ErasedSessionUsage): Promise<TenantOutcome<readonly ErasedUsage[]>>;
  /** The last call of a throwaway session: stores its usage, sends it until it has arrived, and ends its references to files, once. */
  endThrowaway(input: ErasedSessionUsage): Promise<TenantOutcome<null>>;

  /** What a turn has to know of the tenant. `model`: the one that it asks. Null: there is no such tenant. */
  brief(model: string | null): Promise<TenantBrief | null>;
  /** The tenant's own override, else the deployment's model, else null. */
  resolveModel(id: string): Promise<ModelSpec | null>;
  listModels(): Promise<TenantOutcome<readonly ModelEntry[]>>;
  getModel(id: string): Promise<TenantOutcome<ModelEntry>>;
  putModel(act: Act, id: string, model: ModelOverride, condition?: Condition): Promise<TenantOutcome<ModelEntry>>;
  deleteModel(act: Act, id: string, condition?: Condition): Promise<TenantOutcome<null>>;
  /** Stores limits of a model that another source reports, beside the registry's figures. Only `putModel` adopts one. */
  suggestLimit(suggested: SuggestedLimit): Promise<TenantOutcome<readonly LimitSuggestion[]>>;

  /** Replaces a credential of the same name. */
  putCredential(act: Act, input: { readonly name: string; readonly sealed: SealedCredential }): Promise<TenantOutcome<CredentialView>>;
  /** Sorted by name. */
  listCredentials(): Promise<TenantOutcome<readonly CredentialView[]>>;
  /** Models that name the credential are then not called any more; the deployment's key is never used in its place. */
  deleteCredential(act: Act, name: string): Promise<TenantOutcome<null>>;
  /** For the code that calls a model. Null when there is no credential of that name. */
  sealedCredential(name: string): Promise<SealedCredential | null>;
}

/** What a turn has to know of its tenant, in one answer with one age: an isolate that knows nothing asks once for all of it. */
export interface TenantBrief {
  readonly standing: Standing;
  readonly settings: TenantSettings;
  /** Null: the tenant has no limit. */
  readonly limits: LimitSet | null;
  readonly budgets: KnownBudgets;
  /** The types of events that the tenant's webhook endpoints want. */
  readonly interest: readonly string[];
  readonly placement: Placement;
  /** The model that was asked for. Null: none was, or the tenant has no such model. */
  readonly model: BriefModel | null;
}

/** `credential`: the tenant's, with which the model is called. Null: it is called without one of the tenant's. */
interface BriefModel {
  readonly spec: ModelSpec;
  readonly credential: { readonly name: string; readonly sealed: SealedCredential } | null;
}

/** A tenant as the read model shows it. It is always complete, so that a lost or repeated write does no harm. */
export interface TenantChange {
  readonly tenant: TenantId;
  readonly created_at: number;
  readonly settings: TenantSettings;
  /** The models that the tenant can use: its own overrides, and the deployment's models without an override, sorted by id. */
  readonly models: readonly ModelEntry[];
}

/**
 * Everything that a tenant's object knows, except its directory of sessions (`listSessions`), its tools, the hashes of its keys, and its
 * credentials.
 */
export interface TenantExport extends TenantChange {
  readonly standing: Standing;
  readonly keys: readonly KeyView[];
}

/** For rebuilding the read model and for operators. No route that a tenant can call reaches it. */
export interface TenantMaintenance {
  /** The tenant as the deployment's list shows it. */
  identify(): Promise<TenantOutcome<ListedTenant>>;
  exportTenant(): Promise<TenantOutcome<TenantExport>>;
  /** The name of the database that holds the tenant's rows. */
  placement(): Promise<TenantOutcome<Placement>>;
  /** As `placement`, for readers and writers, and of a deleted tenant too, whose rows have to go. They keep the answer for `PLACEMENT_TTL_MS`. Null: there is no such tenant. */
  readPlacement(): Promise<Placement | null>;
  /** Stores a placement if its predecessor is the stored one, and returns what is stored then. */
  place(act: Act, change: { readonly after: number; readonly placement: Placement }): Promise<TenantOutcome<Placement>>;
  /** Writes the tenant's rows again. The object does this itself, so that an older state cannot overwrite a newer one. */
  projectAgain(act: Act): Promise<TenantOutcome<null>>;
  /** The stored usage of erased sessions, sorted by session id. A page with fewer sessions than requested is the last one. */
  listErasedUsage(page: {
    readonly after: SessionId | null;
    readonly sessions: number;
  }): Promise<TenantOutcome<readonly ErasedSessionUsage[]>>;
  /** The tenant's retention has removed usage from before this time, or is about to. Null: none. */
  usageBound(): Promise<TenantOutcome<number | null>>;
  /** All of them, sorted by name, and the secrets of channels under their places (`toChannelPlace`). */
  sealedCredentials(): Promise<TenantOutcome<readonly { readonly name: string; readonly sealed: SealedCredential }[]>>;
  /** Replaces the credentials that are still sealed as `before`, and returns how many. */
  replaceSealed(act: Act, resealed: readonly Resealed[]): Promise<TenantOutcome<{ readonly replaced: number }>>;
}
