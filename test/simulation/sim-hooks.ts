/**
 * The tenant's webhooks, in some runs: the real outbox of the tenant's object over SQLite, which the session reaches by calls that fail, come
 * late, or lose their answers. Endpoints come and go. What an isolate knows outlives the object, or not. Rule I50.
 */
import type { AnnouncementPort } from "../../src/app/announcement-ports";
import { createKnownInterest, type KnownInterestCache } from "../../src/app/known-interest";
import { newId } from "../../src/app/new-id";
import type { Announcement } from "../../src/app/to-announcements";
import { createAuditLog } from "../../src/audit/audit-log";
import { isSummarized, isTrim } from "../../src/domain/compaction-events";
import type { StoredEvent } from "../../src/domain/events";
import type { WebhookEndpointId, WebhookEventId } from "../../src/domain/ids";
import type { SyncSql } from "../../src/lib/sync-sql";
import { createRequests } from "../../src/tenant/shared/requests";
import { createWebhooks, type Webhooks } from "../../src/tenant/webhooks/webhooks";
import { id, SESSION, TENANT } from "../support/builders";
import type { Scope } from "./scheduler";
import type { World } from "./world";

type Watched = Pick<World, "scheduler" | "profile" | "violations" | "stats" | "random" | "sql" | "tenantSql">;

const SEALED = { kid: "k", wrapped_key: "w", sealed: "s" };
/** How often a new life of the object is in an isolate that knows nothing yet. */
const NEW_ISOLATE = 0.5;

/** An endpoint, and the session's last event when its creation, and its end, were answered. */
interface Known {
  readonly id: WebhookEndpointId;
  readonly after: number;
  until: number | null;
}

export class SimHooks {
  readonly #sql: SyncSql;
  readonly #webhooks: Webhooks;
  readonly #known: Known[] = [];
  readonly #ids = new Map<string, WebhookEventId>();
  #isolate: KnownInterestCache | null = null;
  #asking: Scope | null = null;

  readonly world: Watched;

  constructor(world: Watched) {
    this.world = world;
    this.#sql = world.tenantSql;
    const now = (): number => world.scheduler.now;
    const nothing = { info: () => {}, warn: () => {}, error: () => {} };
    this.#webhooks = createWebhooks({
      sql: this.#sql,
      requests: createRequests(this.#sql),
      newId,
      send: async () => ({ status: 200, failure: null, answer: "" }),
      audit: createAuditLog({ sql: this.#sql, owner: () => TENANT, now }),
      events: { append: () => {} },
      noteScrub: () => {},
      isDeleted: () => false,
      isSuspended: () => true,
      background: () => {},
      alarm: { get: async () => null, set: () => {} },
      now,
      random: () => 0,
      log: nothing,
    });
  }

  /** An endpoint is created, or the newest one is disabled. */
  change(): void {
    const newest = this.#known.at(-1);
    if (newest && newest.until === null) {
      this.#sql.transaction(() => this.#webhooks.endpoints.disable(newest.id, "requested", this.world.scheduler.now));
      newest.until = this.#seq();
      this.world.stats.count("endpoints disabled");
      return;
    }
    const endpoint = id("whk", this.#known.length + 1);
    const said = { url: "https://example.com", events: null, description: null, metadata: {} };
    const made = { ...said, id: endpoint, sealed: SEALED, idempotency: null };
    this.#sql.transaction(() => this.#webhooks.endpoints.add(made, this.world.scheduler.now));
    this.#known.push({ id: endpoint, after: this.#seq(), until: null });
    this.world.stats.count("endpoints created");
  }

  #seq(): number {
    const hasLog = this.world.sql.all("SELECT 1 FROM sqlite_master WHERE name = 'events'").length > 0;
    return hasLog ? (this.world.sql.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM events")[0]?.seq ?? 0) : 0;
  }

  /** Undefined: nothing is announced in this run. */
  for(scope: Scope): (() => AnnouncementPort) | undefined {
    const { profile, random } = this.world;
    if (!profile.hooks) return undefined;
    const known = this.#isolate && !random.chance(NEW_ISOLATE) ? this.#isolate : this.#newIsolate();
    this.#isolate = known;
    const port: AnnouncementPort = {
      mark: known.mark,
      peek: () => known.peek(TENANT),
      lookUp: () => {
        this.#asking = scope;
        return known.lookUp(TENANT);
      },
      hand: (_, announcements) => this.#take(scope, announcements),
    };
    return () => port;
  }

  #newIsolate(): KnownInterestCache {
    const { scheduler, profile } = this.world;
    const ask = async () => {
      const scope = this.#asking;
      let answer: readonly string[] | null = null;
      const effect = (): void => {
        if (!scheduler.random.chance(profile.hookFails)) answer = this.#webhooks.endpoints.interest();
      };
      if (scope) await scheduler.gate(scope, "asks who wants to know", { effect, weight: 2 });
      return answer ?? scheduler.goWrong("the tenant's object is out of reach");
    };
    return createKnownInterest({ ask, now: () => scheduler.now, generation: () => 0, max: 1 });
  }

  async #take(scope: Scope, announcements: readonly Announcement[]): Promise<void> {
    const { scheduler, profile, stats } = this.world;
    let isAnswered = false;
    const effect = (): void => {
      const fails = scheduler.random.chance(profile.hookFails);
      if (fails && scheduler.random.chance(0.5)) return;
      const events = announcements.map(({ seq, type }) => this.#eventId(`${seq} ${type}`));
      this.#sql.transaction(() => this.#webhooks.addOfSession(SESSION, announcements, events));
      stats.count("announcements taken", announcements.length);
      isAnswered = !fails;
      if (fails) stats.count("answers to announcements lost");
    };
    await scheduler.gate(scope, "announces", { effect, weight: 2 });
    if (!isAnswered) await scheduler.goWrong("the tenant's object is out of reach");
  }

  /** As the object derives it: the same for the same event. */
  #eventId(name: string): WebhookEventId {
    const known = this.#ids.get(name) ?? id("evt", this.#ids.size + 1);
    this.#ids.set(name, known);
    return known;
  }

