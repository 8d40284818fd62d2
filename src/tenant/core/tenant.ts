/**
 * One tenant in its object: the stores over its SQLite, and the reporting of their changes. Each change is one
 * transaction with the note that the read model lags. A tenant that was never created stores nothing, however often its
 * name is called.
 */
import type { KnownBudgets } from "../../app/budget-counters";
import { digestEndUser } from "../../app/end-user-digest";
import type { OutcomeStore } from "../../app/idempotency";
import type { DeploymentKeys } from "../../app/key-source";
import type { ErasedSessionUsage, TenantChange, TenantOutcome } from "../../app/tenant-api";
import { type Audited, type AuditLog, auditing, createAuditLog } from "../../audit/audit-log";
import type { PolicyChoice } from "../../context/policy-choice";
import type { CredentialView } from "../../contract/credential";
import { giveWay } from "../../lib/timer";
import { type ChannelLog, createChannelLog } from "../channels/channel-log";
import { forgetPerson } from "../channels/channel-people";
import { type ChannelStore, createChannelStore } from "../channels/channel-store";
import { createPairingStore, type PairingStore } from "../channels/pairing";
import { type CredentialStore, createCredentialStore } from "../credentials/credential-store";
import { createFiles, type Files } from "../files/files";
import { createKeys, type Keys } from "../keys/keys";
import { type Budgets, createBudgets } from "../limits/budgets";
import { createRateWindows, type RateWindows } from "../limits/rate-windows";
import { createSlotLeases, type SlotLeases } from "../limits/slot-leases";
import { createStandings, type Standings } from "../limits/standing";
import { createTenantLimits, type TenantLimits } from "../limits/tenant-limits";
import { MODEL_PRESETS } from "../settings/model-presets";
import { createRegistry, type DeploymentModels, type Registry } from "../settings/registry";
import { createSettings, type Settings } from "../settings/settings";
import { createToolRegistry, type ToolRegistry } from "../settings/tool-registry";
import { noteChange } from "../shared/changes";
import { digestExternalId } from "../shared/digests";
import { createDirectory, type Directory } from "../shared/directory";
import { createPlacementStore, type PlacementStore } from "../shared/placement-store";
import { createRequests } from "../shared/requests";
import { createTenantEvents, type TenantEvents } from "../shared/tenant-events";
import { createErasedUsage, type ErasedUsageStore } from "../usage/erased-usage";
import { createUsageBound, type UsageBound } from "../usage/usage-bound";
import { listSettings } from "./list-settings";
import { isCreated, migrateTenant } from "./tenant-schema";
import { createUpkeep, type Upkeep, type UpkeepDeps } from "./upkeep";

interface TenantDeps
  extends Omit<
    UpkeepDeps,
    | "snapshot"
    | "requests"
    | "events"
    | "listSettings"
    | "tenant"
    | "isDeleted"
    | "isSuspended"
    | "audit"
    | "files"
    | "directory"
    | "erasedUsage"
    | "usageBound"
  > {
  readonly deployment: { readonly models: DeploymentModels; readonly keys: DeploymentKeys; readonly policy: PolicyChoice };
}

const ANY_CREDENTIAL = { has: (): boolean => true };

/** Leaves out the package's prices, which are in no row: a change need not load them. */
const UNPRICED = (): null => null;

export class Tenant {
  readonly #deps: TenantDeps;
  readonly settings: Settings;
  readonly audit: AuditLog;
  readonly standings: Standings;
  readonly requests: OutcomeStore<string>;
  readonly keys: Keys;
  readonly registry: Registry;
  readonly credentials: CredentialStore;
  readonly tools: ToolRegistry;
  readonly channels: ChannelStore;
  readonly pairing: PairingStore;
  readonly channelLog: ChannelLog;
  /** For settings that are restored: what they name may still be missing. */
  readonly restored: { readonly registry: Registry; readonly tools: ToolRegistry };
  readonly directory: Directory;
  readonly erasedUsage: ErasedUsageStore;
  readonly files: Files;
  readonly rates: RateWindows;
  readonly slots: SlotLeases;
  readonly limits: TenantLimits;
  readonly events: TenantEvents;
  readonly budgets: Budgets;
  readonly placement: PlacementStore;
  readonly usageBound: UsageBound;
  readonly upkeep: Upkeep;
  #isCreated: boolean;

