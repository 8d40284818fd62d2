/** The deliveries of a tenant's webhooks: when each is tried, in which order, and what ends them. */
import { describe, expect, it } from "vitest";
import { newId } from "../../src/app/new-id";
import type { Announcement } from "../../src/app/to-announcements";
import type { WebhookAnswer, WebhookOrder } from "../../src/app/webhook-api";
import { createAuditLog } from "../../src/audit/audit-log";
import type { WebhookEndpointId } from "../../src/domain/ids";
import { createRequests } from "../../src/tenant/shared/requests";
import { createTenantEvents, type TenantEvents } from "../../src/tenant/shared/tenant-events";
import { createWebhooks, type Webhooks } from "../../src/tenant/webhooks/webhooks";
import { createMigratedSql } from "./memory-sql";
import { createTestClock, makeId } from "./support";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TENANT = makeId("ten", 1);
const SESSION = makeId("ses", 1);
const SEALED = { kid: "k", wrapped_key: "w", sealed: "s" };

const answered = (status: number): WebhookAnswer => ({ status, failure: status < 300 ? null : "status", answer: "said" });
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Sent {
  readonly at: number;
  readonly order: WebhookOrder;
  answer(answer: WebhookAnswer): Promise<void>;
}

/** A tenant's object with its alarm, and a network whose answers a test gives. */
class World {
  readonly clock = createTestClock();
  readonly sql = createMigratedSql();
  readonly sent: Sent[] = [];
  /** Answers at once. Null: the test answers. */
  answer: ((order: WebhookOrder) => WebhookAnswer | null) | null = () => answered(200);
  isSuspended = false;
  alarm: number | null = null;
  webhooks: Webhooks = this.#wake();
  events: TenantEvents = this.#makeEvents();

  #makeEvents(): TenantEvents {
    return createTenantEvents(this.sql, { isDeleted: () => false, appended: (event, seq) => this.webhooks.addOfTenant(event, seq) });
  }

  #wake(): Webhooks {
    return createWebhooks({
      sql: this.sql,
      requests: createRequests(this.sql),
      newId,
      send: (order) => this.#send(order),
      audit: createAuditLog({ sql: this.sql, owner: () => TENANT, now: this.clock.now }),
      events: { append: (event) => this.events.append(event) },
      noteScrub: () => {},
      isDeleted: () => false,
      isSuspended: () => this.isSuspended,
      background: () => {},
      alarm: {
        get: async () => this.alarm,
        set: (at) => {
          this.alarm = at;
        },
      },
      now: this.clock.now,
      random: () => 0,
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
  }

  #send(order: WebhookOrder): Promise<WebhookAnswer> {
    const { promise, resolve } = Promise.withResolvers<WebhookAnswer>();
    this.sent.push({
      at: this.clock.now(),
      order,
      answer: async (answer) => {
        resolve(answer);
        await settle();
      },
    });
    const known = this.answer?.(order);
    if (known) resolve(known);
    return promise;
  }

  /** The object dies, and what it had sent is never answered. */
  restart(): void {
    this.webhooks = this.#wake();
  }

  endpoint(n: number, events: readonly ["turn.completed"] | null = null): WebhookEndpointId {
    const id = makeId("whk", n);
    const said = { url: `https://example.com/${n}`, events, description: null, metadata: {} };
    const made = this.sql.transaction(() =>
      this.webhooks.endpoints.add({ ...said, id, sealed: SEALED, idempotency: null }, this.clock.now()),
    );
    if (!made.ok) throw new Error(made.error.code);
    return id;
  }

  /** A session announces the end of a turn. */
  async tell(seq: number, session = SESSION): Promise<void> {
    const announcement: Announcement = { seq, at: this.clock.now(), type: "turn.completed", data: { id: makeId("trn", seq) } };
    // As the object derives it.
    const event = makeId("evt", seq + (session === SESSION ? 0 : 1_000_000));
    this.sql.transaction(() => this.webhooks.addOfSession(session, [announcement], [event]));
    this.webhooks.start();
    await this.webhooks.resume();
    await settle();
  }

  /** Moves the clock to the alarm, and rings it. Returns false when none is set. */
  async ring(): Promise<boolean> {
    if (this.alarm === null) return false;
    this.clock.advance(Math.max(0, this.alarm - this.clock.now()));
    this.alarm = null;
    await this.webhooks.run();
    await settle();
    return true;
  }

  states(endpoint: WebhookEndpointId): readonly string[] {
    const page = this.webhooks.deliveries.list(endpoint, { after: null, limit: 200, state: null });
    return page.data.map(({ state }) => state).toReversed();
  }

  sentTo(n: number): readonly number[] {
    return this.sent.filter(({ order }) => order.url.endsWith(`/${n}`)).map(({ order }) => JSON.parse(order.body).data.seq);
  }
}

