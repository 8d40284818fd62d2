import { serveSession } from "../../scripts/support/serve-session";
import type { ChannelAdapter, ChannelTraits, Delivery } from "../../src/app/channels/channel";
import { Chat } from "../../src/app/channels/chat";
import type { ChatAddress, OpenChannel } from "../../src/app/channels/chat-api";
import type { ChatDeps, WantedSession } from "../../src/app/channels/chat-ports";
import type { WholeSessionApi } from "../../src/app/control-api";
import { openChatStore } from "../../src/channels/chat/chat-rows";
import { openChatSession } from "../../src/channels/chat/open-chat-session";
import { createPlatformClient } from "../../src/channels/chat/platform-client";
import type { ChannelSettings } from "../../src/contract/channel";
import type { HttpToolEntry } from "../../src/contract/registered-tool";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { sha256Sync } from "../../src/lib/sha256-sync";
import type { SyncSql } from "../../src/lib/sync-sql";
import { ringAlarm } from "../../src/session/alarm";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import { createDirectory, type Directory } from "../../src/tenant/shared/directory";
import { createTestAdapter, SETTINGS, TRAITS } from "../channels/chat-life";
import { world as buildApi, TENANT } from "../http/support";
import { countingIds } from "../support/builders";
import { WriteFailedError } from "../support/faulty-sql";
import { createEmptySql, createMigratedSql } from "../tenant/memory-sql";
import { ChatModels } from "./chat-models";
import { type PlatformFaults, SimChatPlatform } from "./chat-platform";
import { ResetError, SimObject } from "./file-world";
import { createQuietPorts, createSessionSql } from "./quiet-session";
import { Random } from "./random";
import { Scheduler, Scope } from "./scheduler";
import { Stats } from "./stats";
import { Violations } from "./violation";

const CHANNEL = "support";
const ISOLATES = 2;
/** Errors of this world. Any other is a fault of the code under test. */
const INJECTED = ["WriteFailedError", "ResetError"];

/** A tool that a person must approve. */
const PAY: HttpToolEntry = {
  ...{ name: "pay", description: null, parameters: { type: "object" }, needs_approval: true, files: null },
  ...{ url: "https://tool.test", method: "POST", secret_header: null, timeout_ms: 10_000, max_bytes: 1_000 },
  ...{ created_at: 0, updated_at: 0, credential_missing: false },
};

interface SessionLife {
  readonly scope: Scope;
  readonly service: WholeSessionApi;
  readonly runtime: SessionRuntime;
}

interface SimSession {
  readonly sql: Sql;
  readonly object: SimObject<SessionLife>;
}

interface ChatLife {
  readonly scope: Scope;
  readonly chat: Chat;
}

interface SimChat {
  readonly address: ChatAddress;
  readonly sql: SyncSql;
  readonly object: SimObject<ChatLife>;
}

interface Isolate {
  readonly scope: Scope;
  readonly app: ReturnType<typeof buildApi>["app"];
  readonly requests: Set<(error: Error) => void>;
}

interface Faults extends PlatformFaults {
  slow: number;
  chatCrashes: number;
  sessionCrashes: number;
  isolateCrashes: number;
  tenantCrashes: number;
  /** A write to a chat's database fails. */
  writes: number;
  modelFails: number;
}

interface StreamEnds {
  readonly scope: Scope;
  readonly from: SimObject<SessionLife>;
  readonly to: SimObject<ChatLife>;
}

/** A reply or a delivery that a chat gave up, with the words of its log. */
interface Noted {
  readonly id: string;
  readonly reason: string;
}

