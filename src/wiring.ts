/** Adapters that both the Worker's entry point and the objects need, built from the bindings in one place. */

import { waitUntil } from "cloudflare:workers";
import type { ExportStore } from "./app/export-api";
import type { FileReader, TenantFileStore } from "./app/file-api";
import { setNewest } from "./app/known-answers";
import { type CallOwner, type TakeCall, takeCall, withCallLimit } from "./app/models/limit-calls";
import { type SuggestLimit, sendSuggestion, withSuggestions } from "./app/models/suggest-limits";
import { DEPLOYMENT_OBJECT_NAME, sessionObjectName, tenantObjectName } from "./app/object-name";
import type { CompactionQueue, Credentials, Log, ModelDirectory } from "./app/ports";
import { createRateMeter } from "./app/rate-meter";
import { createSlotMeter } from "./app/slot-meter";
import type { SendWebhook } from "./app/webhook-api";
import { estimateTokens } from "./context/tokens";
import { parseId, type SessionId, type TenantId } from "./domain/ids";
import { type Config, type Env, parseConfig, readDeploymentKeys, readPeppers } from "./env";
import { createExportStore } from "./files/export-store";
import { createFileReader } from "./files/file-reader";
import { createFileStore } from "./files/r2-store";
import { createFileSigner } from "./files/signed-url";
import { toErrorName } from "./lib/error-name";
import { createLog } from "./lib/log";
import { memoize } from "./lib/memoize";
import { readRequest, tellRequest } from "./lib/request-scope";
import { startTimer, within } from "./lib/timer";
import { createChatModel } from "./model/chat-model";
import { withFiles } from "./model/with-files";
import { notePlacement } from "./read-model/database-for";
import { openCredential } from "./tenant/credentials/credential-seal";
import { createCredentials, createOpenCredential } from "./tenant/credentials/credentials";
import { createTenantKnowledge } from "./tenant/look-ups/tenant-knowledge";
import { createToolDirectory } from "./tenant/look-ups/tool-directory";
import { readGeneration } from "./tenant/shared/changes";
import { createToolFetch } from "./tools/safe-fetch";
import { createWebhookSender } from "./tools/send-webhook";

/** What an adapter of one tenant needs. `config` is called only when it needs a variable. */
interface TenantWiring {
  readonly env: Env;
  readonly config: () => Config;
  readonly tenant: TenantId;
  readonly log: Log;
}

/** Makes one value for each set of bindings. An isolate has one; the tests have several. */
export function perEnv<T>(make: (env: Env) => T): (env: Env) => T {
  const made = new WeakMap<Env, { readonly value: T }>();
  return (env) => {
    const known = made.get(env) ?? { value: make(env) };
    made.set(env, known);
    return known.value;
  };
}

/** Tenants whose look-ups an isolate keeps. The ones that were used longest ago leave. */
const CACHED_TENANTS = 2_000;

/** Makes one value for each tenant in an isolate: all its sessions share what one of them looked up. */
export function perTenant<T>(make: (env: Env, tenant: TenantId) => T): (env: Env, tenant: TenantId) => T {
  const madeIn = perEnv(() => new Map<TenantId, { readonly value: T }>());
  return (env, tenant) => {
    const made = madeIn(env);
    const known = made.get(tenant) ?? { value: make(env, tenant) };
    setNewest(made, [tenant, known], CACHED_TENANTS);
    return known.value;
  };
}

/** Parsed when a key is needed, so that models without a key work even when a variable is invalid. */
export const configFor = perEnv(parseConfig);

/** Returns a new stub on each call, because a stub stays broken once its object was reset. */
export const sessionStub = (env: Env, tenant: TenantId, session: SessionId) =>
  tellRequest(env.SESSIONS.getByName(sessionObjectName(tenant, session)));
export const tenantStub = (env: Env, tenant: TenantId) => tellRequest(env.TENANTS.getByName(tenantObjectName(tenant)));
export const deploymentStub = (env: Env) => tellRequest(env.DEPLOYMENT.getByName(DEPLOYMENT_OBJECT_NAME));

/** A job's lines name the request that asked for the compaction, where there was one. */
export const buildCompactionQueue = (env: Env): CompactionQueue => ({
  send: async (job) => {
    const request_id = readRequest();
    await env.COMPACTIONS.send({ ...job, ...(request_id !== null && { request_id }) });
  },
});

/** What this isolate knows of its tenants, for its Worker and all of its objects. */
export const knowledgeFor = perEnv((env) =>
  createTenantKnowledge({
    ask: (tenant, model) => tenantStub(env, tenant).brief(model),
    askCredential: (tenant, name) => tenantStub(env, tenant).sealedCredential(name),
    place: (tenant, placement, askedAt) => notePlacement(env, tenant, { placement, askedAt }),
    now: Date.now,
    generation: readGeneration,
    background: waitUntil,
    schedule: startTimer,
  }),
);

/** Chat goes on while the tenant's object cannot be asked. */
export async function isSuspended(env: Env, tenant: TenantId, log: Log): Promise<boolean> {
  try {
    const standing = await knowledgeFor(env).standing(tenant);
    return standing !== null && standing.status !== "active";
  } catch (error) {
    log.warn("standing_unknown", { tenant_id: tenant, error: toErrorName(error) });
    return false;
  }
}

export const modelsFor = (env: Env, tenant: TenantId): ModelDirectory => ({ resolve: (id) => knowledgeFor(env).model(tenant, id) });

