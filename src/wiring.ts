/** Adapters that both the Worker's entry point and the objects need, built from the bindings in one place. */

import { waitUntil } from "cloudflare:workers";
import type { ExportStore } from "./app/export-api";
import type { FileReader, TenantFileStore } from "./app/file-api";
import { createKnownInterest } from "./app/known-interest";
import { type CallOwner, type TakeCall, takeCall, withCallLimit } from "./app/models/limit-calls";
import { type SuggestLimit, sendSuggestion, withSuggestions } from "./app/models/suggest-limits";
import { DEPLOYMENT_OBJECT_NAME, sessionObjectName, tenantObjectName } from "./app/object-name";
import type { CompactionQueue, Credentials, Log } from "./app/ports";
import { createRateMeter, shareOfLimit } from "./app/rate-meter";
import { createSlotMeter } from "./app/slot-meter";
import type { SendWebhook } from "./app/webhook-api";
import { estimateTokens } from "./context/tokens";
import type { LimitSet } from "./contract/limits";
import { parseId, type SessionId, type TenantId } from "./domain/ids";
import type { Standing } from "./domain/tenant-status";
import { type Config, type Env, parseConfig, readDeploymentKeys, readPeppers } from "./env";
import { createExportStore } from "./files/export-store";
import { createFileReader } from "./files/file-reader";
import { createFileStore } from "./files/r2-store";
import { createFileSigner } from "./files/signed-url";
import { toErrorName } from "./lib/error-name";
import { createLog } from "./lib/log";
import { memoize } from "./lib/memoize";
import { readRequest, tellRequest } from "./lib/request-scope";
import { startTimer } from "./lib/timer";
import { createChatModel } from "./model/chat-model";
import { withFiles } from "./model/with-files";
import { openCredential } from "./tenant/credentials/credential-seal";
import { createCredentials, createOpenCredential } from "./tenant/credentials/credentials";
import { createBudgetCache } from "./tenant/look-ups/budget-source";
import { createLookUpCache, type LookUp } from "./tenant/look-ups/look-up-cache";
import { createModelDirectory } from "./tenant/look-ups/model-directory";
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
    made.delete(tenant);
    made.set(tenant, known);
    const [oldest] = made.keys();
    if (made.size > CACHED_TENANTS && oldest !== undefined) made.delete(oldest);
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

/** The tenants whose standing an isolate caches. */
const CACHED_STANDINGS = 10_000;
/** A suspension refuses access tokens, and lets no turn start, within this time. */
const STANDING_TTL_MS = 10_000;

/**
 * Reads from the isolate's cache, or the tenant's object. While that is out of reach the last known answer holds. Null: there is no such
 * tenant.
 */
export const standingsFor = perEnv(
  (env): LookUp<Standing> =>
    createLookUpCache({
      ask: async (name) => {
        const tenant = parseId("ten", name);
        const standing = tenant && (await tenantStub(env, tenant).standing());
        return standing?.ok ? standing.value : null;
      },
      now: Date.now,
      ttlMs: STANDING_TTL_MS,
      generation: readGeneration,
      max: CACHED_STANDINGS,
      background: waitUntil,
    }),
);

/** Chat goes on while the tenant's object cannot be asked. */
export async function isSuspended(env: Env, tenant: TenantId, log: Log): Promise<boolean> {
  try {
    const standing = await standingsFor(env)(tenant);
    return standing !== null && standing.status !== "active";
  } catch (error) {
    log.warn("standing_unknown", { tenant, error: toErrorName(error) });
    return false;
  }
}

/** What the look-ups of one tenant share. */
const toLookUps = (tenant: TenantId) => ({ now: Date.now, generation: () => readGeneration(tenant), background: waitUntil });

export const modelsFor = perTenant((env, tenant) =>
  createModelDirectory({ stub: { resolveModel: (id) => tenantStub(env, tenant).resolveModel(id) }, ...toLookUps(tenant) }),
);

export const toolsFor = perTenant((env, tenant) => {
  const stub = {
    listTools: (names: readonly string[] | null) => tenantStub(env, tenant).listTools(names),
    listMcpServers: (names: readonly string[] | null) => tenantStub(env, tenant).listMcpServers(names),
  };
  return createToolDirectory({ stub, ...toLookUps(tenant) });
});

export const openCredentialFor = perTenant((env, tenant) =>
  createOpenCredential({
    tenant,
    stub: { sealedCredential: (name) => tenantStub(env, tenant).sealedCredential(name) },
    masterKeys: () => configFor(env).CREDENTIALS_KEYS,
    now: Date.now,
    log: createLog({ component: "credentials" }),
    background: waitUntil,
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

/** Tenants whose limits an isolate caches. */
const CACHED_LIMITS = 10_000;
/** Tenants, keys and end users with a limit whose blocks an isolate keeps. */
const CACHED_RATES = 20_000;

/** Reads from the isolate's cache, or the tenant's object. No look-up of a key brings the limits of an access token, or of a session. */
export const limitsFor = perEnv((env) => {
  const lookUp = createLookUpCache<{ readonly limits: LimitSet | null }>({
    ask: async (name) => {
      const tenant = parseId("ten", name);
      return tenant && { limits: await tenantStub(env, tenant).limits() };
    },
    now: Date.now,
    generation: readGeneration,
    max: CACHED_LIMITS,
    background: waitUntil,
  });
  return async (tenant: TenantId): Promise<LimitSet | null> => (await lookUp(tenant))?.limits ?? null;
});

/** How often the tenant's object is asked before an isolate goes on alone. */
const SLOT_TRIES = 3;

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
      const answer = tenant && (await callAgain(SLOT_TRIES, () => tenantStub(env, tenant).takeSlots(call)));
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
      const taken = tenant && (await tenantStub(env, tenant).takeRates(asks));
      if (!taken) throw new Error("No tenant granted the rates");
      return taken;
    },
    now: Date.now,
    smallest: shareOfLimit,
    max: CACHED_RATES,
  }),
);

/** What this isolate knows of tenants' budgets, for all of its objects. */
export const budgetsFor = perEnv((env) =>
  createBudgetCache({
    ask: async (name) => {
      const tenant = parseId("ten", name);
      return tenant && tenantStub(env, tenant).knownBudgets();
    },
    now: Date.now,
    generation: readGeneration,
    max: CACHED_LIMITS,
    background: waitUntil,
  }),
);

/** What this isolate knows of what tenants' webhooks want, for all of its objects. */
export const interestFor = perEnv((env) =>
  createKnownInterest({
    ask: async (name) => {
      const tenant = parseId("ten", name);
      return tenant && tenantStub(env, tenant).webhookInterest();
    },
    now: Date.now,
    generation: readGeneration,
    max: CACHED_LIMITS,
    background: waitUntil,
  }),
);

export const takeModelCall = (env: Env, owner: CallOwner): Promise<number | null> =>
  takeCall(owner, { limits: limitsFor(env), rates: ratesFor(env), now: Date.now });