export class ChatWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly stats = new Stats();
  readonly violations = new Violations();
  readonly platform: SimChatPlatform;
  readonly faults: Faults;
  readonly settings: ChannelSettings;
  readonly traits: ChannelTraits;
  readonly models: ChatModels;
  /** What people do, and how often. */
  readonly acts: Readonly<Record<"write" | "write_twice" | "command" | "edit" | "delete" | "press" | "remind", number>>;
  readonly tenantSql = createMigratedSql();
  readonly directory: Directory = createDirectory(this.tenantSql);
  readonly tenant: SimObject<{ readonly scope: Scope }>;
  readonly chats = new Map<string, SimChat>();
  readonly sessions = new Map<SessionId, SimSession>();
  readonly noted: Noted[] = [];
  readonly newId = countingIds();
  readonly #adapter: ChannelAdapter<unknown>;
  #isolates: Isolate[] = [];
  #made = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    const { random, scheduler, stats } = this;
    this.faults = drawFaults(random);
    this.settings = { ...SETTINGS, ...drawSettings(random) };
    this.traits = drawTraits(random);
    this.acts = {
      ...{ write: 6, write_twice: 1 },
      command: random.pick([0, 1.5]),
      edit: random.pick([0, 0, 1.5]),
      delete: random.pick([0, 0, 1]),
      press: random.pick([0.5, 2]),
      remind: random.pick([0, 0, 1]),
    };
    const post = (deliveries: readonly Delivery[]) => this.#post(deliveries);
    this.platform = new SimChatPlatform({ scheduler, random, stats, traits: this.traits, faults: this.faults, post });
    this.models = new ChatModels(this);
    this.#adapter = { ...createTestAdapter(this.traits), parse: (request) => readDeliveries(request.body) };
    this.tenant = new SimObject(this.#objects, "tenant", { create: (scope) => ({ scope }), ring: () => {} });
    this.#isolates = Array.from({ length: ISOLATES }, () => this.#createIsolate());
  }

  get #objects() {
    return { ...this, platform: this.platform.scope };
  }

  #createIsolate(): Isolate {
    const scope = new Scope(`isolate ${++this.#made}`);
    const channel: OpenChannel = { settings: this.settings, credentials: null };
    const { app } = buildApi({
      deps: {
        now: () => this.scheduler.now,
        schedule: (ms, work) => this.scheduler.timer(scope, { ms, label: "the webhook's time" }, work),
        channels: {
          findAdapter: () => this.#adapter,
          find: async () => channel,
          chats: (address) => ({
            receive: (to, deliveries) => this.findChat(address).object.call(scope, "receive", ({ chat }) => chat.receive(to, deliveries)),
          }),
          isSuspended: async () => false,
          toWebhookTenant: async (tenant) => tenant,
          readWebhookTenant: async () => TENANT,
          makePairingCode: async () => ({ code: "", hash: "" }),
          count: () => {},
        },
      },
    });
    return { scope, app, requests: new Set() };
  }

  /** One request, to any isolate. Rejects when the isolate dies before the answer. */
  #post(deliveries: readonly Delivery[]): Promise<Response> {
    const isolate = this.random.pick(this.#isolates);
    return new Promise((resolve, reject) => {
      isolate.requests.add(reject);
      const asked = isolate.app.request(`/webhooks/${TENANT}/${CHANNEL}`, { method: "POST", body: JSON.stringify(deliveries) });
      void Promise.resolve(asked)
        .then(resolve, reject)
        .finally(() => isolate.requests.delete(reject));
    });
  }

  findChat(address: ChatAddress): SimChat {
    const known = this.chats.get(address.conversation);
    if (known) return known;
    const base = createEmptySql();
    // The first life makes the tables. A life whose object cannot be made never takes a delivery.
    openChatStore(base);
    const sql = this.#withFaults(base);
    const object = new SimObject<ChatLife>(this.#objects, `chat ${address.conversation}`, {
      create: (scope) => ({ scope, chat: new Chat(this.#chatDeps(made, scope)) }),
      ring: ({ chat }) => chat.alarmRang(),
    });
    const made: SimChat = { address, sql, object };
    this.chats.set(address.conversation, made);
    return made;
  }

  #withFaults(sql: SyncSql): SyncSql {
    return {
      ...sql,
      rows: (statement, ...params) => {
        if (/^\s*(INSERT INTO|UPDATE) (?!schema)/.test(statement) && this.random.chance(this.faults.writes)) {
          this.stats.count("writes failed");
          throw new WriteFailedError();
        }
        return sql.rows(statement, ...params);
      },
    };
  }

  #chatDeps({ sql, object }: SimChat, scope: Scope): ChatDeps {
    const { scheduler, violations } = this;
    const schedule: ChatDeps["schedule"] = (ms, work) => scheduler.timer(scope, { ms, label: `${ms} ms` }, work);
    return {
      store: openChatStore(sql),
      now: () => scheduler.now,
      schedule,
      digest: async (text) => sha256Sync(text),
      setAlarm: (at) => object.setAlarm(at),
      background: (work) => void work.catch((error: unknown) => violations.report("I15", `background work threw ${String(error)}`)),
      findChannel: async () => {
        await scheduler.gate(scope, "finds the channel", { weight: 4 });
        return { settings: this.settings, credentials: null };
      },
      findAdapter: () => this.#adapter,
      sessions: (_, session) => this.#reachSession({ scope, object }, session),
      tenant: () => ({ pairUser: async () => false, note: async () => {} }),
      openSession: (_, wanted) => this.#openSession({ scope, object }, wanted),
      eraseSession: (_, session) => this.#eraseSession(scope, session),
      send: createPlatformClient({ fetch: this.platform.reachedBy(scope), schedule }),
      takeRequest: async () => null,
      takeFile: async () => err({ reason: "none" }),
      scrub: async () => {},
      log: this.#log(),
    };
  }

  #log(): ChatDeps["log"] {
    const note = (event: string, fields?: Readonly<Record<string, unknown>>): void => {
      this.stats.count(`log ${event}`);
      const isOwn = fields?.error !== undefined && !INJECTED.includes(String(fields.error));
      if (isOwn) this.violations.report("I15", `${event} ${JSON.stringify(fields)}`);
    };
    return {
      info: (event, fields) => {
        if (event === "chat.noted") this.noted.push({ id: String(fields?.id), reason: String(fields?.reason) });
      },
      warn: note,
      error: note,
    };
  }

  #openSession(chat: Pick<SimChat, "object"> & { readonly scope: Scope }, wanted: WantedSession) {
    const { scope } = chat;
    const register = (naming: Parameters<Parameters<typeof openChatSession>[0]["ports"]["register"]>[0]) =>
      this.tenant.call(scope, "register", () => {
        const external_id = naming.external_id ? sha256Sync(naming.external_id) : null;
        const input = { ...naming, session: this.newId("ses"), external_id, idempotency: null, at: this.scheduler.now };
        return this.tenantSql.transaction(() => this.directory.register(input));
      });
    const tenant = {
      settings: async () => ok({ name: "", default_model: "big", default_policy: "", allowed_origins: [] }),
      listTools: async () => ok([PAY]),
      listMcpServers: async () => ok([]),
    };
    const ports = {
      register: async (naming: Parameters<typeof register>[0]) => ({ registered: await register(naming), isKeyed: false }),
      open: (session: SessionId, input: Parameters<WholeSessionApi["open"]>[1]) =>
        this.#reachSession(chat, session).open({ tenant: TENANT, session }, { ...input, chat: wanted.chat }),
      describe: (session: SessionId) => this.#reachSession(chat, session).describe({ tenant: TENANT, session }),
      forget: (session: SessionId) => this.tenant.call(scope, "forget", () => this.directory.forget(session)),
    };
    return openChatSession({ tenant, deploymentPolicy: "balanced", ports }, wanted);
  }

  /** As the tenant's object erases: again and again, until every store has reported. */
  async #eraseSession(scope: Scope, session: SessionId): Promise<void> {
    const caller = { tenant: TENANT, session };
    const erased = await this.findSession(session).object.call(scope, "erase", ({ service }) => service.erase(caller, true));
    if (!erased.ok) throw new Error(erased.error.code);
    await this.tenant.call(scope, "forget", () => this.directory.forget(session));
  }

  #reachSession({ scope, object }: { readonly scope: Scope; readonly object: SimChat["object"] }, id: SessionId): WholeSessionApi {
    const session = this.findSession(id);
    const call = (name: string, input: readonly unknown[]) =>
      session.object.call(scope, name, ({ service }): unknown => Reflect.apply(Reflect.get(service, name), service, input));
    const stream: WholeSessionApi["stream"] = async (...input) => {
      const opened = await session.object.call(scope, "stream", ({ service }) => service.stream(...input));
      return opened.ok ? ok(this.#carry(opened.value, { scope, from: session.object, to: object })) : opened;
    };
    return new Proxy({ stream } as WholeSessionApi, {
      get: (known, name) => Reflect.get(known, name) ?? ((...input: readonly unknown[]) => call(String(name), input)),
    });
  }

  /** A stream between two objects. It breaks when the one that writes dies, and is left when the one that reads does. */
  #carry(inner: ReadableStream<Uint8Array>, { scope, from, to }: StreamEnds): ReadableStream<Uint8Array> {
    const reader = inner.getReader();
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    const leave = (): void => void reader.cancel().catch(() => undefined);
    const stops = [from.watch(() => broken.reject(new ResetError("the stream broke"))), to.watch(leave)];
    const end = (): void => {
      for (const stop of stops) stop();
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const read = await Promise.race([reader.read(), broken.promise]);
          await this.scheduler.gate(scope, "hears", { weight: 6 });
          if (!read.done) return controller.enqueue(read.value);
          end();
          controller.close();
        },
        cancel: () => {
          end();
          return reader.cancel();
        },
      },
      { highWaterMark: 0 },
    );
  }

  findSession(id: SessionId): SimSession {
    const known = this.sessions.get(id);
    if (known) return known;
    const object = new SimObject<SessionLife>(this.#objects, `session ${id.slice(-3)}`, {
      create: (scope) => {
        const runtime = new SessionRuntime({
          ...createQuietPorts(this, scope),
          sql: made.sql,
          setAlarm: (at) => made.object.setAlarm(at),
          model: this.models.for(scope),
          tools: () => ({ needsApproval: async () => true, run: async () => ({ output: "Paid.", failure: null }) }),
          chats: (address) => ({
            follow: (_, turn) => this.findChat(address).object.call(scope, "follow", ({ chat }) => chat.follow(turn)),
            scrub: () => this.findChat(address).object.call(scope, "scrub", ({ chat }) => chat.scrub()),
          }),
        });
        return { scope, runtime, service: serveSession(runtime) };
      },
      ring: ({ runtime }) => ringAlarm(runtime),
    });
    const made: SimSession = { sql: createSessionSql(() => object.clearAlarm()), object };
    this.sessions.set(id, made);
    return made;
  }

  crashSome(): void {
    const { random, faults } = this;
    if (random.chance(faults.tenantCrashes)) this.tenant.crash();
    for (const { object } of this.chats.values()) if (random.chance(faults.chatCrashes)) object.crash();
    for (const { object } of this.sessions.values()) if (random.chance(faults.sessionCrashes)) object.crash();
    if (random.chance(faults.isolateCrashes)) this.#crashIsolate();
  }

  #crashIsolate(): void {
    const dead = this.random.pick(this.#isolates);
    this.stats.count("isolate crashes");
    this.#isolates = this.#isolates.map((isolate) => (isolate === dead ? this.#createIsolate() : isolate));
    this.scheduler.kill(dead.scope);
    for (const fail of dead.requests) fail(new ResetError("the isolate died"));
  }

  /** From now on nothing fails and nothing dies. */
  calm(): void {
    for (const name of Object.keys(this.faults) as (keyof Faults)[]) this.faults[name] = 0;
  }
}

