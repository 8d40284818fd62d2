/** Builders for the HTTP tests: a set of fakes that record which object was called for which tenant. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { buildGenesis } from "../../src/app/audit-chain";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { DeploymentApi } from "../../src/app/deployment-api";
import type { ErasureFacts } from "../../src/app/erasure-view";
import type { ModelEntry } from "../../src/app/model-entry";
import type { CredentialSealer } from "../../src/app/models/rotate-credentials";
import { FIRST_PLACEMENT } from "../../src/app/placement";
import type { Principal } from "../../src/app/principal";
import type { RebuildRows } from "../../src/app/projection/rebuild-ports";
import type { ConversationEnd } from "../../src/app/respond-api";
import { NO_RETENTION } from "../../src/app/retention";
import type { Caller } from "../../src/app/session-api";
import type { TenantRows } from "../../src/app/tenant-rows";
import { toSums } from "../../src/app/usage-sums";
import type { WholeTenantApi } from "../../src/app/whole-tenant-api";
import { findAdapter } from "../../src/channels/adapters";
import { toPolicyText } from "../../src/context/policy-choice";
import { presets } from "../../src/context/presets";
import type { Accepted } from "../../src/contract/item";
import { NO_LIMITS } from "../../src/contract/limits";
import type { SessionDescription } from "../../src/contract/session";
import type { KeyView } from "../../src/contract/tenant";
import type { TurnReport } from "../../src/contract/turn";
import { NO_CALLS } from "../../src/domain/call-totals";
import type { IdKinds, IdPrefix, SessionId, TenantId } from "../../src/domain/ids";
import { parseId } from "../../src/domain/ids";
import { SCOPES, type Scope } from "../../src/domain/scopes";
import { createExportSigner, createFileSigner } from "../../src/files/signed-url";
import { createApp } from "../../src/http/app";
import type { HttpConfig, HttpDeps, HttpEnv } from "../../src/http/deps";
import { err, ok } from "../../src/lib/result";
import { readWebhookTenant, toWebhookTenant } from "../../src/tenant/channels/webhook-address";
import { createCompactionSealer } from "../../src/tenant/credentials/compaction-sealer";
import { DocumentedAnswers, toAnswer } from "../support/documented-answers";
import { FakeSchedule } from "../support/fake-schedule";
import { reportAnswers } from "../support/report-answers";
import { findUnsafeHeaders } from "../support/unsafe-headers";

export const NOW = 1_795_000_000_000;
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A well-formed id. One number always gives the same id. */
export function makeId<P extends IdPrefix>(prefix: P, n = 1): IdKinds[P] {
  const id = parseId(prefix, `${prefix}_01JD8Z3V6Q4N7R2T5W9X0Y1A${DIGITS[Math.floor(n / 32)]}${DIGITS[n % 32]}`);
  if (!id) throw new Error(`No id for ${prefix} ${n}`);
  return id;
}

export const TENANT = makeId("ten", 1);
export const FOREIGN_TENANT = makeId("ten", 2);
export const SESSION = makeId("ses", 1);
export const KEY = "lh_test_a-key";
export const ADMIN_KEY = "an-admin-key-for-tests";

export function principal(scopes: readonly Scope[] = SCOPES, expires_at: number | null = null): Principal {
  return { tenant: TENANT, key: makeId("key"), scopes, expires_at };
}

export function accepted(changes: Partial<Accepted> = {}): Accepted {
  return { message_id: makeId("msg"), turn_id: makeId("trn"), position: 3, queued: false, replayed: false, cursor: 41, ...changes };
}

export function turn(changes: Partial<TurnReport> = {}): TurnReport {
  return {
    id: makeId("trn"),
    status: "completed",
    finish: "stop",
    failure: null,
    attempt: 1,
    created_at: NOW,
    ended_at: NOW,
    message_id: makeId("msg"),
    items: [],
    items_truncated: false,
    output_text: "",
    model: null,
    notices: [],
    open_calls: [],
    usage: { input: 10, output: 2, cached: 0, reasoning: 0 },
    cost: null,
    context_window: 16_000,
    assumed_window: null,
    current_context_tokens: { tokens: 12, source: "reported", error_bound: 0 },
    ...changes,
  };
}

