/**
 * What the HTTP app needs of the rest of the system. The wiring passes it in, so that every route runs in plain Node against
 * fakes.
 */
import type { WholeSessionApi } from "../app/control-api";
import type { AdminPrincipal, DeploymentApi } from "../app/deployment-api";
import type { ExportSigner, ExportStore } from "../app/export-api";
import type { FileSigner, FileStore } from "../app/file-api";
import type { ProbeLimits } from "../app/models/probe-limits";
import type { CredentialSealer } from "../app/models/rotate-credentials";
import type { MeasuredDatabase } from "../app/placement";
import type { Clock, CompactionSealer, Log, ModelSpec } from "../app/ports";
import type { Principal, TokenHolder } from "../app/principal";
import type { MoveDatabase } from "../app/projection/move-ports";
import type { RebuildRows } from "../app/projection/rebuild-ports";
import type { RateMeter } from "../app/rate-meter";
import type { EndUserList, ExecutionReader, SessionList, SessionSearch, UsageList } from "../app/read-api";
import type { Schedule } from "../app/session-ports";
import type { SlotMeter } from "../app/slot-meter";
import type { TenantSettings } from "../app/tenant-api";
import type { TenantIds, TenantRows } from "../app/tenant-rows";
import type { McpFailure, McpListing } from "../app/tool-entry";
import type { WholeTenantApi } from "../app/whole-tenant-api";
import type { PolicyChoice } from "../context/policy-choice";
import type { LimitSet } from "../contract/limits";
import type { McpServer } from "../contract/registered-tool";
import type { KeyId, NewId, SessionId, TenantId } from "../domain/ids";
import type { Result } from "../lib/result";
import type { TransformPair } from "./bound-stream";
import type { ChannelDeps } from "./channel-deps";

export interface HttpConfig {
  /** Bearer token of the admin routes. Null: those routes refuse every request. */
  readonly adminKey: string | null;
  /** The deployment's own address, such as `https://chat.example.com`. Null: addresses are built from the request's own. */
  readonly publicUrl: string | null;
  /** True in development: a tenant's base URL may be http and local. */
  readonly allowPrivateModelUrls: boolean;
  /** True in development: a tool's URL may be http and local. */
  readonly allowPrivateToolUrls: boolean;
  /** True on a local server. Its disk may be full, which the runtime does not always say. */
  readonly isLocal: boolean;
  /** The policy of a session when neither its client nor its tenant names one. */
  readonly defaultPolicy: PolicyChoice;
}

/** Whose socket it is. The key itself is not kept: its hash finds out whether it is still valid. */
export interface SocketHolder {
  readonly tenant: TenantId;
  readonly key: KeyId;
  /** Of the API key, as the tenant's object stores it. */
  readonly hash: string;
}

interface AdminKeyDeps {
  /** Null when the text is no admin key, or the key is unknown, expired or revoked. An answer may be cached. */
  authenticate(key: string): Promise<AdminPrincipal | null>;
  /** Makes a new key. It is shown once; only its hash is kept. */
  generate(): Promise<string>;
  /** Call this when an admin key may have ended, so that cached answers are not used any more. */
  noteChange(): void;
}

/** The deployment's databases, by the names of their bindings. */
interface DatabaseDeps {
  readonly names: readonly string[];
  measure(): Promise<readonly MeasuredDatabase[]>;
  forMove(name: string): MoveDatabase;
}

