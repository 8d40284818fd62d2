/** The entry point: fetch, queue, and the Durable Object classes. Read on in `app/turn/run-turn.ts` and `domain/decide.ts`. */
import { waitUntil } from "cloudflare:workers";
import { ZodError } from "zod";
import type { AdminPrincipal } from "./app/deployment-api";
import { newId } from "./app/new-id";
import { DEPLOYMENT_OBJECT_NAME } from "./app/object-name";
import type { Principal } from "./app/principal";
import { buildChannels } from "./channel-wiring";
import type { McpServer } from "./contract/registered-tool";
import { generateAdminKey, isAdminKeyShaped, isGenuineAdminKey } from "./deployment/admin-key";
import type { TenantId } from "./domain/ids";
import { type Config, type Env, parseConfig, readDeadLetterQueue, readPeppers } from "./env";
import { createExportSigner, createFileSigner } from "./files/signed-url";
import { createApp } from "./http/app";
import type { HttpDeps } from "./http/deps";
import { answerMisconfigured } from "./http/misconfigured";
import { defineSocketObject, toSocketRequest } from "./http/openai/responses/socket-object";
import { createLog } from "./lib/log";
import { hashBeside, hashKey } from "./lib/peppered";
import { openUnder } from "./lib/peppers";
import { err } from "./lib/result";
import { startTimer } from "./lib/timer";
import { createProbeLimits } from "./model/probe-limits";
import { consumeCompactions, consumeDeadLetters } from "./queue/consumer";
import { databaseFor, findDatabase, listDatabases } from "./read-model/database-for";
import { measureDatabases } from "./read-model/database-size";
import { createEndUserList } from "./read-model/end-users";
import { createExecutionReader } from "./read-model/execution-query";
import { createMoveDatabase } from "./read-model/move-database";
import { createSessionList } from "./read-model/queries";
import { createRebuildRows } from "./read-model/rebuild";
import { createSessionSearch } from "./read-model/session-search";
import { createTenantIds } from "./read-model/tenant-ids";
import { createTenantRows } from "./read-model/tenant-rows";
import { createUsageList } from "./read-model/usage-query";
import { createCompactionSealer } from "./tenant/credentials/compaction-sealer";
import { createCredentialSealer } from "./tenant/credentials/credential-sealer";
import { signAccessToken, verifyAccessToken } from "./tenant/keys/access-token";
import { generateApiKey, isGenuine, parseApiKey } from "./tenant/keys/api-key";
import { createKeyCache, KEY_CACHE_TTL_MS } from "./tenant/look-ups/key-cache";
import { createTokenEnds } from "./tenant/look-ups/token-ends";
import { buildDeploymentModels } from "./tenant/settings/registry";
import { noteChange, readGeneration } from "./tenant/shared/changes";
import { listMcpTools } from "./tools/list-mcp-tools";
import { openSecretHeader } from "./tools/tool-secret";
import {
  buildChatModel,
  buildCompactionQueue,
  buildExportStore,
  buildFileReader,
  buildFileStore,
  credentialsFor,
  deploymentStub,
  isSuspended,
  knowledgeFor,
  limitsFor,
  openCredentialFor,
  perEnv,
  ratesFor,
  sessionStub,
  slotsFor,
  suggestLimitTo,
  takeModelCall,
  tenantStub,
  toolFetchFor,
} from "./wiring";

export { ChatObject } from "./channels/chat/chat-object";
export { DeploymentObject } from "./deployment/deployment-object";
export { SessionObject } from "./session/session-object";
export { TenantObject } from "./tenant/tenant-object";

const CACHED_KEYS = 10_000;
/** More than there can be valid ones (`deployment/admin-keys`). */
const CACHED_ADMIN_KEYS = 200;

/** The isolate's cache of key look-ups. */
const keyTimes = { ttlMs: KEY_CACHE_TTL_MS, now: Date.now, readGeneration, background: waitUntil, schedule: startTimer };
const keys = createKeyCache<Principal>({ ...keyTimes, max: CACHED_KEYS });
const adminKeys = createKeyCache<AdminPrincipal>({ ...keyTimes, max: CACHED_ADMIN_KEYS });
const apps = new WeakMap<Env, ReturnType<typeof createApp>>();

/** Ends the tokens of erased end users. */
const tokenEndsFor = perEnv((env) => {
  const ask = async (tenant: TenantId, endUser: string) => {
    const ended = await tenantStub(env, tenant).endUserEnded(endUser);
    return ended.ok ? ended.value : Number.POSITIVE_INFINITY;
  };
  return createTokenEnds({ ask, now: Date.now, readGeneration, max: CACHED_KEYS, background: waitUntil, schedule: startTimer });
});