export function description(changes: Partial<SessionDescription> = {}): SessionDescription {
  return {
    id: SESSION,
    summary_instructions: null,
    model: "embedded",
    policy: "oneclaw",
    effective_policy: presets.oneclaw,
    pins: [],
    system: null,
    tools: [],
    title: null,
    external_id: null,
    end_user: null,
    metadata: {},
    generation: {},
    etag: '"0123456789abcdef"',
    created_at: NOW,
    updated_at: NOW,
    archived_at: null,
    message_count: 0,
    epoch: 0,
    branch: 1,
    branches: 1,
    forked_from: null,
    compacted_summary: null,
    compact_boundary_timestamp: null,
    context_window: 16_000,
    assumed_window: null,
    current_context_tokens: { tokens: 0, source: "estimated", error_bound: 0 },
    total_tokens: 0,
    usage: toSums(NO_CALLS),
    breaker: { open: false, failures: 0, fruitless: 0, closes_after: null },
    turn: null,
    last_turn: null,
    queued: [],
    stream_offset: 0,
    ...changes,
  };
}

/** The end of a conversation without messages. */
export function conversationEnd(changes: Partial<ConversationEnd> = {}): ConversationEnd {
  const nothing = { turn: null, last_turn: null, next_turn: null, items: [], is_whole: true };
  return { model: "embedded", epoch: 0, stream_offset: 0, ...nothing, ...changes };
}

export function toStream(text: string): ReadableStream<Uint8Array> {
  return new Response(text).body ?? new ReadableStream();
}

/** A session that does not exist: the response of any object that was never opened, including a foreign one. */
function unknownSession(): WholeSessionApi {
  const no = async () => err({ code: "session_not_found" } as const);
  return {
    // A new id is never unknown to its object.
    open: async () => err({ code: "session_erased" }),
    describe: no,
    conversationEnd: no,
    patch: no,
    erase: no,
    retain: no,
    submit: no,
    respond: no,
    respondFrom: no,
    openAndRespond: no,
    importMessages: no,
    cancelQueued: no,
    toolResults: no,
    approvals: no,
    executions: no,
    stop: no,
    retry: no,
    waitForTurn: no,
    turn: no,
    askedWith: no,
    notes: no,
    contextAtStart: no,
    turns: no,
    message: no,
    named: no,
    stream: no,
    follow: no,
    items: no,
    events: no,
    usage: no,
    compactions: no,
    recall: no,
    compaction: no,
    compact: no,
    revertCompaction: no,
    resetSummary: no,
    pins: no,
    schedules: no,
    setSchedule: no,
    removeSchedule: no,
    setPins: no,
    archive: no,
    unarchive: no,
    editDraft: no,
    commitDraft: no,
    discardDraft: no,
    compareSummaries: no,
    context: no,
    contextAt: no,
    contextDiff: no,
    leaseCompaction: no,
    holdsLease: no,
    recordCompaction: no,
    exportLog: no,
    exportLines: no,
    stageRestore: no,
    finishRestore: no,
    dropRestore: no,
    branches: no,
    rewind: no,
    switchBranch: no,
    compareBranches: no,
    editMessage: no,
    regenerate: no,
    redact: no,
    formerEndUsers: no,
    forgetEndUsers: no,
    forkHead: no,
    forkPage: no,
    // The session that is about to be created: nothing has been copied yet.
    findFork: async () => ({ ok: true, value: null }),
    beginFork: no,
    copyIntoFork: no,
    completeFork: no,
  };
}

/** The entry as the registry would show it, with every figure set by the tenant. */
export function modelEntry(changes: Partial<ModelEntry> = {}): ModelEntry {
  return {
    id: "m",
    provider: "openai-compatible",
    upstream_id: "m",
    base_url: null,
    context_window: null,
    max_output: 1_000,
    source: "tenant",
    figures: { context_window: "tenant", max_output: "tenant", capabilities: "unknown", ratio: "unknown", prices: "unknown" },
    suggestions: [],
    known_quirks: [],
    credential_missing: false,
    key_missing: false,
    ...changes,
  };
}