export const toolsFor = perTenant((env, tenant) => {
  const stub = {
    listTools: (names: readonly string[] | null) => tenantStub(env, tenant).listTools(names),
    listMcpServers: (names: readonly string[] | null) => tenantStub(env, tenant).listMcpServers(names),
  };
  const generation = () => readGeneration(tenant);
  return createToolDirectory({ stub, now: Date.now, generation, background: waitUntil, schedule: startTimer });
});

export const openCredentialFor = perTenant((env, tenant) =>
  createOpenCredential({
    tenant,
    find: (name) => knowledgeFor(env).credential(tenant, name),
    masterKeys: () => configFor(env).CREDENTIALS_KEYS,
    log: createLog({ component: "credentials" }),
  }),
);

export const credentialsFor = (env: Env, tenant: TenantId): Credentials =>
  createCredentials({ open: openCredentialFor(env, tenant), deploymentKeys: () => readDeploymentKeys(configFor(env)) });

/** Null when the deployment has no bucket for files. */
export const buildFileStore = ({ FILES }: Env, tenant: TenantId): TenantFileStore | null => (FILES ? createFileStore(FILES, tenant) : null);

/** Null when the deployment has no bucket. */
export const buildExportStore = ({ FILES }: Env, tenant: TenantId): ExportStore | null => (FILES ? createExportStore(FILES, tenant) : null);

interface ChatModelWiring {
  readonly credentials: Credentials;
  readonly suggest: SuggestLimit;
  readonly files: FileReader;
  readonly takeCall: TakeCall;
}

/** The models of all providers. A limit that a refusal names is suggested to the tenant's registry. */
export function buildChatModel(env: Env, { credentials, suggest, files, takeCall: take }: ChatModelWiring) {
  const model = withFiles(createChatModel({ credentials, estimate: estimateTokens, ai: env.AI }), files);
  return withCallLimit(withSuggestions(model, suggest), take);
}

/** Keeps what it read for a short time. */
export const buildFileReader = ({ env, config, tenant }: Omit<TenantWiring, "log">): FileReader =>
  createFileReader({
    tenant,
    store: buildFileStore(env, tenant),
    signer: () => createFileSigner(readPeppers(config()), Date.now),
    publicUrl: () => config().PUBLIC_URL,
    now: Date.now,
  });

/** Suggests limits in the background: the model call neither waits for the tenant's object nor fails with it. */
export function suggestLimitTo(
  { env, tenant, log }: Omit<TenantWiring, "config">,
  waitUntil: (work: Promise<unknown>) => void,
): SuggestLimit {
  return (suggested) => waitUntil(sendSuggestion(suggested, { tenant, stub: tenantStub(env, tenant), log }));
}

/** One instance per isolate, which shares the cache of resolved names. `allowPrivate`: private addresses may be called. */
export const toolFetchFor = memoize((allowPrivate: boolean) =>
  createToolFetch({ fetch: (url, init) => fetch(url, init), now: Date.now, allowPrivate }),
);

/** Opens a secret of an endpoint for one try: only its sealed form is stored. */
export const sendWebhookFor = (env: Env, tenant: TenantId): SendWebhook =>
  createWebhookSender({
    fetch: (request) => toolFetchFor(configFor(env).ALLOW_PRIVATE_TOOL_URLS)(request),
    openSecret: async (sealed, name) => openCredential(sealed, configFor(env).CREDENTIALS_KEYS, { tenant, name }),
    schedule: startTimer,
    now: Date.now,
  });

/** Tenants, keys and end users with a limit whose blocks an isolate keeps. */
const CACHED_RATES = 20_000;

/** No look-up of a key brings the limits of an access token, or of a session. */
export const limitsFor = (env: Env) => (tenant: TenantId) => knowledgeFor(env).limits(tenant);

/** How often the tenant's object is asked before an isolate goes on alone, */
const SLOT_TRIES = 3;
/** and how long it is waited for, with all tries. */
const TAKE_MS = 5_000;

async function callAgain<T>(tries: number, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (tries <= 1) throw cause;
    return callAgain(tries - 1, call);
  }
}

/** This isolate's slots of turns and streams. */
export const slotsFor = perEnv((env) =>
  createSlotMeter({
    ask: async (owner, call) => {
      const tenant = parseId("ten", owner);
      // A call that is repeated changes nothing, and an object that was reset answers a new stub.
      const tries = tenant && callAgain(SLOT_TRIES, () => tenantStub(env, tenant).takeSlots(call));
      const answer = tries && (await within(TAKE_MS, startTimer, tries));
      if (!answer) throw new Error("No tenant leased the slots");
      return answer;
    },
    now: Date.now,
    newId: () => crypto.randomUUID(),
    max: CACHED_RATES,
  }),
);

/** This isolate's blocks, for its Worker and its objects together. Throws where the tenant's object refuses, as where it is out of reach. */
export const ratesFor = perEnv((env) =>
  createRateMeter({
    ask: async (owner, asks) => {
      const tenant = parseId("ten", owner);
      const taken = tenant && (await within(TAKE_MS, startTimer, tenantStub(env, tenant).takeRates(asks)));
      if (!taken) throw new Error("No tenant granted the rates");
      return taken;
    },
    now: Date.now,
    background: waitUntil,
    max: CACHED_RATES,
  }),
);

export const takeModelCall = (env: Env, owner: CallOwner): Promise<number | null> =>
  takeCall(owner, { limits: limitsFor(env), rates: ratesFor(env), now: Date.now });