  /** I50: at rest each endpoint has what was committed while it was there, each once, and nothing else. */
  checkAtRest(events: readonly StoredEvent[]): void {
    const { violations, profile, sql } = this.world;
    if (!profile.hooks) return;
    const left = sql.all("SELECT n FROM announcements").length;
    violations.check(left === 0, "I50", () => `${left} announcements are left`);
    const expected = new Map(events.flatMap(listExpected).map(({ seq, type }) => [`${seq} ${type}`, seq]));
    const last = events.at(-1)?.seq ?? 0;
    for (const { id: endpoint, after, until } of this.#known) {
      const told = this.#sql
        .rows<{ body: string }>("SELECT body FROM webhook_deliveries WHERE endpoint = ? ORDER BY n", endpoint)
        .map(({ body }) => JSON.parse(body) as { readonly type: string; readonly data: { readonly seq: number } });
      const names = told.map(({ type, data }) => `${data.seq} ${type}`);
      violations.check(new Set(names).size === names.length, "I50", () => `told twice: ${names}`);
      const seqs = told.map(({ data }) => data.seq);
      violations.check(
        seqs.every((seq, index) => seq >= (seqs[index - 1] ?? 0)),
        "I50",
        () => `told out of order: ${seqs}`,
      );
      const invented = names.filter((name) => !expected.has(name) && !name.includes("turn.awaiting_"));
      violations.check(invented.length === 0, "I50", () => `told of what was not committed: ${invented}`);
      // What was on its way when the endpoint ended may be told or not.
      const owed = [...expected].filter(([, seq]) => seq > after && until === null && seq <= last).map(([name]) => name);
      const missing = owed.filter((name) => !names.includes(name));
      violations.check(missing.length === 0, "I50", () => `not told, though committed after ${after}: ${missing}`);
    }
  }
}

/** What the events alone say that must be announced: written apart from the code under test. */
function listExpected(event: StoredEvent): readonly { readonly seq: number; readonly type: string }[] {
  const say = (...types: readonly string[]) => types.map((type) => ({ seq: event.seq, type }));
  if (event.type === "SessionOpened") return say("session.created");
  if (event.type === "TurnCompleted") return say("turn.completed");
  if (event.type === "TurnFailed") return say("turn.failed");
  if (event.type === "TurnStopped") return say("turn.stopped");
  if (event.type === "TurnInterrupted") return say("turn.interrupted");
  if (event.type === "CompactionDrafted") return say("compaction.drafted");
  if (event.type === "CompactionFailed" && event.final) return say("compaction.failed");
  if (event.type !== "EpochChanged") return [];
  const completed = isSummarized(event) && event.compaction !== null;
  return [...(completed ? say("compaction.completed") : []), ...(isTrim(event) ? say("history.trimmed") : [])];
}
