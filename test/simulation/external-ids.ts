/**
 * Many clients that create, find and erase sessions by a few external ids, through the real routes, the real directory of the
 * tenant and real sessions. Every call of an object is a gate, and its answer may be lost, before or after it took effect.
 */
import type { TenantErasureApi } from "../../src/app/erasure-api";
import type { Outcome } from "../../src/app/session-api";
import type { TenantApi } from "../../src/app/tenant-api";
import type { SessionDescription } from "../../src/contract/session";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { createErasures, type Erasures } from "../../src/tenant/erasure/erasures";
import { createDirectory, type Directory } from "../../src/tenant/shared/directory";
import { world as buildApi, makeId, TENANT } from "../http/support";
import { Life } from "../session/life";
import { createMigratedSql } from "../tenant/memory-sql";
import { NOTHING_TO_FORGET } from "../tenant/support";
import { Random } from "./random";
import { Scheduler, Scope } from "./scheduler";
import { Stats } from "./stats";
import { Violations } from "./violation";

const NAMES = ["order/1", "会话 2"];
const ACTIONS = 12;
const CALM_STEPS = 4_000;
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

interface Answered {
  readonly id?: string;
  readonly session_id?: string;
  readonly external_id?: string | null;
}

/** Lost on the way to the object, or on the way back. The runtime marks some of these errors as safe to repeat. */
class LostError extends Error {
  override readonly name = "LostError";
  readonly retryable: boolean;

  constructor(retryable: boolean) {
    super("the object was reset");
    this.retryable = retryable;
  }
}