async function authenticate(env: Env, config: Config, key: string): Promise<Principal | null> {
  const parts = parseApiKey(key);
  const peppers = readPeppers(config);
  const now = Date.now();
  if (!parts) {
    const verify = (pepper: string) => verifyAccessToken(key, { env: config.ENVIRONMENT, pepper, now });
    const holder = await tokenEndsFor(env)(await openUnder(peppers, now, verify));
    const standing = holder && (await knowledgeFor(env).standing(holder.tenant));
    return holder && standing && { ...holder, ...(standing.status !== "active" && { suspended: true as const }) };
  }
  const { tenant } = parts;
  const hash = await hashKey(key, peppers.current);
  return keys.find(hash, tenant, async () => {
    // Addressing an object creates it, so a made-up key must be rejected before that.
    if (!(await isGenuine(key, peppers))) return null;
    return tenantStub(env, tenant).authenticate(hash, await hashBeside(key, peppers, now));
  });
}

async function findKey(env: Env, tenant: TenantId, hash: string): Promise<Principal | null> {
  const principal = await keys.find(hash, tenant, async () => tenantStub(env, tenant).authenticate(hash, null));
  return principal?.suspended ? null : principal;
}

async function authenticateAdmin(env: Env, config: Config, key: string): Promise<AdminPrincipal | null> {
  if (!isAdminKeyShaped(key)) return null;
  const peppers = readPeppers(config);
  const hash = await hashKey(key, peppers.current);
  return adminKeys.find(hash, DEPLOYMENT_OBJECT_NAME, async () => {
    if (!(await isGenuineAdminKey(key, peppers))) return null;
    const stub = deploymentStub(env);
    const admin = await stub.authenticateAdmin(hash, await hashBeside(key, peppers, Date.now()));
    // The request does not wait for the note, and a lost one does no harm.
    if (admin?.key) waitUntil(stub.noteAdminUse(admin.key).catch(() => undefined));
    return admin;
  });
}

const tokenIssuer = ({ ENVIRONMENT, KEY_PEPPER }: Config) => ({ env: ENVIRONMENT, pepper: KEY_PEPPER, now: Date.now() });

/** Asks an MCP server for its tools, while the tenant's client waits for the answer. */
async function listServerTools(env: Env, { tenant, server }: { tenant: TenantId; server: McpServer }) {
  const config = parseConfig(env);
  const secret = await openSecretHeader(server.secret_header, openCredentialFor(env, tenant));
  if (!secret.ok) return err({ reason: "no_key", status: null } as const);
  const deps = { fetch: toolFetchFor(config.ALLOW_PRIVATE_TOOL_URLS), schedule: startTimer };
  return listMcpTools({ server, secret: secret.value, signal: new AbortController().signal }, deps);
}

/** Null when the deployment has no such file, or no files at all. */
async function readAsset({ ASSETS }: Env, path: string, headers: Headers): Promise<Response | null> {
  const response = await ASSETS?.fetch(new Request(`https://assets.local${path}`, { headers }));
  return response && response.status !== 404 ? response : null;
}

const buildFloodCounter = ({ FLOODS }: Env): HttpDeps["countFlood"] =>
  FLOODS ? async (key) => (await FLOODS.limit({ key })).success : null;

