/** What the door needs of the house: handed in by the wiring, so that every route runs in plain Node against fakes. */
import type { WholeSessionApi } from "../app/control-api";
import type { ProbeLimits } from "../app/models/probe-limits";
import type { CredentialSealer } from "../app/models/rotate-credentials";
import type { Clock, Log, ModelSpec } from "../app/ports";
import type { RebuildRows } from "../app/projection/rebuild-ports";
import type { ExecutionReader, SessionList, UsageList } from "../app/read-api";
import type { Schedule } from "../app/session-ports";
import type { Principal, TenantApi, TenantMaintenance, TenantRows } from "../app/tenant-api";
import type { McpFailure, McpListing, McpServer } from "../app/tool-entry";
import type { PolicyChoice } from "../context/policy-choice";
import type { NewId, SessionId, TenantId } from "../domain/ids";
import type { Result } from "../lib/result";
import type { TransformPair } from "./bound-stream";

export interface HttpConfig {
  /** Bearer of the admin routes; null: those routes refuse. */
  readonly adminKey: string | null;
  /** For development: a tenant's base URL may be http and local. */
  readonly allowPrivateModelUrls: boolean;
  /** For development: a tool's URL may be http and local. */
  readonly allowPrivateToolUrls: boolean;
  /** What a session gets whose tenant and client name none. */
  readonly defaultPolicy: PolicyChoice;
}

export interface HttpDeps {
  /** A fresh stub at each call: after an object was reset, the old one stays broken. */
  sessions(tenant: TenantId, session: SessionId): WholeSessionApi;
  /** A fresh stub at each call. */
  tenants(tenant: TenantId): TenantApi & TenantMaintenance;
  readonly sessionList: SessionList;
  readonly usageList: UsageList;
  readonly executions: ExecutionReader;
  /** The rows of a tenant's sessions: the live ones, and others to compare them with. */
  rows(tenant: TenantId): RebuildRows;
  /** The tenant's own row and its models'. */
  tenantRows(tenant: TenantId): TenantRows;
  /** Seals tenants' credentials before they leave this Worker; null: the deployment has no key for it. */
  readonly sealer: CredentialSealer | null;
  /** Asks the provider for a model's limits, with the key that the tenant's calls of it have. */
  probeLimits(tenant: TenantId, model: ModelSpec): ReturnType<ProbeLimits>;
  /** Asks an MCP server what it has, with the tenant's credential that it names. */
  listMcpTools(tenant: TenantId, server: McpServer): Promise<Result<McpListing, McpFailure>>;
  /** Null: not a key, unknown, expired or revoked. */
  authenticate(key: string): Promise<Principal | null>;
  /** A new key of that tenant, for this deployment. Shown once; only its hash is kept. */
  /** A request may have changed what is remembered of its tenant: keys, models, credentials, tools. */
  noteChange(tenant: TenantId): void;
  generateKey(tenant: TenantId): Promise<string>;
  hashKey(key: string): Promise<string>;
  readonly newId: NewId;
  readonly now: Clock;
  readonly schedule: Schedule;
  /** Passes bytes through, natively where the runtime can: no code of ours runs for a chunk. */
  newPipe(): TransformPair;
  readonly log: Log;
  readonly config: HttpConfig;
}

export interface HttpEnv {
  readonly Variables: {
    requestId: string;
    /** Set by `authenticate`, and by nothing else: where a tenant comes from. */
    principal?: Principal;
    /** The body as it came, for the digest of an idempotency key. */
    rawBody?: string;
  };
}