/** Encrypts nothing, and reveals no secret. */
const fakeSealer: CredentialSealer = {
  currentKeyId: "k1",
  seal: async () => ({ kid: "k1", wrapped_key: "wrapped", sealed: "sealed" }),
  reseal: async (sealed) => ({ ...sealed, kid: "k1" }),
};

const peppers = { current: "a-pepper-for-tests-only", previous: null };

/** A key with all scopes, as its tenant's object shows it. */
export const keyEntry = (changes: Partial<KeyView> = {}): KeyView => ({
  id: makeId("key"),
  name: "test",
  scopes: SCOPES,
  restriction: null,
  clients: null,
  created_at: NOW,
  expires_at: null,
  revoked_at: null,
  created_by: null,
  revoked_by: null,
  rotated_from: null,
  rotated_to: null,
  last_used_at: null,
  ...changes,
});

export const erasureFacts: ErasureFacts = {
  id: makeId("era"),
  of: "end_user",
  target: "digest",
  forks: false,
  cause: "request",
  requested_at: NOW,
  done_at: null,
  gathered: true,
  forgotten: true,
  sessions: { total: 2, done: 1 },
  pending: { session: 0, read_model: 1, files: 0, exports: 0, chat: 0 },
  models: [],
};

/** Two databases without a row. */
export function emptyDatabases(): HttpDeps["databases"] {
  return {
    names: ["DB", "DB_2"],
    measure: async () => ["DB", "DB_2"].map((database) => ({ database, bytes: 40_960, tenants: 0 })),
    forMove: () => ({
      hasTables: async () => true,
      rows: emptyRows(),
      tenantRows: emptyTenantRows(),
      listTombstones: async () => [],
      bury: async () => {},
      clearTenant: async () => true,
    }),
  };
}

const webhookEndpoint = {
  status: "enabled",
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  previous_secret_until: null,
  created_at: NOW,
  updated_at: NOW,
} as const;

const standing = { status: "active", suspended_at: null, reason: null } as const;

export const SETTINGS = { name: "Acme", default_model: "embedded", default_policy: "oneclaw", allowed_origins: [] };