function buildDeps(env: Env): HttpDeps {
  const config = parseConfig(env);
  // The objects build these models themselves; building them here too reports an error in them early.
  buildDeploymentModels(config.MODELS);
  return {
    sessions: (tenant, session) => sessionStub(env, tenant, session),
    tenants: (tenant) => tenantStub(env, tenant),
    deployment: () => deploymentStub(env),
    channels: buildChannels(env, config),
    adminKeys: {
      authenticate: (key) => authenticateAdmin(env, config, key),
      generate: () => generateAdminKey(config.ENVIRONMENT, config.KEY_PEPPER),
      noteChange: () => noteChange(DEPLOYMENT_OBJECT_NAME),
    },
    tenantIds: createTenantIds(env),
    sessionList: createSessionList(env),
    sessionSearch: createSessionSearch(env),
    usageList: createUsageList(env),
    endUsers: createEndUserList(env),
    executions: createExecutionReader(env),
    authenticate: (key) => authenticate(env, config, key),
    findKey: (tenant, hash) => findKey(env, tenant, hash),
    openSocket: (request, holder) => env.RESPONSE_SOCKETS.get(env.RESPONSE_SOCKETS.newUniqueId()).fetch(toSocketRequest(request, holder)),
    signAccessToken: (holder) => signAccessToken(holder, tokenIssuer(config)),
    knownSettings: (tenant, model) => {
      if (model !== undefined) knowledgeFor(env).expectModel(tenant, model);
      return knowledgeFor(env).settings(tenant);
    },
    limits: limitsFor(env),
    requestRates: ratesFor(env),
    streamSlots: slotsFor(env),
    countFlood: buildFloodCounter(env),
    generateKey: (tenant) => generateApiKey({ env: config.ENVIRONMENT, tenant }, config.KEY_PEPPER),
    hashKey: (key) => hashKey(key, config.KEY_PEPPER),
    rows: async (tenant) => createRebuildRows(await databaseFor(env, tenant)),
    tenantRows: async (tenant) => createTenantRows(await databaseFor(env, tenant)),
    databases: {
      names: [...listDatabases(env).keys()],
      measure: () => measureDatabases(env),
      forMove: (name) => createMoveDatabase(findDatabase(env, name)),
    },
    sealer: createCredentialSealer(config.CREDENTIALS_KEYS),
    compactionSealer: createCompactionSealer(readPeppers(config), Date.now),
    probeLimits: (tenant, model) => createProbeLimits({ credentials: credentialsFor(env, tenant) })(model),
    listMcpTools: (tenant, server) => listServerTools(env, { tenant, server }),
    files: (tenant) => buildFileStore(env, tenant),
    fileSigner: createFileSigner(readPeppers(config), Date.now),
    exports: (tenant) => buildExportStore(env, tenant),
    exportSigner: createExportSigner(readPeppers(config), Date.now),
    readDocsFile: (name, headers) => readAsset(env, `/docs/${name}`, headers),
    noteChange,
    newId,
    now: Date.now,
    schedule: startTimer,
    newPipe: () => new IdentityTransformStream(),
    log: createLog({ worker: "http" }),
    config: {
      adminKey: config.ADMIN_KEY ?? null,
      publicUrl: config.PUBLIC_URL,
      allowPrivateModelUrls: config.ALLOW_PRIVATE_MODEL_URLS,
      allowPrivateToolUrls: config.ALLOW_PRIVATE_TOOL_URLS,
      isLocal: config.ENVIRONMENT === "dev",
      defaultPolicy: config.POLICY,
    },
  };
}

function buildApp(env: Env): ReturnType<typeof createApp> {
  const app = apps.get(env) ?? createApp(buildDeps(env));
  apps.set(env, app);
  return app;
}

const ResponseSocketObject = defineSocketObject(buildDeps);

export { ResponseSocketObject };

export default {
  async fetch(request, env, ctx) {
    try {
      return await buildApp(env).fetch(request, env, ctx);
    } catch (error) {
      // The app answers errors inside a request itself. A `ZodError` that gets here comes from the configuration.
      if (error instanceof ZodError) return answerMisconfigured(error, createLog({ worker: "http" }));
      throw error;
    }
  },

  async queue(batch, env, ctx) {
    const log = createLog({ worker: "queue" });
    if (batch.queue === readDeadLetterQueue(env)) return consumeDeadLetters(batch.messages, log);
    const config = parseConfig(env);
    await consumeCompactions(batch.messages, {
      // A new stub for each call: once its object was reset, a stub stays broken and would fail the whole attempt.
      sessions: (job) => ({
        leaseCompaction: (caller, compaction) => sessionStub(env, job.tenant, job.session).leaseCompaction(caller, compaction),
        holdsLease: (caller, lease) => sessionStub(env, job.tenant, job.session).holdsLease(caller, lease),
        recordCompaction: (caller, input) => sessionStub(env, job.tenant, job.session).recordCompaction(caller, input),
      }),
      model: ({ tenant }) =>
        buildChatModel(env, {
          credentials: credentialsFor(env, tenant),
          suggest: suggestLimitTo({ env, tenant, log }, (work) => ctx.waitUntil(work)),
          files: buildFileReader({ env, config: () => config, tenant }),
          takeCall: ({ countedFor = { key: null, end_user: null } }) => takeModelCall(env, { tenant, ...countedFor }),
        }),
      isSuspended: ({ tenant }) => isSuspended(env, tenant, log),
      queue: buildCompactionQueue(env),
      clock: Date.now,
      schedule: startTimer,
      random: Math.random,
      log,
    });
  },
} satisfies ExportedHandler<Env>;