function readDeliveries(body: Uint8Array): ReturnType<ChannelAdapter<unknown>["parse"]> {
  const deliveries = JSON.parse(new TextDecoder().decode(body)) as readonly Delivery[];
  return { kind: "deliveries", deliveries, answer: { status: 200 } };
}

function drawFaults(random: Random): Faults {
  const rare = () => random.pick([0, 0, 0.02, 0.1]);
  return {
    slow: random.pick([0, 0, 0.05, 0.2]),
    chatCrashes: random.pick([0, 0.01, 0.04]),
    sessionCrashes: random.pick([0, 0, 0.02]),
    isolateCrashes: random.pick([0, 0, 0.005]),
    tenantCrashes: random.pick([0, 0, 0.02]),
    writes: random.pick([0, 0, 0.01, 0.05]),
    modelFails: random.pick([0, 0.1, 0.4]),
    repeats: random.pick([0.1, 0.3, 0.6]),
    answersLost: random.pick([0, 0.2]),
    late: random.pick([0, 0.3]),
    rateLimits: rare(),
    fails: rare(),
    outcomesLost: rare(),
    unresolved: rare(),
    hangs: rare() / 4,
    badFormats: rare(),
    refuses: random.pick([0, 0, 0, 0.02]),
    moves: random.pick([0, 0, 0, 0.05]),
  };
}

function drawSettings(random: Random): Partial<ChannelSettings> {
  return {
    session_per: random.pick(["chat", "user", "thread"] as const),
    streaming: random.chance(0.6),
    groups: "all",
    tools: random.chance(0.3) ? [PAY.name] : null,
  };
}

function drawTraits(random: Random): ChannelTraits {
  return {
    ...TRAITS,
    fits: (rendered) => rendered.length <= 120,
    edits: random.chance(0.7) ? { every_ms: random.pick([200, 3_000]) } : null,
    typing: random.chance(0.5) ? { every_ms: 5_000 } : null,
    pace: random.pick([TRAITS.pace, { messages: 3, per_ms: 5_000 }]),
    redelivers_for_ms: 60 * 60_000,
    is_idempotent: random.chance(0.3),
  };
}