function emptyTenant(): WholeTenantApi {
  const settings = SETTINGS;
  return {
    create: async () => ok({ replayed: false }),
    placement: async () => ok(FIRST_PLACEMENT),
    readPlacement: async () => FIRST_PLACEMENT,
    place: async (_, { placement }) => ok(placement),
    identify: async () => ok({ id: FOREIGN_TENANT, name: "Acme", created_at: NOW, status: "active", database: "DB" }),
    assigned: async () => null,
    suspend: async (_, reason) => ok({ ...standing, status: "suspended", suspended_at: NOW, reason }),
    resume: async () => ok(standing),
    settings: async () => ok(settings),
    changeSettings: async (_, { default_policy: policy, default_model, ...changes }) =>
      ok({ ...settings, ...changes, ...(default_model && { default_model }), ...(policy && { default_policy: toPolicyText(policy) }) }),
    addKey: async (_, { id, name, scopes, expires_at }) => ok(keyEntry({ id, name, scopes, expires_at })),
    rotateKey: async (_, { from }) => err({ code: "key_not_found", key: from }),
    listKeys: async () => ok([]),
    revokeKey: async (_, key) => err({ code: "key_not_found", key }),
    ownKey: async (id) => ok(keyEntry({ id })),
    authenticate: async () => null,
    setLimits: async ({ revision }) => ({ revision }),
    brief: async () => null,
    limitUse: async () => [],
    takeRates: async () => [],
    takeSlots: async () => [],
    renewBudget: async () => ok({ kind: "granted", grants: [] }),
    listBudgets: async () => ok([]),
    listTenantEvents: async () => ok({ data: [], has_more: false }),
    registerSession: async ({ session }) => ok({ session, replayed: false }),
    findExternalId: async () => ok(null),
    forgetSession: async () => ok(null),
    giveSession: async () => ok(null),
    beginErasure: async () => ok({ noted: true, erasure: makeId("era") }),
    noteErasure: async () => ok(makeId("era")),
    endErasure: async () => ok(makeId("era")),
    eraseEndUser: async () => ok(erasureFacts),
    eraseTenant: async () => ok(erasureFacts),
    endUserEnded: async () => ok(0),
    listErasingUsers: async () => ok([]),
    getErasure: async (erasure) => err({ code: "erasure_not_found", erasure }),
    usageBound: async () => ok(null),
    readRetention: async () => ok({ ...NO_RETENTION, starts_at: null }),
    putRetention: async (_, setting) => ok({ ...setting, starts_at: NOW }),
    previewRetention: async () => ok({ at: NOW, candidates: 0, looked_at: 0, data: [], next: null, usage_before: null }),
    listErasures: async () => ok({ data: [erasureFacts], has_more: false }),
    listSessions: async () => ok({ data: [], has_more: false }),
    resolveModel: async () => null,
    listModels: async () => ok([]),
    getModel: async (model) => err({ code: "model_not_found", model }),
    putModel: async (_, id, model) => ok(modelEntry({ id, ...model })),
    deleteModel: async (_, model) => err({ code: "model_not_found", model }),
    suggestLimit: async () => ok([]),
    putCredential: async (_, { name, sealed }) => ok({ name, key_id: sealed.kid, created_at: NOW, updated_at: NOW, models: [] }),
    listCredentials: async () => ok([]),
    deleteCredential: async (_, credential) => err({ code: "credential_not_found", credential }),
    sealedCredential: async () => null,
    listTools: async () => ok([]),
    putTool: async (_, name, tool) => ok({ ...tool, name, created_at: NOW, updated_at: NOW, credential_missing: false }),
    deleteTool: async (_, tool) => err({ code: "tool_not_found", tool }),
    listMcpServers: async () => ok([]),
    listChannels: async () => ok([]),
    getChannel: async (channel) => err({ code: "channel_not_found", channel }),
    putChannel: async (_, { name, settings, secrets }) =>
      ok({ name, ...settings, credentials: secrets?.names ?? [], created_at: NOW, updated_at: NOW }),
    deleteChannel: async (_, channel) => err({ code: "channel_not_found", channel }),
    sealedChannel: async () => null,
    addPairingCode: async () => ok({ expires_at: NOW + 3_600_000 }),
    pairUser: async () => ok("wrong"),
    listPairedUsers: async () => ok([]),
    unpairUser: async (_, { user }) => err({ code: "paired_user_not_found", user }),
    listChannelLog: async () => ok({ data: [], has_more: false }),
    noteChannelLog: async () => ok(null),
    countChannelEvents: async () => ok(null),
    putMcpServer: async (_, { name, server, listing }) =>
      ok({ ...server, name, listing, listed_at: NOW, created_at: NOW, updated_at: NOW, credential_missing: false }),
    deleteMcpServer: async (_, server) => err({ code: "mcp_server_not_found", server }),
    sealedCredentials: async () => ok([]),
    replaceSealed: async (_, resealed) => ok({ replaced: resealed.length }),
    beginFile: async () => ok(null),
    finishFile: async ({ file }) => err({ code: "file_not_found", file }),
    abandonFile: async () => ok(null),
    getFile: async (file) => err({ code: "file_not_found", file }),
    listFiles: async () => ok({ data: [], has_more: false }),
    deleteFile: async (_, file) => err({ code: "file_not_found", file }),
    useFiles: async ({ files: [file = ""] }) => err({ code: "file_not_found", file }),
    keepFiles: async () => ok(null),
    releaseFiles: async () => ok({ erased: 0, pending: 0, exports: 0, chats: 0 }),
    beginExport: async () => err({ code: "session_not_found" }),
    getExport: async (id) => err({ code: "export_not_found", export: id }),
    listExports: async () => ok({ data: [], has_more: false }),
    deleteExport: async (_, id) => err({ code: "export_not_found", export: id }),
    beginImport: async (_, { id }) => err({ code: "import_not_found", import: id }),
    getImport: async (id) => err({ code: "import_not_found", import: id }),
    listImports: async () => ok({ data: [], has_more: false }),
    reportImport: async (id) => err({ code: "import_not_found", import: id }),
    deleteImport: async (_, id) => err({ code: "import_not_found", import: id }),
    registerRestored: async () => ok(null),
    restoreSettings: async ({ settings: restored }) =>
      ok(restored.map(({ kind, name }) => ({ kind, name, status: "exists" as const, detail: null }))),
    exportTenant: async () => ok({ tenant: FOREIGN_TENANT, settings, models: [], created_at: NOW, keys: [], standing }),
    projectAgain: async () => ok(null),
    readAudit: async () => ok({ data: [], has_more: false, anchor: buildGenesis(TENANT), head: buildGenesis(TENANT) }),
    findAuditPlace: async () => ok(buildGenesis(TENANT)),
    recordAct: async () => ok(null),
    recordSessionActs: async () => ok(null),
    keepUsage: async ({ usage }) => ok(usage),
    endThrowaway: async () => ok(null),
    announce: async () => ok(null),
    createWebhookEndpoint: async (_, { id, url, events, description, metadata }) =>
      ok({ ...webhookEndpoint, id, url, events, description, metadata }),
    listWebhookEndpoints: async () => ok([]),
    getWebhookEndpoint: async (endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    changeWebhookEndpoint: async (_, endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    deleteWebhookEndpoint: async (_, endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    rotateWebhookSecret: async (_, endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    testWebhookEndpoint: async (_, endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    listWebhookDeliveries: async (endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    getWebhookDelivery: async (endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    replayWebhookDelivery: async (_, endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    replayWebhookDeliveries: async (_, endpoint) => err({ code: "webhook_endpoint_not_found", endpoint }),
    listErasedUsage: async () => ok([]),
  };
}

const adminKeyEntry = {
  created_at: NOW,
  revoked_at: null,
  created_by: null,
  revoked_by: null,
  rotated_from: null,
  rotated_to: null,
  last_used_at: null,
};

/** A deployment without tenants and without admin keys. */
function emptyDeployment(): DeploymentApi {
  return {
    registerTenants: async (tenants) => ({ added: tenants.length }),
    rebuildTenantList: async (_act, tenants) => ({ added: tenants.length }),
    closeTenant: async () => {},
    listTenants: async () => ({ data: [], has_more: false }),
    addAdminKey: async (_act, { id, name, role, expires_at }) => ok({ ...adminKeyEntry, id, name, role, expires_at }),
    listAdminKeys: async () => [],
    getAdminKey: async (key) => err({ code: "key_not_found", key }),
    revokeAdminKey: async (_act, { id: key }) => err({ code: "key_not_found", key }),
    rotateAdminKey: async (_act, { old: key }) => err({ code: "key_not_found", key }),
    authenticateAdmin: async () => null,
    noteAdminUse: async () => {},
    putPlan: async (_act, { condition: _, ...plan }) => ok({ ...plan, version: 1, created_at: NOW, updated_at: NOW }),
    getPlan: async (plan) => err({ code: "plan_not_found", plan }),
    listPlans: async () => [],
    deletePlan: async (_act, plan) => err({ code: "plan_not_found", plan }),
    assignPlan: async (_act, { plan = null }) =>
      ok({ plan, limits: NO_LIMITS, effective_limits: NO_LIMITS, budgets: [], effective_budgets: [], version: 1, confirmed: true }),
    readAudit: async () => ({ data: [], has_more: false, anchor: buildGenesis("deployment"), head: buildGenesis("deployment") }),
    findAuditStart: async () => ({ owner: "deployment", anchor: buildGenesis("deployment") }),
    recordTenantActs: async () => {},
  };
}

export function emptyRows(): RebuildRows {
  const projection = { write: async () => {}, erase: async () => ({ rows: 0 }), forgetEndUsers: async () => true };
  const standing = { live: 0, scratch: 0, buried: false };
  return {
    live: projection,
    scratch: projection,
    tables: ["messages", "sessions"],
    stand: async () => standing,
    readPage: async () => ({ standing, live: [], scratch: [] }),
    mend: async () => {},
    clearScratch: async () => true,
  };
}

export function emptyTenantRows(): TenantRows {
  return {
    read: async () => ({}),
    expect: () => ({}),
    listSessions: async () => ({ data: [], has_more: false }),
    removeUsage: async () => true,
    mendErasedUsage: async () => ({ differences: [], rows: 0 }),
  };
}

export interface WorldInput {
  readonly session?: Partial<WholeSessionApi>;
  readonly tenant?: Partial<WholeTenantApi>;
  readonly deployment?: Partial<DeploymentApi>;
  readonly principal?: Principal | null;
  readonly config?: Partial<HttpConfig>;
  readonly deps?: Partial<HttpDeps>;
}

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface World {
  readonly app: OpenAPIHono<HttpEnv>;
  /** The names of the objects that were addressed, in order. */
  readonly asked: { readonly tenants: TenantId[]; readonly sessions: Caller[] };
  readonly log: LogLine[];
  /** A request with the key. The body is sent as JSON unless it is text already. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string | null;
}

function toInit(method: string, { body, headers, key = KEY }: CallOptions): RequestInit {
  return {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  };
}

function noteLines(log: LogLine[]) {
  const at =
    (level: LogLine["level"]) =>
    (event: string, fields: LogLine["fields"] = {}) => {
      log.push({ level, event, fields });
    };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

export function world(input: WorldInput = {}): World {
  const asked = { tenants: [] as TenantId[], sessions: [] as Caller[] };
  const log: LogLine[] = [];
  let made = 10;
  const deps: HttpDeps = {
    sessions: (tenant: TenantId, session: SessionId) => {
      asked.sessions.push({ tenant, session });
      return { ...unknownSession(), ...input.session };
    },
    tenants: (tenant) => {
      asked.tenants.push(tenant);
      return { ...emptyTenant(), ...input.tenant };
    },
    deployment: () => ({ ...emptyDeployment(), ...input.deployment }),
    channels: {
      findAdapter,
      find: async () => null,
      chats: () => ({ receive: async () => ({ claimed: [] }) }),
      isSuspended: async () => false,
      toWebhookTenant: (tenant) => toWebhookTenant(tenant, peppers),
      readWebhookTenant: (text) => readWebhookTenant(text, peppers),
      makePairingCode: async () => ({ code: "7KQ2MX9D", hash: "hash of 7KQ2MX9D" }),
      count: () => {},
    },
    adminKeys: { authenticate: async () => null, generate: async () => "lhadm_test_secret", noteChange: () => {} },
    tenantIds: { listTenantIds: async () => ({ data: [], has_more: false }) },
    endUsers: { listEndUsers: async () => ok({ data: [], has_more: false, next_cursor: null }), findEndUser: async () => null },
    usageList: {
      sumUsage: async () => ok({ data: [], has_more: false, next_cursor: null, complete_from: null }),
      countOldUsage: async () => [],
    },
    executions: { readExecution: async () => null },
    sessionSearch: { searchSessions: async () => ok({ data: [], has_more: false, next_cursor: null }) },
    sessionList: { listSessions: async () => ok({ data: [], has_more: false, next_cursor: null }), isListed: async () => false },
    authenticate: async (key) => (key === KEY ? (input.principal === undefined ? principal() : input.principal) : null),
    findKey: async () => (input.principal === undefined ? principal() : input.principal),
    openSocket: async () => new Response(null, { status: 204 }),
    signAccessToken: async (holder) => `header.${holder.access_token.id}.signature`,
    knownSettings: async () => {
      const settings = await { ...emptyTenant(), ...input.tenant }.settings();
      return settings.ok ? settings.value : null;
    },
    limits: async () => null,
    countFlood: null,
    requestRates: { admit: async () => ({ refused: null, states: [] }) },
    streamSlots: { take: async () => null, report: async () => undefined, release: async () => undefined },
    rows: async () => emptyRows(),
    tenantRows: async () => emptyTenantRows(),
    databases: emptyDatabases(),
    sealer: fakeSealer,
    compactionSealer: createCompactionSealer(peppers, () => NOW),
    probeLimits: async () => err({ reason: "unsupported", status: null }),
    listMcpTools: async () => ok({ tools: [], skipped: [], truncated: false }),
    files: () => null,
    fileSigner: createFileSigner(peppers, () => NOW),
    exports: () => ({ open: async () => null }),
    exportSigner: createExportSigner(peppers, () => NOW),
    readDocsFile: async () => null,
    noteChange: () => {},
    generateKey: async (tenant) => `lh_test_${tenant.slice(4)}_secret`,
    hashKey: async (key) => `hash of ${key}`,
    newId: (prefix) => makeId(prefix, made++),
    now: () => NOW,
    schedule: new FakeSchedule().schedule,
    newPipe: () => new TransformStream<Uint8Array, Uint8Array>(),
    log: noteLines(log),
    config: {
      adminKey: ADMIN_KEY,
      publicUrl: null,
      allowPrivateModelUrls: false,
      allowPrivateToolUrls: false,
      isLocal: true,
      defaultPolicy: "oneclaw",
      ...input.config,
    },
    ...input.deps,
  };
  const app = createApp(deps);
  const call: World["call"] = async (method, path, options = {}) => {
    const response = await app.request(path, toInit(method, options));
    const faults = (await readDocument(app)).findFaults(await toAnswer(method, path, response));
    const unsafe = findUnsafeHeaders(response, { path, publicUrl: deps.config.publicUrl });
    if (unsafe.length > 0) throw new Error(`${method}: ${unsafe.join("; ")}`);
    if (faults.length > 0) throw new Error(`Not as the OpenAPI document says:\n${faults.join("\n")}`);
    return response;
  };
  return { app, asked, log, call };
}

let plain: World | null = null;

/**
 * A world without changes, in which nothing was asked yet. Tests that walk all routes share its app, whose creation takes longer than a
 * request. Use one at a time: the next call empties its lists.
 */
export function plainWorld(): World {
  plain ??= world();
  for (const list of [plain.asked.tenants, plain.asked.sessions, plain.log]) list.length = 0;
  return plain;
}

let documented: Promise<DocumentedAnswers> | null = null;
reportAnswers(async () => documented);

/** The document is the same for every set of fakes, because it depends on the routes alone. */
export function readDocument(app: OpenAPIHono<HttpEnv>): Promise<DocumentedAnswers> {
  documented ??= (async () => new DocumentedAnswers(await (await app.request("/openapi.json")).json()))();
  return documented;
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  readonly errors?: readonly { readonly field: string; readonly detail: string }[];
  readonly [member: string]: unknown;
}

/** The response as an RFC 9457 document. Throws if it is none. */
export async function readProblem(response: Response): Promise<ProblemBody> {
  if (response.headers.get("content-type") !== "application/problem+json") throw new Error(`Not a problem: ${await response.text()}`);
  return await response.json();
}

export interface RouteEntry {
  readonly method: string;
  readonly path: string;
}

/** Every route of the app once, without middleware. */
/** Paths of other vendors' APIs, which our document does not describe. */
const OF_VENDORS = /^\/(?:v1\/(?:responses|conversations|chat|messages)(?:\/|$)|api\/|mcp(?:\/|$))/;
/** Chat platforms send to these, without a key. */
const OF_PLATFORMS = /^\/webhooks\//;

export function listAll(app: OpenAPIHono<HttpEnv>): readonly RouteEntry[] {
  const names = new Set(app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`));
  return [...names].map((name) => ({ method: name.slice(0, name.indexOf(" ")), path: name.slice(name.indexOf(" ") + 1) }));
}

/** The routes of the native API. */
export const listRoutes = (app: OpenAPIHono<HttpEnv>): readonly RouteEntry[] =>
  listAll(app).filter(({ path }) => !OF_VENDORS.test(path) && !OF_PLATFORMS.test(path));

/** The routes in the words of other vendors' APIs. */
export const listVendorRoutes = (app: OpenAPIHono<HttpEnv>): readonly RouteEntry[] =>
  listAll(app).filter(({ path }) => OF_VENDORS.test(path));

const params: Readonly<Record<string, string>> = {
  session_id: SESSION,
  conversation_id: `conv_${SESSION.slice(4)}`,
  item_id: makeId("msg"),
  response_id: `resp_${SESSION.slice(4)}${makeId("trn").slice(4)}`,
  message_id: makeId("msg"),
  turn_id: makeId("trn"),
  compaction_id: makeId("cmp"),
  execution_id: makeId("exe"),
  key_id: makeId("key"),
  model_id: "gpt-4o-mini",
  external_id: "order%2F1",
  chat_id: "order%2F1",
  credential_name: "openai",
  policy_name: "balanced",
  plan_name: "starter",
  tool_name: "weather",
  schedule_name: "briefing",
  file: "start.js",
  server_name: "github",
  channel_name: "support",
  user_id: "4711",
  branch: "2",
  tenant_id: FOREIGN_TENANT,
  tenant: FOREIGN_TENANT,
  channel: "support",
  file_id: makeId("fil"),
  erasure_id: makeId("era"),
  end_user: "user%2F1",
  export_id: makeId("exp"),
  import_id: makeId("imp"),
  endpoint_id: makeId("whk"),
  delivery_id: makeId("dlv"),
};

/** The path with well-formed ids in place of its parameters. */
export function fillPath(path: string): string {
  const filled = path.replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = path.startsWith("/v1/admin/keys/") ? makeId("adm") : params[name];
    if (value === undefined) throw new Error(`The walk knows no value for :${name}`);
    return value;
  });
  return filled + sampleQuery(path);
}

/** The query of a route that needs one. */
export const sampleQuery = (path: string): string => (path.endsWith("/context/diff") ? "?from=now&to=now" : "");

/** By the end of the route's path. */
const ENDINGS: readonly (readonly [ending: string, body: unknown])[] = [
  ["/imports/background", { export_id: makeId("exp") }],
  ["/respond", { messages: [{ content: "Hello" }] }],
  ["/messages/batch", { items: [{ content: "x" }] }],
  ["/context", { content: "Hello" }],
  ["/messages", { content: "Hello" }],
  ["/edit", { content: "Hello" }],
  ["/branches", { to: 0 }],
  ["/tool_results", { results: [{ call_id: "call_1", output: "42" }] }],
  ["/approvals", { approvals: [{ execution_id: makeId("exe"), approved: true }] }],
  ["/pins", { pins: ["Answer in French."] }],
  ["/:schedule_name", { cron: "0 9 * * *", message: "Give me today's briefing." }],
  ["/:compaction_id", { summary: "They spoke.", edits: 0 }],
  ["/compactions/compare", { a: "current", b: "current" }],
  ["/v1/keys", { name: "ci" }],
  ["/sessions/search", { query: "weather" }],
  ["/policies/evaluate", { session: SESSION, policy: "economy" }],
  ["/v1/tokens", { session_id: SESSION }],
  ["/v1/exports", { of: "session", session_id: makeId("ses") }],
  ["/refresh", undefined],
  ["/probe", undefined],
  ["/rotate", {}],
  ["/suspend", { reason: "unpaid" }],
  ["/resume", undefined],
  ["/webhook_endpoints", { url: "https://example.com/hooks" }],
  ["/test", undefined],
  ["/:delivery_id/replay", undefined],
  ["/replay", { since: 0 }],
];

/** The secret is the example of the Standard Webhooks specification. */
export const CHANNEL_SECRETS = {
  signature: "standard_webhooks",
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  reply_url: "https://example.com/replies",
} as const;

/** A valid body of a route that needs one. */
export function sampleBody({ method, path }: RouteEntry): unknown {
  if (method === "GET" || method === "DELETE") return undefined;
  const ending = ENDINGS.find(([end]) => path.endsWith(end));
  if (ending) return ending[1];
  if (path.startsWith("/v1/tools/")) return { url: "https://api.example.com/weather", parameters: { type: "object" } };
  if (path.startsWith("/v1/mcp_servers/")) return { url: "https://mcp.example.com/mcp" };
  if (path.endsWith("/pairing-codes")) return undefined;
  if (path.startsWith("/v1/channels/")) return { type: "generic", credentials: CHANNEL_SECRETS };
  if (path.startsWith("/v1/credentials/")) return { api_key: "sk-a-key-for-tests" };
  if (path.startsWith("/v1/models/")) return { provider: "embedded", context_window: 16_000, max_output: 1_000 };
  if (path.startsWith("/v1/admin/keys")) return { name: "on call", role: "operate" };
  if (path.endsWith("/move")) return { to: "DB_2" };
  if (path.startsWith("/v1/admin/plans/") || (method === "PATCH" && path.startsWith("/v1/admin/"))) return {};
  if (path.startsWith("/v1/admin/")) return { name: "Acme" };
  return {};
}
