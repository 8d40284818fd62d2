/**
 * The Durable Object of one session: the composition root that the platform constructs. It brings the world as ports
 * and adds nothing; `service` says what may be asked, `runtime` is what lives.
 */
import { DurableObject } from "cloudflare:workers";
import type { BranchApi } from "../app/branch-api";
import type { ControlApi, WholeSessionApi } from "../app/control-api";
import type { CompactionView } from "../app/control-views";
import type { DraftApi } from "../app/draft-api";
import type { ExecutionView } from "../app/execution-views";
import type { SuggestedLimit } from "../app/model-entry";
import { sendSuggestion, withSuggestions } from "../app/models/suggest-limits";
import { newId } from "../app/new-id";
import { tenantObjectName } from "../app/object-name";
import type { PastApi } from "../app/past-api";
import type { RecallInput, RecallReport } from "../app/recall-views";
import type * as api from "../app/session-api";
import type * as views from "../app/session-views";
import { estimateTokens } from "../context/tokens";
import type { StoredEvent } from "../domain/events";
import type { CompactionId, ItemId, TenantId, TurnId } from "../domain/ids";
import { type Config, deploymentKeysOf, type Env, parseConfig } from "../env";
import { createLog } from "../lib/log";
import { memoize } from "../lib/memoize";
import { sha256 } from "../lib/sha256";
import { startTimer } from "../lib/timer";
import { createChatModel } from "../model/chat-model";
import { databaseFor } from "../read-model/database-for";
import { createProjection } from "../read-model/writer";
import { generationOf } from "../tenant/changes";
import { createCredentials, createOpenCredential } from "../tenant/credentials";
import { createModelDirectory } from "../tenant/model-directory";
import { createToolDirectory } from "../tenant/tool-directory";
import { createUsageArchive } from "../tenant/usage-archive";
import { createToolFetch } from "../tools/safe-fetch";
import { createToolRunner } from "../tools/tool-runner";
import { ringAlarm } from "./alarm";
import { createObjectSql } from "./log/do-sql";
import { SessionRuntime } from "./runtime";
import { SessionService } from "./service";

const DEADLINES = { firstTokenMs: 60_000, idleMs: 60_000, thinkingMs: 5 * 60_000, totalMs: 15 * 60_000 } as const;

