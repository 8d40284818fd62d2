/** An endpoint for which much waits: what that costs the tenant's other work, how fast it goes, and whose fault it is. */
import { describe, expect, it } from "vitest";
import { newId } from "../../src/app/new-id";
import type { WebhookAnswer } from "../../src/app/webhook-api";
import type { WebhookEndpointId } from "../../src/domain/ids";
import { createFiles } from "../../src/tenant/files/files";
import { createRequests } from "../../src/tenant/shared/requests";
import { createTenantEvents } from "../../src/tenant/shared/tenant-events";
import { MAX_WAITING } from "../../src/tenant/webhooks/deliveries";
import { createWebhooks } from "../../src/tenant/webhooks/webhooks";
import { createCountedSql } from "../support/counted-sql";
import { findUnbounded } from "../support/query-plan";
import { openMemoryTenant } from "./memory-tenant";
import { createTestClock, makeId } from "./support";

const DAY = 24 * 60 * 60 * 1_000;
const OK: WebhookAnswer = { status: 200, failure: null, answer: "" };
const FAILED: WebhookAnswer = { status: 500, failure: "status", answer: "" };
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `answer`: null hangs until `release`. */
function world({ usedBytes = 0 }: { readonly usedBytes?: number } = {}) {
  const counted = createCountedSql();
  const sql = { ...counted.sql, usedBytes: () => usedBytes };
  const clock = createTestClock();
  const flying = new Map<string, number>();
  const most = new Map<string, number>();
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  const net = { ms: 0, answer: (_: string): WebhookAnswer | null => OK };
  const disabled: string[] = [];
  const reopen = () =>
    createWebhooks({
      ...{ sql, newId, now: clock.now, random: () => 0 },
      requests: createRequests(sql),
      send: async ({ url }) => {
        sent.push(url);
        flying.set(url, (flying.get(url) ?? 0) + 1);
        most.set(url, Math.max(most.get(url) ?? 0, flying.get(url) ?? 0));
        await new Promise<void>((resolve) => waiting.push(resolve));
        flying.set(url, (flying.get(url) ?? 0) - 1);
        return net.answer(url) ?? OK;
      },
      audit: { append: () => {} },
      events: { append: ({ data }) => void disabled.push(String("id" in data ? data.id : "")) },
      noteScrub: () => {},
      isDeleted: () => false,
      isSuspended: () => false,
      background: () => {},
      alarm: { get: async () => 0, set: () => {} },
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
  const webhooks = reopen();
  const endpoint = (n: number): WebhookEndpointId => {
    const said = {
      url: `https://example.com/${n}`,
      events: null,
      description: null,
      metadata: {},
      sealed: { kid: "k", wrapped_key: "w", sealed: "s" },
    };
    const made = sql.transaction(() => webhooks.endpoints.add({ ...said, id: makeId("whk", n), idempotency: null }, clock.now()));
    if (!made.ok) throw new Error(made.error.code);
    return made.value.id;
  };
  let told = 0;
  const tell = (times: number): void =>
    sql.transaction(() => {
      for (let n = 0; n < times; n++) {
        told += 1;
        const announcement = { seq: told, at: clock.now(), type: "turn.completed" as const, data: { id: makeId("trn", told) } };
        webhooks.addOfSession(makeId("ses", told), [announcement], [makeId("evt", told)]);
      }
    });
  /** Rows that wait, as an outage of days leaves them. */
  const pile = (id: WebhookEndpointId, rows: number): void =>
    void sql.rows(
      `INSERT INTO webhook_deliveries (id, endpoint, event, type, session, body, state, tries, step, due_at, created_at, log)
       WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ?1)
       SELECT printf('dlv_01K%023d', n), ?2, printf('evt_01K%023d', 1000000 + n), 'turn.completed', printf('ses_01K%023d', 1000000 + n), '{}', 'pending', 0, 0, ?3, ?3, '[]' FROM r`,
      rows,
      id,
      clock.now(),
    );
  /** All that is under way is answered at the same time. */
  const answerAll = async (): Promise<void> => {
    clock.advance(net.ms);
    for (const go of waiting.splice(0)) go();
    await settle();
  };
  const start = async (): Promise<void> => {
    webhooks.start();
    await settle();
  };
  return { start, counted, sql, clock, webhooks, reopen, endpoint, tell, pile, answerAll, net, sent, most, disabled };
}

describe("an announcement", () => {
  it("reads no more where much waits for an endpoint that is down", () => {
    const { counted, webhooks, endpoint, tell, pile, sql, clock } = world();
    pile(endpoint(1), 20_000);
    // The second is a log of deliveries that have ended.
    const second = endpoint(2);
    sql.rows("UPDATE webhook_deliveries SET endpoint = ?, state = 'delivered', finished_at = 1 WHERE n <= 100", second);
    counted.take();
    tell(1);
    webhooks.nextDue();
    for (const id of [makeId("whk", 1), second]) webhooks.deliveries.prune(id, clock.now());
    const statements = [...counted.seen];

    expect(statements.length).toBeGreaterThan(5);
    expect(counted.take().read).toBeLessThan(60);
    const steps = statements.flatMap((statement) => findUnbounded(counted.explain(statement), { passing: ["webhook_endpoints"] }));
    expect(steps).toEqual([]);
    const log = statements.filter((statement) => statement.includes("state <> 'pending'"));
    for (const statement of log) expect(JSON.stringify(counted.explain(statement))).toContain("webhook_ended");
    expect(log.length).toBeGreaterThan(1);
  });

  it("is looked at for a backlog at a cost that the additions pay", () => {
    const { counted, endpoint, tell, pile } = world();
    pile(endpoint(1), 50_000);
    let looks = 0;
    for (let n = 0; n < 10_000; n++) {
      counted.take();
      tell(1);
      if ([...counted.seen].some((statement) => statement.includes("count(*)"))) looks += 1;
    }

    expect(looks).toBe(1);
  });

  it("is counted no further than to where its endpoint is disabled", () => {
    const { webhooks, endpoint, pile } = world();
    const id = endpoint(1);
    pile(id, MAX_WAITING + 1_000);
    expect(webhooks.deliveries.countWaiting(id)).toBe(MAX_WAITING + 1);
  });

  it("is removed in the order in which it was made, and what waits before it stays", async () => {
    const { start, sql, clock, webhooks, endpoint, tell, pile, answerAll } = world();
    const id = endpoint(1);
    pile(id, 300);
    sql.rows("UPDATE webhook_deliveries SET due_at = ?", clock.now() + 400 * DAY);
    tell(1);
    await start();
    await answerAll();
    clock.advance(31 * DAY);

    expect(webhooks.nextDue()).toBeLessThanOrEqual(clock.now());
    await webhooks.run();
    expect(sql.rows("SELECT state, count(*) AS n FROM webhook_deliveries GROUP BY state")).toEqual([{ state: "pending", n: 300 }]);
    expect(webhooks.nextDue()).toBeGreaterThan(clock.now());
  });
});

describe("the pace of an endpoint", () => {
  it("grows while it answers quickly, and leaves a connection for others", async () => {
    const { start, endpoint, tell, answerAll, sent, most } = world();
    endpoint(1);
    tell(100);
    await start();
    const perRound: number[] = [];
    for (let round = 0; round < 8; round++) {
      const before = sent.length;
      await answerAll();
      perRound.push(sent.length - before);
    }

    // Nothing is known of it at first. Then it gets one more with each answer.
    expect(perRound).toEqual([3, 4, 4, 4, 4, 4, 4, 4]);
    expect(most.get("https://example.com/1")).toBe(4);
  });

  it("begins again behind a slow answer and behind a failure", async () => {
    const { start, endpoint, tell, answerAll, net, sent } = world();
    endpoint(1);
    tell(100);
    await start();
    for (let round = 0; round < 3; round++) await answerAll();
    for (const fault of ["slow", "failed"]) {
      net.ms = fault === "slow" ? 3_000 : 0;
      net.answer = () => (fault === "slow" ? OK : FAILED);
      await answerAll();
      const before = sent.length;
      await answerAll();
      expect(sent.length - before).toBe(1);
      Object.assign(net, { ms: 0, answer: () => OK });
      for (let round = 0; round < 3; round++) await answerAll();
    }
  });

  it("does not hold up another endpoint, however much waits", async () => {
    const { start, endpoint, tell, answerAll, sent } = world();
    endpoint(1);
    tell(150);
    await start();
    for (let round = 0; round < 4; round++) await answerAll();
    endpoint(2);
    tell(1);
    const before = sent.length;
    await start();

    // It needs no answer of the first.
    expect(sent.slice(before)).toEqual(["https://example.com/2"]);
    for (let round = 0; round < 3; round++) await answerAll();
    tell(20);
    await start();
    for (let round = 0; round < 12; round++) await answerAll();
    expect(sent.filter((url) => url.endsWith("/2"))).toHaveLength(21);
  });
});

describe("a backlog of more than 100,000", () => {
  const LOOKS = 1_100;

  it("does not disable an endpoint that answers", async () => {
    const { webhooks, start, endpoint, tell, pile, answerAll, disabled } = world();
    const id = endpoint(1);
    pile(id, 100_001);
    await start();
    for (let round = 0; round < 3; round++) await answerAll();
    tell(LOOKS);

    expect([disabled, webhooks.endpoints.listEnabled().length]).toEqual([[], 1]);
  });

  it("disables one that fails, and leaves the others as they are", async () => {
    const { webhooks, start, endpoint, tell, pile, answerAll, net, disabled } = world();
    const [dead, good] = [endpoint(1), endpoint(2)];
    net.answer = (url) => (url.endsWith("/1") ? FAILED : OK);
    pile(dead, 100_001);
    await start();
    await answerAll();
    tell(LOOKS);

    expect(disabled).toEqual([dead]);
    expect(webhooks.endpoints.listEnabled().map((each) => each.id)).toEqual([good]);
  });

  it("disables one that answers where the object has half of its room in use", async () => {
    const { start, endpoint, tell, pile, answerAll, disabled } = world({ usedBytes: 5_000_000_001 });
    const id = endpoint(1);
    pile(id, 100_001);
    await start();
    await answerAll();
    tell(LOOKS);

    expect(disabled).toEqual([id]);
  });
});

describe("an endpoint that goes while 110,000 deliveries wait for it", () => {
  const DELIVERIES = 110_000;
  /** Rows that one step ends or forgets, those that it prunes, and a few beside them. */
  const A_STEP = 1_300;

  it.each(["disabled", "deleted"])(
    "is %s in steps of a bounded cost, which go on behind a death, and leaves another one as it is",
    async (how) => {
      const { counted, sql, webhooks, reopen, endpoint, pile } = world();
      const [gone, other] = [endpoint(1), endpoint(2)];
      pile(gone, DELIVERIES);
      sql.rows("UPDATE webhook_deliveries SET endpoint = ? WHERE n % 1000 = 0", other);
      const count = (where: string) => sql.rows<{ n: number }>(`SELECT count(*) AS n FROM webhook_deliveries WHERE ${where}`)[0]?.n;
      const steps: number[] = [];
      counted.take();
      sql.transaction(() => {
        if (how === "disabled") return webhooks.disable(gone, "requested");
        webhooks.forget(gone);
        webhooks.endpoints.remove(gone);
      });
      steps.push(counted.take().written);
      const later = reopen();
      while (later.nextDue() === 0 && steps.length < 200) {
        await later.run();
        steps.push(counted.take().written);
      }

      expect(Math.max(...steps)).toBeLessThanOrEqual(A_STEP);
      expect(count(`endpoint = '${gone}' AND state = 'pending'`)).toBe(0);
      expect(count(`endpoint = '${gone}'`) === 0).toBe(how === "deleted");
      expect(count(`endpoint = '${other}'`)).toBe(DELIVERIES / 1_000);
    },
  );
});

describe("the next times of the tenant's other work", () => {
  it("are found without reading what waits", () => {
    const { counted, sql } = world();
    const { upkeep } = openMemoryTenant({ sql });
    counted.take();
    createFiles(sql).nextDue();
    for (const work of [
      upkeep.erasures,
      upkeep.usageOutbox,
      upkeep.exports,
      upkeep.imports,
      upkeep.retention,
      upkeep.usageRetention,
      upkeep.scrub,
      upkeep.webhooks,
      upkeep.chats,
    ])
      work.nextDue();
    const statements = [...counted.seen].filter((statement) => !/LIMIT 1$/.test(statement));
    const passing = ["tenant", "usage_bound", "scrub_due", "retention", "erasure_receipts", "webhook_endpoints"];

    const steps = statements.flatMap((statement) =>
      findUnbounded(counted.explain(statement), { passing }).map((step) => `${step}: ${statement}`),
    );
    expect(statements.length).toBeGreaterThan(6);
    expect(steps).toEqual([]);
  });

  it("and an event of the tenant removes some of the oldest ones", () => {
    const { sql } = world();
    const events = createTenantEvents(sql, { isDeleted: () => false, appended: () => {} });
    const append = (at: number) => events.append({ at, type: "export.completed", data: { id: makeId("exp", 1) } });
    for (let n = 0; n < 35; n++) append(n);
    const count = () => sql.rows<{ n: number }>("SELECT count(*) AS n FROM tenant_events")[0]?.n;

    const left = [1, 2, 3, 4, 5].map((n) => {
      append(91 * DAY + n);
      return count();
    });
    expect(left).toEqual([26, 17, 8, 4, 5]);
  });
});