export interface HttpDeps {
  /** Returns a fresh stub at each call: after an object was reset, an old stub stays broken. */
  sessions(tenant: TenantId, session: SessionId): WholeSessionApi;
  /** Returns a fresh stub at each call. */
  tenants(tenant: TenantId): WholeTenantApi;
  /** Returns a fresh stub at each call. */
  deployment(): DeploymentApi;
  readonly channels: ChannelDeps;
  readonly adminKeys: AdminKeyDeps;
  /** The tenants that have a row in the read model. */
  readonly tenantIds: TenantIds;
  readonly sessionList: SessionList;
  readonly sessionSearch: SessionSearch;
  readonly usageList: UsageList;
  readonly endUsers: EndUserList;
  readonly executions: ExecutionReader;
  /** The read model's rows of a tenant's sessions: the live ones, and scratch rows to compare them with. */
  rows(tenant: TenantId): Promise<RebuildRows>;
  /** The read model's rows of the tenant itself and of its models. */
  tenantRows(tenant: TenantId): Promise<TenantRows>;
  readonly databases: DatabaseDeps;
  /** Seals tenants' credentials before they leave this Worker. Null when the deployment has no key for that. */
  readonly sealer: CredentialSealer | null;
  /** Seals the compacted conversations that clients of other vendors' APIs keep. */
  readonly compactionSealer: CompactionSealer;
  /** Asks the provider for a model's limits, with the key that the tenant's calls of the model use. */
  probeLimits(tenant: TenantId, model: ModelSpec): ReturnType<ProbeLimits>;
  /** Asks an MCP server for its tools, with the tenant's credential that the server's entry names. */
  listMcpTools(tenant: TenantId, server: McpServer): Promise<Result<McpListing, McpFailure>>;
  /** The bytes of the tenant's files. Null when the deployment stores no files. */
  files(tenant: TenantId): FileStore | null;
  /** Signs and verifies addresses that read one file without a key. */
  readonly fileSigner: FileSigner;
  /** The files of the tenant's exports. Null when the deployment stores no files. */
  exports(tenant: TenantId): Pick<ExportStore, "open"> | null;
  /** Signs and verifies addresses that read one export without a key. */
  readonly exportSigner: ExportSigner;
  /**
   * Takes a key or an access token. Null when the text is neither, when the key is unknown, expired or revoked, and when the token is
   * forged or expired.
   */
  authenticate(credential: string): Promise<Principal | null>;
  /** As `authenticate`, by the hash of an API key. Null when the key is unknown, expired or revoked. */
  findKey(tenant: TenantId, hash: string): Promise<Principal | null>;
  /** Opens a WebSocket for responses. `request`: the upgrade. */
  openSocket(request: Request, holder: SocketHolder): Promise<Response>;
  signAccessToken(holder: TokenHolder): Promise<string>;
  /**
   * The tenant's settings, from the isolate's cache or the tenant's object. Null: there is no such tenant. `model`: the one that the request names,
   * so that the same call of the object brings it.
   */
  knownSettings(tenant: TenantId, model?: string): Promise<TenantSettings | null>;
  /** The tenant's limits, for holders of access tokens. Null: none. An answer may be cached. */
  limits(tenant: TenantId): Promise<LimitSet | null>;
  /** Counts a request, and answers whether it is within what a single source may send. Null: the deployment counts no floods. */
  readonly countFlood: ((source: string) => Promise<boolean>) | null;
  /** This isolate's part of the rates of requests. */
  readonly requestRates: RateMeter;
  /** This isolate's slots of streams. */
  readonly streamSlots: SlotMeter;
  /** Call this when a request may have changed what is cached of its tenant: keys, models, credentials, tools. */
  noteChange(tenant: TenantId): void;
  /** Makes a new key of that tenant, for this deployment. It is shown once; only its hash is kept. */
  generateKey(tenant: TenantId): Promise<string>;
  hashKey(key: string): Promise<string>;
  /** Reads a file of the reference page; `headers` are the client's own conditions. Null when the deployment has no such file. */
  readDocsFile(name: string, headers: Headers): Promise<Response | null>;
  readonly newId: NewId;
  readonly now: Clock;
  readonly schedule: Schedule;
  /** Makes a pipe that passes bytes through, natively where the runtime can: then no JavaScript runs for a chunk. */
  newPipe(): TransformPair;
  readonly log: Log;
  readonly config: HttpConfig;
}

export interface HttpEnv {
  readonly Variables: {
    requestId: string;
    /** The only source of the tenant. Set by `authenticate` and by nothing else. */
    principal?: Principal;
    /** The calling admin, below `/v1/admin`. Set by `requireAdmin` and by nothing else. */
    admin?: AdminPrincipal;
    /** The body as received, for the digest of an idempotency key. */
    rawBody?: string;
    /** Gives back the slots of the request's stream. Set by `refuseStream` where a limit applies or none does. */
    freeStream?: () => void;
    /** What the answer says of the caller's rates. Set by `limitRate` where one applies. */
    rateHeaders?: Readonly<Record<string, string>>;
  };
}

/** Who asks, and by which request. Hono's context is one. A surface without an HTTP request makes its own. */
export interface Asker {
  get<K extends keyof HttpEnv["Variables"]>(name: K): HttpEnv["Variables"][K];
  readonly req: { readonly method: string; readonly path: string };
}