describe("a delivery that fails", () => {
  it("is tried ten times over three days under one event id, and has then failed", async () => {
    const world = new World();
    const endpoint = world.endpoint(1);
    world.answer = () => answered(500);
    const begun = world.clock.now();
    await world.tell(1);
    while (world.states(endpoint)[0] === "pending") await world.ring();

    const waits = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
    const times = waits.map((_, index) => begun + waits.slice(0, index + 1).reduce((sum, wait) => sum + wait));
    expect(world.sent.map(({ at }) => at)).toEqual(times);
    expect(new Set(world.sent.map(({ order }) => `${order.event} ${order.body}`)).size).toBe(1);
    expect(world.states(endpoint)).toEqual(["failed"]);
  });

  it("is replayed from the start of the schedule", async () => {
    const world = new World();
    const endpoint = world.endpoint(1);
    world.answer = () => answered(500);
    await world.tell(1);
    while (world.states(endpoint)[0] === "pending") await world.ring();
    world.answer = () => answered(200);

    const replayed = world.sql.transaction(() => world.webhooks.deliveries.replayFailed(endpoint, 0, world.clock.now()));
    world.webhooks.start();
    await settle();

    expect([replayed, world.states(endpoint)]).toEqual([{ replayed: 1, has_more: false }, ["delivered"]]);
    expect(new Set(world.sent.map(({ order }) => order.event)).size).toBe(1);
  });
});

describe("an endpoint", () => {
  it("that answers 410 is disabled at once, with what waits for it, and gets nothing more", async () => {
    const world = new World();
    const endpoint = world.endpoint(1, ["turn.completed"]);
    world.answer = null;
    await world.tell(1);
    await world.tell(2);
    await world.sent[0]?.answer(answered(410));
    await world.tell(3);

    expect(world.states(endpoint)).toEqual(["failed", "failed"]);
    expect(world.sentTo(1)).toEqual([1]);
    expect(world.events.list({ after: 0, limit: 10 }).data).toMatchObject([
      { type: "webhook_endpoint.disabled", data: { id: endpoint, reason: "gone" } },
    ]);
  });

  it("is disabled after five days of failures alone, and not while one of them was answered 2xx", async () => {
    const world = new World();
    const [dead, lame] = [world.endpoint(1, ["turn.completed"]), world.endpoint(2, ["turn.completed"])];
    let isLame = false;
    world.answer = ({ url }) => answered(url.endsWith("/1") || isLame ? 500 : 200);
    for (let day = 0; day <= 5; day++) {
      const end = world.clock.now() + DAY;
      isLame = day !== 3;
      await world.tell(day + 1);
      while (world.alarm !== null && world.alarm <= end) await world.ring();
      world.clock.advance(Math.max(0, end - world.clock.now()));
    }
    isLame = false;

    const view = (id: WebhookEndpointId) => world.webhooks.endpoints.list().find((each) => each.id === id);
    expect(view(dead)).toMatchObject({ status: "disabled", disabled_reason: "failing" });
    expect(view(lame)).toMatchObject({ status: "enabled" });
  });

  it("is not blamed for the answers of an address that it had before", async () => {
    const world = new World();
    const endpoint = world.endpoint(1);
    world.answer = null;
    await world.tell(1);
    world.sql.transaction(() => world.webhooks.endpoints.change(endpoint, { url: "https://example.com/9" }, world.clock.now()));
    await world.sent[0]?.answer(answered(410));

    expect(world.webhooks.endpoints.list()[0]).toMatchObject({ status: "enabled", failing_since: null });
  });
});