  constructor(deps: TenantDeps) {
    const { sql, deployment } = deps;
    this.#deps = deps;
    this.settings = createSettings(sql);
    this.audit = createAuditLog({
      sql,
      owner: () => this.settings.identity().tenant,
      now: Date.now,
      noteAppended: (entry) => this.upkeep.adminActs.note(entry),
    });
    this.standings = createStandings(sql);
    this.requests = createRequests(sql);
    this.keys = createKeys(sql);
    this.credentials = createCredentialStore(sql);
    this.tools = createToolRegistry(sql, this.credentials);
    this.channels = createChannelStore(sql, () => this.settings.identity().tenant);
    this.pairing = createPairingStore(sql);
    this.channelLog = createChannelLog(sql);
    this.registry = createRegistry({
      sql,
      deployment: deployment.models,
      credentials: this.credentials,
      deploymentKeys: deployment.keys,
      now: Date.now,
    });
    this.restored = {
      registry: createRegistry({
        sql,
        deployment: deployment.models,
        credentials: ANY_CREDENTIAL,
        deploymentKeys: deployment.keys,
        now: Date.now,
      }),
      tools: createToolRegistry(sql, ANY_CREDENTIAL),
    };
    this.directory = createDirectory(sql);
    this.erasedUsage = createErasedUsage(sql, {
      digest: (endUser) => this.digestEndUser(endUser),
      areKept: () => !this.settings.isDeleted(),
    });
    this.files = createFiles(sql);
    this.rates = createRateWindows(sql);
    this.slots = createSlotLeases(sql, (endUser) => this.digestEndUser(endUser));
    this.limits = createTenantLimits(sql);
    this.events = createTenantEvents(sql, {
      isDeleted: () => this.settings.isDeleted(),
      appended: (event, seq) => this.upkeep.webhooks.addOfTenant(event, seq),
    });
    this.budgets = createBudgets({ sql, events: this.events, known: () => this.#readBudgets() });
    this.placement = createPlacementStore(sql);
    this.usageBound = createUsageBound(sql);
    this.upkeep = createUpkeep({
      ...deps,
      requests: this.requests,
      events: this.events,
      usageBound: this.usageBound,
      audit: this.audit,
      files: this.files,
      directory: this.directory,
      erasedUsage: this.erasedUsage,
      snapshot: () => this.snapshot(),
      listSettings: (kinds) => listSettings(this, kinds),
      tenant: () => this.settings.identity().tenant,
      isDeleted: () => this.settings.isDeleted(),
      isSuspended: () => this.standings.read().status !== "active",
    });
    this.#isCreated = isCreated(sql);
    if (!this.#isCreated) return;
    sql.transaction(() => this.#prepare());
    deps.background(this.upkeep.resume());
  }

  get isCreated(): boolean {
    return this.#isCreated;
  }

  /** A deleted tenant answers as one that was never created, except to what erases it. */
  get isOpen(): boolean {
    return this.#isCreated && !this.settings.isDeleted();
  }

  get deploymentPolicy(): PolicyChoice {
    return this.#deps.deployment.policy;
  }

  #readBudgets(): KnownBudgets {
    const { revision = 0, budgets = [] } = this.limits.readAssigned() ?? {};
    return { revision, budgets };
  }

  transaction<T>(body: () => T): T {
    return this.#deps.sql.transaction(body);
  }

  /** What the directory has in place of an end user's name. */
  digestEndUser(endUser: string): string {
    return digestEndUser(this.settings.identity().tenant, endUser);
  }

  /** Ends what the tenant's channels have of an end user that is erased. Call it inside a transaction. */
  forgetPerson(endUser: string): void {
    const { exports, scrub } = this.upkeep;
    const person = { endUser, digest: this.digestEndUser(endUser), unlisted: () => exports.endOfChannels() };
    if (forgetPerson(this.#deps.sql, person)) scrub.noteNow();
  }

  /** Runs `body` in a transaction, with the digest of the external id. */
  withExternalId<T>(text: string | null, body: (digest: string | null) => T): T {
    const digest = text === null ? null : digestExternalId(this.settings.identity().tenant, text);
    return this.transaction(() => body(digest));
  }

  /** Runs a write in a later turn of the event loop: an answer waits for every write that began before it left. */
  afterAnswer(write: () => void): void {
    this.#deps.background(giveWay().then(write));
  }

  /** Creates the tables of a new tenant and its first rows. */
  create<T>(body: () => TenantOutcome<T>): TenantOutcome<T> {
    const created = this.change(() => {
      this.#prepare();
      return body();
    });
    this.#isCreated = true;
    return created;
  }

  /** Changes what the read model shows. The write to D1 runs in the background, so no caller waits for it. */
  change<T>(body: () => TenantOutcome<T>): TenantOutcome<T> {
    const outcome = this.transaction(() => {
      const value = body();
      if (value.ok) this.upkeep.outbox.touch();
      return value;
    });
    if (outcome.ok) this.#deps.background(this.upkeep.outbox.drain());
    return this.announce(outcome);
  }

  /** The body of a transaction that makes a change with its entry in the audit log. A refused change leaves no entry. */
  audited<T>(audited: Audited<T>, body: () => TenantOutcome<T>): () => TenantOutcome<T> {
    return auditing(this.audit, audited, body);
  }

  /** The write to D1 runs in the background, as for every change. */
  async endThrowaway(ended: ErasedSessionUsage): Promise<void> {
    await this.upkeep.endThrowaway(ended);
    this.#deps.background(this.upkeep.usageOutbox.drain());
  }

  /** Makes this isolate drop its cached answers about the tenant. Returns `outcome`. */
  announce<T>(outcome: T): T {
    if (this.#isCreated) noteChange(this.settings.identity().tenant);
    return outcome;
  }

  snapshot(): TenantChange {
    return { ...this.settings.identity(), settings: this.settings.read(), models: this.registry.list(UNPRICED) };
  }

  isKnownModel(id: string): boolean {
    return this.registry.resolve(id, UNPRICED) !== null;
  }

  credentialViews(): readonly CredentialView[] {
    return this.credentials.list().map((credential) => ({ ...credential, models: this.registry.listModelsWith(credential.name) }));
  }

  /** Migrates the tables. A deployment with other models or presets changes what this tenant can name: then the outbox's alarm is armed. */
  #prepare(): void {
    const { sql, deployment } = this.#deps;
    migrateTenant(sql);
    this.upkeep.outbox.touchIfDeploymentChanged(JSON.stringify([[...deployment.models], MODEL_PRESETS]));
  }
}