export class SessionObject extends DurableObject<Env> implements WholeSessionApi {
  readonly #runtime: SessionRuntime;
  readonly #service: SessionService;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const log = createLog({ object: "session" });
    let config: Config | null = null;
    // Parsed when it is needed: over a wrong variable the object must still be made, or the platform drops its alarm.
    const readConfig = (): Config => (config ??= parseConfig(env));
    const tenantStub = (tenant: TenantId) => env.TENANTS.getByName(tenantObjectName(tenant));
    const models = memoize((tenant: TenantId) => {
      return createModelDirectory({
        stub: { resolveModel: (id) => tenantStub(tenant).resolveModel(id) },
        now: Date.now,
        generation: () => generationOf(tenant),
      });
    });
    const credentials = memoize((tenant: TenantId) => {
      const keys = () => ({ masterKeys: readConfig().CREDENTIALS_KEYS, deploymentKeys: deploymentKeysOf(readConfig()) });
      const stub = { sealedCredential: (name: string) => tenantStub(tenant).sealedCredential(name) };
      return createCredentials({ tenant, stub, keys, now: Date.now, log });
    });
    const fetchTool = memoize((allowPrivate: boolean) =>
      createToolFetch({ fetch: (url, init) => fetch(url, init), now: Date.now, allowPrivate }),
    );
    const tools = memoize((tenant: TenantId) => {
      const stub = {
        listTools: (names: readonly string[] | null) => tenantStub(tenant).listTools(names),
        listMcpServers: (names: readonly string[] | null) => tenantStub(tenant).listMcpServers(names),
        sealedCredential: (name: string) => tenantStub(tenant).sealedCredential(name),
      };
      return createToolRunner({
        directory: createToolDirectory({ stub, now: Date.now, generation: () => generationOf(tenant) }),
        openSecret: createOpenCredential({ tenant, stub, masterKeys: () => readConfig().CREDENTIALS_KEYS, now: Date.now, log }),
        fetch: (request) => fetchTool(readConfig().ALLOW_PRIVATE_TOOL_URLS)(request),
        schedule: startTimer,
      });
    });
    const suggest = (tenant: TenantId, suggested: SuggestedLimit): void =>
      this.ctx.waitUntil(sendSuggestion(suggested, { tenant, stub: tenantStub(tenant), log }));
    this.#runtime = new SessionRuntime({
      sql: createObjectSql(ctx.storage),
      clock: Date.now,
      ids: { newId },
      incarnation: crypto.randomUUID(),
      random: Math.random,
      schedule: startTimer,
      setAlarm: (at) => this.ctx.waitUntil(ctx.storage.setAlarm(at)),
      background: (work) => this.ctx.waitUntil(work),
      model: withSuggestions(
        createChatModel({
          credentials: async (spec) => (await this.#tenant((tenant) => credentials(tenant)(spec))) ?? null,
          estimate: estimateTokens,
          ai: env.AI,
        }),
        (suggested) => this.#tenant((tenant) => suggest(tenant, suggested)),
      ),
      models,
      tools,
      queue: { send: async (job) => void (await env.COMPACTIONS.send(job)) },
      projection: (tenant) => createProjection(databaseFor(env, tenant)),
      usageArchive: (tenant) => createUsageArchive({ keepUsage: (input) => tenantStub(tenant).keepUsage(input) }),
      digest: sha256,
      deadlines: DEADLINES,
      log,
    });
    this.#service = new SessionService(this.#runtime);
  }

  /** Whose session it is, once it was opened: no model is called before. */
  #tenant<T>(use: (tenant: TenantId) => T): T | null {
    const { tenant } = this.#runtime.state;
    return tenant && use(tenant);
  }

  override async alarm(): Promise<void> {
    ringAlarm(this.#runtime);
  }

  // RPC wants methods of the class with concrete types.
  open(caller: api.Caller, input: api.OpenInput): Promise<api.Outcome<views.SessionDescription>> {
    return this.#service.open(caller, input);
  }
  describe(caller: api.Caller): Promise<api.Outcome<views.SessionDescription>> {
    return this.#service.describe(caller);
  }
  patch(caller: api.Caller, input: api.PatchInput): Promise<api.Outcome<views.SessionDescription>> {
    return this.#service.patch(caller, input);
  }
  erase(caller: api.Caller, isNoted?: boolean): Promise<api.Outcome<views.ErasureReceipt>> {
    return this.#service.erase(caller, isNoted);
  }
  submit(caller: api.Caller, input: api.SubmitInput): Promise<api.Outcome<views.Accepted>> {
    return this.#service.submit(caller, input);
  }
  cancelQueued(caller: api.Caller, message: ItemId): Promise<api.Outcome<null>> {
    return this.#service.cancelQueued(caller, message);
  }
  toolResults(caller: api.Caller, input: Parameters<api.SessionApi["toolResults"]>[1]): Promise<api.Outcome<views.Accepted>> {
    return this.#service.toolResults(caller, input);
  }
  approvals(caller: api.Caller, input: Parameters<api.SessionApi["approvals"]>[1]): Promise<api.Outcome<views.Accepted>> {
    return this.#service.approvals(caller, input);
  }
  stop(caller: api.Caller, input: Parameters<api.SessionApi["stop"]>[1]): ReturnType<api.SessionApi["stop"]> {
    return this.#service.stop(caller, input);
  }
  retry(caller: api.Caller, input: Parameters<api.SessionApi["retry"]>[1]): Promise<api.Outcome<views.Accepted>> {
    return this.#service.retry(caller, input);
  }
  waitForTurn(caller: api.Caller, turn: TurnId): Promise<api.Outcome<views.TurnReport>> {
    return this.#service.waitForTurn(caller, turn);
  }
  turn(caller: api.Caller, turn: TurnId): Promise<api.Outcome<views.TurnReport>> {
    return this.#service.turn(caller, turn);
  }
  stream(caller: api.Caller, input: api.StreamInput): Promise<api.Outcome<ReadableStream<Uint8Array>>> {
    return this.#service.stream(caller, input);
  }
  executions(caller: api.Caller, page: api.PageInput): Promise<api.Outcome<views.Page<ExecutionView>>> {
    return this.#service.executions(caller, page);
  }
  events(caller: api.Caller, page: api.PageInput): Promise<api.Outcome<views.Page<StoredEvent>>> {
    return this.#service.events(caller, page);
  }
  compactions(caller: api.Caller, page: api.PageInput): Promise<api.Outcome<views.Page<CompactionView>>> {
    return this.#service.compactions(caller, page);
  }
  usage(caller: api.Caller, page: api.PageInput): Promise<api.Outcome<views.Page<views.LedgerRow>>> {
    return this.#service.usage(caller, page);
  }
  compaction(caller: api.Caller, id: CompactionId): Promise<api.Outcome<CompactionView>> {
    return this.#service.compaction(caller, id);
  }
  context(caller: api.Caller, input: Parameters<api.SessionApi["context"]>[1]): Promise<api.Outcome<views.ContextReport>> {
    return this.#service.context(caller, input);
  }
  contextAt(caller: api.Caller, input: Parameters<PastApi["contextAt"]>[1]): ReturnType<PastApi["contextAt"]> {
    return this.#service.contextAt(caller, input);
  }
  contextDiff(caller: api.Caller, input: Parameters<PastApi["contextDiff"]>[1]): ReturnType<PastApi["contextDiff"]> {
    return this.#service.contextDiff(caller, input);
  }
  recall(caller: api.Caller, input: RecallInput): Promise<api.Outcome<RecallReport>> {
    return this.#service.recall(caller, input);
  }
  compact(caller: api.Caller, input: Parameters<ControlApi["compact"]>[1]): ReturnType<ControlApi["compact"]> {
    return this.#service.compact(caller, input);
  }
  revertCompaction(caller: api.Caller, input: Parameters<ControlApi["revertCompaction"]>[1]): ReturnType<ControlApi["revertCompaction"]> {
    return this.#service.revertCompaction(caller, input);
  }
  resetSummary(caller: api.Caller): ReturnType<ControlApi["resetSummary"]> {
    return this.#service.resetSummary(caller);
  }
  setPins(caller: api.Caller, pins: readonly string[]): ReturnType<ControlApi["setPins"]> {
    return this.#service.setPins(caller, pins);
  }
  editDraft(caller: api.Caller, edit: Parameters<DraftApi["editDraft"]>[1]): ReturnType<DraftApi["editDraft"]> {
    return this.#service.editDraft(caller, edit);
  }
  commitDraft(caller: api.Caller, input: Parameters<DraftApi["commitDraft"]>[1]): ReturnType<DraftApi["commitDraft"]> {
    return this.#service.commitDraft(caller, input);
  }
  discardDraft(caller: api.Caller, compaction: CompactionId): ReturnType<DraftApi["discardDraft"]> {
    return this.#service.discardDraft(caller, compaction);
  }
  compareSummaries(caller: api.Caller, input: Parameters<DraftApi["compareSummaries"]>[1]): ReturnType<DraftApi["compareSummaries"]> {
    return this.#service.compareSummaries(caller, input);
  }
  leaseCompaction(caller: api.Caller, compaction: CompactionId): Promise<api.Outcome<api.LeaseOutcome>> {
    return this.#service.leaseCompaction(caller, compaction);
  }
  recordCompaction(
    caller: api.Caller,
    input: Parameters<api.SessionApi["recordCompaction"]>[1],
  ): ReturnType<api.SessionApi["recordCompaction"]> {
    return this.#service.recordCompaction(caller, input);
  }
  exportLog(caller: api.Caller, input: Parameters<api.SessionApi["exportLog"]>[1]): Promise<api.Outcome<views.LogPage>> {
    return this.#service.exportLog(caller, input);
  }
  branches(caller: api.Caller): ReturnType<BranchApi["branches"]> {
    return this.#service.branches(caller);
  }
  items(caller: api.Caller, input: Parameters<api.SessionApi["items"]>[1]): ReturnType<api.SessionApi["items"]> {
    return this.#service.items(caller, input);
  }
  rewind(caller: api.Caller, input: Parameters<BranchApi["rewind"]>[1]): ReturnType<BranchApi["rewind"]> {
    return this.#service.rewind(caller, input);
  }
  switchBranch(caller: api.Caller, input: Parameters<BranchApi["switchBranch"]>[1]): ReturnType<BranchApi["switchBranch"]> {
    return this.#service.switchBranch(caller, input);
  }
  compareBranches(caller: api.Caller, input: Parameters<BranchApi["compareBranches"]>[1]): ReturnType<BranchApi["compareBranches"]> {
    return this.#service.compareBranches(caller, input);
  }
  editMessage(caller: api.Caller, input: Parameters<BranchApi["editMessage"]>[1]): ReturnType<BranchApi["editMessage"]> {
    return this.#service.editMessage(caller, input);
  }
  regenerate(caller: api.Caller, input: Parameters<BranchApi["regenerate"]>[1]): ReturnType<BranchApi["regenerate"]> {
    return this.#service.regenerate(caller, input);
  }
  redact(caller: api.Caller, input: Parameters<BranchApi["redact"]>[1]): ReturnType<BranchApi["redact"]> {
    return this.#service.redact(caller, input);
  }
  forkHead(caller: api.Caller, input: Parameters<BranchApi["forkHead"]>[1]): ReturnType<BranchApi["forkHead"]> {
    return this.#service.forkHead(caller, input);
  }
  forkPage(caller: api.Caller, input: Parameters<BranchApi["forkPage"]>[1]): ReturnType<BranchApi["forkPage"]> {
    return this.#service.forkPage(caller, input);
  }
  findFork(caller: api.Caller, input: Parameters<BranchApi["findFork"]>[1]): ReturnType<BranchApi["findFork"]> {
    return this.#service.findFork(caller, input);
  }
  beginFork(caller: api.Caller, input: Parameters<BranchApi["beginFork"]>[1]): ReturnType<BranchApi["beginFork"]> {
    return this.#service.beginFork(caller, input);
  }
  copyIntoFork(caller: api.Caller, input: Parameters<BranchApi["copyIntoFork"]>[1]): ReturnType<BranchApi["copyIntoFork"]> {
    return this.#service.copyIntoFork(caller, input);
  }
  completeFork(caller: api.Caller): ReturnType<BranchApi["completeFork"]> {
    return this.#service.completeFork(caller);
  }
}