describe("the order of deliveries", () => {
  it("is that of the session at the first try: the next waits for the answer to the one before", async () => {
    const world = new World();
    world.endpoint(1);
    world.answer = null;
    for (const seq of [1, 2, 3]) await world.tell(seq);
    expect(world.sentTo(1)).toEqual([1]);

    await world.sent[0]?.answer(answered(200));
    expect(world.sentTo(1)).toEqual([1, 2]);
    await world.sent[1]?.answer(answered(200));
    expect(world.sentTo(1)).toEqual([1, 2, 3]);
  });

  it("is not held up by one that fails: it comes again later", async () => {
    const world = new World();
    const endpoint = world.endpoint(1);
    world.answer = ({ body }) => answered(JSON.parse(body).data.seq === 1 && world.sent.length < 3 ? 500 : 200);
    await world.tell(1);
    await world.tell(2);
    expect(world.sentTo(1)).toEqual([1, 2]);
    await world.ring();

    expect(world.sentTo(1)).toEqual([1, 2, 1]);
    expect(world.states(endpoint)).toEqual(["delivered", "delivered"]);
  });
});

describe("an event that comes late, after a newer one of its session", () => {
  it("is not sent to an endpoint that has the newer one", async () => {
    const world = new World();
    world.endpoint(1);
    await world.tell(2);
    await world.tell(1);
    await world.tell(1, makeId("ses", 2));

    expect(world.sentTo(1)).toEqual([2, 1]);
    expect(world.sent.map(({ order }) => JSON.parse(order.body).data.session_id)).toEqual([SESSION, makeId("ses", 2)]);
  });
});

describe("endpoints that hang", () => {
  it("leave connections for one that answers, however many they are", async () => {
    const world = new World();
    for (let n = 1; n <= 8; n++) world.endpoint(n);
    world.answer = ({ url }) => (url.endsWith("/8") ? answered(200) : null);
    await world.tell(1);
    // Nothing is known of any. Each of them has its time, three at once, until the last had its turn.
    for (let n = 0; n < 7; n++) {
      world.clock.advance(5 * SECOND);
      await world.sent.filter(({ order }) => !order.url.endsWith("/8"))[n]?.answer({ status: null, failure: "timeout", answer: null });
    }
    expect(world.sentTo(8)).toEqual([1]);
    const before = world.sent.length;

    for (let seq = 2; seq <= 20; seq++) await world.tell(seq);

    expect(world.sentTo(8)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    // Three of the others hang all the while, and no more are begun.
    expect(world.sent.length - before).toBe(19);
  });
});

describe("an object that dies", () => {
  it("while a try is under way tries again a minute later, under the same event id", async () => {
    const world = new World();
    const endpoint = world.endpoint(1);
    world.answer = null;
    await world.tell(1);
    world.restart();
    world.answer = () => answered(200);
    const died = world.clock.now();
    while (world.states(endpoint)[0] === "pending") await world.ring();

    expect(world.sent.map(({ order, at }) => [order.event, at])).toEqual([
      [makeId("evt", 1), died],
      [makeId("evt", 1), died + MINUTE],
    ]);
  });
});

describe("what is kept", () => {
  it("is each event of a session once for an endpoint, however often it is told", async () => {
    const world = new World();
    world.endpoint(1);
    await world.tell(1);
    await world.tell(1);

    expect(world.sentTo(1)).toEqual([1]);
  });

  it("is nothing for an endpoint that does not want the type", async () => {
    const world = new World();
    const endpoint = world.endpoint(1, ["turn.completed"]);
    world.sql.transaction(() => world.events.append({ at: world.clock.now(), type: "export.completed", data: { id: makeId("exp", 1) } }));
    await world.ring();

    expect([world.sent, world.states(endpoint)]).toEqual([[], []]);
  });

  it("goes 30 days after it was made, by itself", async () => {
    const world = new World();
    const endpoint = world.endpoint(1);
    await world.tell(1);
    expect(world.states(endpoint)).toEqual(["delivered"]);
    const made = world.clock.now();
    while (world.states(endpoint).length > 0 && (await world.ring()));

    expect(world.states(endpoint)).toEqual([]);
    expect(world.clock.now() - made).toBeLessThan(31 * DAY);
  });

  it("waits while the tenant is suspended", async () => {
    const world = new World();
    const endpoint = world.endpoint(1);
    world.isSuspended = true;
    await world.tell(1);
    await world.ring();
    expect([world.sent.length, world.states(endpoint)]).toEqual([0, ["pending"]]);

    world.isSuspended = false;
    await world.ring();

    expect(world.states(endpoint)).toEqual(["delivered"]);
  });
});
