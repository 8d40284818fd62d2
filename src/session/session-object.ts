/**
 * The Durable Object of one session: the composition root that the platform constructs. It passes the world in as ports
 * and takes its methods from `sessionCalls`. `runtime` holds the session.
 */
import { DurableObject } from "cloudflare:workers";
import { countFor } from "../app/limit-owners";
import { newId } from "../app/new-id";
import { chatStub } from "../channel-wiring";
import type { TenantId } from "../domain/ids";
import { type Config, type Env, parseConfig } from "../env";
import { createLog } from "../lib/log";
import { memoize } from "../lib/memoize";
import { sha256 } from "../lib/sha256";
import { takeMethods } from "../lib/take-methods";
import { startTimer } from "../lib/timer";
import { findWrittenDatabases } from "../read-model/database-for";
import { warnOfSize } from "../read-model/database-size";
import { createPlacedProjection } from "../read-model/placed-projection";
import { createProjection } from "../read-model/writer";
import { createAnnouncementSource } from "../tenant/look-ups/announcement-source";
import { createBudgetSource } from "../tenant/look-ups/budget-source";
import { createUsageArchive } from "../tenant/usage/usage-archive";
import { createToolRunner } from "../tools/tool-runner";
import {
  buildChatModel,
  buildCompactionQueue,
  buildFileReader,
  credentialsFor,
  isSuspended,
  knowledgeFor,
  modelsFor,
  openCredentialFor,
  slotsFor,
  suggestLimitTo,
  takeModelCall,
  tenantStub,
  toolFetchFor,
  toolsFor,
} from "../wiring";
import { ringAlarm } from "./alarm";
import { createObjectSql } from "./log/do-sql";
import { SessionRuntime } from "./runtime";
import { sessionCalls } from "./service";

const DEADLINES = { firstTokenMs: 60_000, idleMs: 60_000, thinkingMs: 5 * 60_000, totalMs: 15 * 60_000 } as const;

export class SessionObject extends DurableObject<Env> {
  readonly #runtime: SessionRuntime;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const log = createLog({ object: "session" });
    let config: Config | null = null;
    // Parsed on first use: the object must be constructed even when a variable is wrong, or the platform drops its
    // alarm.
    const readConfig = (): Config => (config ??= parseConfig(env));
    const buildWiring = (tenant: TenantId) => ({ env, config: readConfig, tenant, log });
    const tools = memoize((tenant: TenantId) => {
      return createToolRunner({
        directory: toolsFor(env, tenant),
        openSecret: openCredentialFor(env, tenant),
        fetch: (request) => toolFetchFor(readConfig().ALLOW_PRIVATE_TOOL_URLS)(request),
        schedule: startTimer,
      });
    });
    const files = memoize((tenant: TenantId) => buildFileReader(buildWiring(tenant)));
    const waitUntil = (work: Promise<unknown>) => ctx.waitUntil(work);
    this.#runtime = new SessionRuntime({
      sql: createObjectSql(ctx.storage),
      clock: Date.now,
      ids: { newId },
      incarnation: crypto.randomUUID(),
      random: Math.random,
      schedule: startTimer,
      setAlarm: (at) => this.ctx.waitUntil(ctx.storage.setAlarm(at)),
      background: (work) => this.ctx.waitUntil(work),
      model: buildChatModel(env, {
        credentials: async (spec) => (await this.#tenant((tenant) => credentialsFor(env, tenant)(spec))) ?? null,
        suggest: (suggested) => this.#tenant((tenant) => suggestLimitTo(buildWiring(tenant), waitUntil)(suggested)),
        files: {
          readBase64: async (file) => (await this.#tenant((tenant) => files(tenant).readBase64(file))) ?? null,
          readText: async (file) => (await this.#tenant((tenant) => files(tenant).readText(file))) ?? null,
          findAddress: async (file, at) => (await this.#tenant((tenant) => files(tenant).findAddress(file, at))) ?? null,
        },
        takeCall: async ({ countedFor = countFor(undefined, this.#runtime.state, this.#runtime.content) }) =>
          (await this.#tenant((tenant) => takeModelCall(env, { tenant, ...countedFor }))) ?? null,
      }),
      files: (tenant) => ({
        keep: async (input) => {
          const kept = await tenantStub(env, tenant).keepFiles(input);
          if (!kept.ok) throw new Error(kept.error.code);
        },
      }),
      budgets: (tenant) =>
        createBudgetSource({
          tenant,
          known: knowledgeFor(env).budgets,
          stub: { renewBudget: (input) => tenantStub(env, tenant).renewBudget(input) },
        }),
      announcements: (tenant) =>
        createAnnouncementSource({
          tenant,
          known: knowledgeFor(env).interest,
          stub: { announce: (session, announcements) => tenantStub(env, tenant).announce(session, announcements) },
        }),
      chats: (address) => chatStub(env, address),
      isSuspended: (tenant) => isSuspended(env, tenant, log),
      limits: {
        read: (tenant) => {
          const { model } = this.#runtime.state.settings;
          if (model) knowledgeFor(env).expectModel(tenant, model);
          return knowledgeFor(env).limits(tenant);
        },
        slots: slotsFor(env),
      },
      models: (tenant) => modelsFor(env, tenant),
      tools,
      queue: buildCompactionQueue(env),
      projection: (tenant) =>
        createPlacedProjection(
          () => findWrittenDatabases(env, tenant),
          (db) => createProjection(db, { noteSize: (bytes) => warnOfSize(env, { db, bytes, now: Date.now(), log }) }),
        ),
      acts: (tenant) => ({
        // A tenant that was never created has no log.
        record: async (session, acts) => void (await tenantStub(env, tenant).recordSessionActs(session, acts)),
      }),
      usageArchive: (tenant) =>
        createUsageArchive({
          keepUsage: (input) => tenantStub(env, tenant).keepUsage(input),
          endThrowaway: (input) => tenantStub(env, tenant).endThrowaway(input),
        }),
      digest: sha256,
      deadlines: DEADLINES,
      log,
    });
    void ctx.blockConcurrencyWhile(() => this.#runtime.load());
  }

  /** Uses the session's tenant. Null before the session is opened; no model is called before that. */
  #tenant<T>(use: (tenant: TenantId) => T): T | null {
    const { tenant } = this.#runtime.state;
    return tenant && use(tenant);
  }

  override async alarm(): Promise<void> {
    ringAlarm(this.#runtime);
  }

  static {
    takeMethods(SessionObject, sessionCalls, (object) => object.#runtime);
  }
}