export class ExternalIds {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly violations = new Violations();
  readonly stats = new Stats();
  readonly #clients = new Scope("clients");
  readonly #sql = createMigratedSql();
  readonly #directory: Directory = createDirectory(this.#sql);
  readonly #erasures: Erasures;
  readonly #sessions = new Map<SessionId, Life>();
  /** By session: how often a client was told that its request had created it. */
  readonly #created = new Map<string, number>();
  readonly #api: ReturnType<typeof buildApi>;
  #losses: number;
  #ids = 100;
  #acting = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    this.#losses = this.random.pick([0, 0.05, 0.2]);
    this.#erasures = createErasures({
      sql: this.#sql,
      // The alarm is not under test here (`sim-erasures`): the run repeats at its end what is left.
      alarm: { get: async () => null, set: () => {} },
      erase: async (session) => (await this.#wake(session).service.erase({ tenant: TENANT, session }, true)).ok,
      readLabels: async () => null,
      hide: async () => {},
      ...NOTHING_TO_FORGET,
      sweep: async () => true,
      newErasureId: () => makeId("era", this.#ids++),
      now: () => this.scheduler.now,
      log: SILENT,
    });
    this.#api = buildApi({
      tenant: this.#tenant(),
      deps: { sessions: (_, session) => this.#reach(session), newId: (p) => makeId(p, this.#ids++) },
    });
  }

  /** The tenant's calls that creating, finding and erasing need. */
  #tenant(): Partial<TenantApi & TenantErasureApi> {
    const run = <T>(label: string, work: () => T): Promise<T> => this.#call(label, async () => this.#sql.transaction(work));
    return {
      registerSession: (input) => run("register", () => this.#directory.register({ ...input, at: this.scheduler.now })),
      findExternalId: (name) => run("find", () => ok(this.#directory.findExternalId(name))),
      forgetSession: (session) => run("forget", () => ok(this.#directory.forget(session))),
      beginErasure: (act, input) => run("begin", () => ok(this.#erasures.begin({ ...input, act }))),
      endErasure: (session) => this.#call("end", async () => ok(this.#erasures.end(session))),
    };
  }

  #wake(session: SessionId): Life {
    const known = this.#sessions.get(session);
    if (known) return known;
    const life = new Life(undefined, `life of ${session}`);
    this.#sessions.set(session, life);
    return life;
  }

  #reach(session: SessionId): Life["service"] {
    const { service } = this.#wake(session);
    const open: typeof service.open = (caller, input) =>
      this.#call("open", async () =>
        input.model === "gone" ? err({ code: "unknown_model", model: "gone" }) : service.open(caller, { ...input, model: "test-model" }),
      );
    const describe: typeof service.describe = (caller) => this.#call("describe", () => service.describe(caller));
    const erase: typeof service.erase = (caller, isNoted) => this.#call("erase", () => service.erase(caller, isNoted));
    return { ...service, open, describe, erase };
  }

  /** A call of an object: a gate on the way to it, and one on the way back. */
  async #call<T>(label: string, work: () => Promise<T>): Promise<T> {
    await this.scheduler.gate(this.#clients, `calls ${label}`);
    const isLost = this.random.chance(this.#losses);
    if (isLost && this.random.chance(0.5)) throw this.#lose(label);
    const value = await work();
    await this.scheduler.gate(this.#clients, `${label} answered`);
    if (isLost) throw this.#lose(label);
    return value;
  }

  #lose(label: string): LostError {
    this.stats.count(`lost: ${label}`);
    return new LostError(this.random.chance(0.5));
  }

  async run(): Promise<void> {
    const clients = this.random.int(2, 4);
    for (let n = 1; n <= clients; n++) void this.#sit(n);
    await this.#step();
    this.#losses = 0;
    await this.#finishErasures();
    await this.#checkAtRest();
  }

  async #step(): Promise<void> {
    for (let step = 0; this.violations.found.length === 0 && (await this.scheduler.step()); step++)
      this.violations.check(step < CALM_STEPS, "I35", () => "creating sessions never comes to rest");
    this.violations.check(this.#acting === 0 || this.violations.found.length > 0, "harness", () => "a request was never answered");
  }

  async #sit(client: number): Promise<void> {
    this.#acting++;
    for (let action = 0; action < ACTIONS; action++) {
      await this.scheduler.gate(this.#clients, `client ${client} thinks`, { weight: 0.5 });
      await this.#act(this.random.pick(NAMES));
    }
    this.#acting--;
  }

  async #act(name: string): Promise<void> {
    const action = this.random.weighted({ put: 4, post: 3, get: 2, erase: 1.5 });
    const body = { title: "T", ...(this.random.chance(0.1) && { model: "gone" }) };
    switch (action) {
      case "put":
        return this.#note(name, "put", await this.#ask("PUT", toPath(name), body));
      case "post":
        return this.#note(name, "post", await this.#ask("POST", "/v1/sessions", { ...body, external_id: name }));
      case "get":
        return this.#note(name, "get", await this.#ask("GET", toPath(name)));
      case "erase":
        return this.#erase(name);
    }
  }

  async #ask(method: string, path: string, body?: object): Promise<Response> {
    return this.#api.app.request(path, {
      method,
      headers: { authorization: "Bearer lh_test_a-key", "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  /** A session that was answered for a name has that name, and one request alone is told that it created it. */
  async #note(name: string, action: string, response: Response): Promise<void> {
    this.stats.count(`${action}: ${response.status}`);
    const { id, external_id } = (await response.json()) as Answered;
    if (!response.ok || id === undefined) return;
    this.violations.check(external_id === name, "I35", () => `${name} was answered with ${id}, whose external id is ${external_id}`);
    if (response.status !== 201) return;
    const times = (this.#created.get(id) ?? 0) + 1;
    this.#created.set(id, times);
    this.violations.check(times === 1, "I35", () => `${times} requests were told that they created ${id}`);
  }

  async #erase(name: string): Promise<void> {
    const found = await this.#ask("GET", toPath(name));
    const { id } = (await found.json()) as Answered;
    if (!found.ok || id === undefined) return;
    const erased = await this.#ask("DELETE", `/v1/sessions/${id}`);
    this.stats.count(`erase: ${erased.status}`);
  }

  /** What the tenant's alarm does for an erasure that was cut off. */
  async #finishErasures(): Promise<void> {
    for (const { session } of this.#sql.rows<{ session: SessionId }>("SELECT session FROM erasures")) {
      await this.#wake(session).service.erase({ tenant: TENANT, session }, true);
      this.#erasures.end(session);
    }
  }

  /** An external id names one session, which the directory knows, and is free once that session is erased. */
  async #checkAtRest(): Promise<void> {
    const open: SessionDescription[] = [];
    for (const [session, { service }] of this.#sessions) {
      const described: Outcome<SessionDescription> = await service.describe({ tenant: TENANT, session });
      if (described.ok) open.push(described.value);
    }
    for (const name of NAMES) {
      const holders = open.filter(({ external_id }) => external_id === name).map(({ id }) => id);
      const known = this.#directory.findExternalId(name);
      this.violations.check(holders.length <= 1, "I35", () => `${name} names ${holders}`);
      this.violations.check(
        holders.every((id) => id === known),
        "I35",
        () => `${name} names ${holders}, and the directory says ${known}`,
      );
    }
  }
}

const toPath = (name: string): string => `/v1/sessions/by-external-id/${encodeURIComponent(name)}`;
