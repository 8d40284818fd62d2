/** What sums of usage cost in D1, in the rows that it counts. */
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { UsageInput } from "../../src/app/read-api";
import { createUsageList } from "../../src/read-model/usage-query";
import { createProjection } from "../../src/read-model/writer";
import { LogBuilder, makeId, modelCall, SESSION, TENANT } from "../read-model/builders";

const DAY_MS = 24 * 60 * 60 * 1_000;
const TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'";

beforeEach(async () => {
  await reset();
  await applyD1Migrations(env.DB, env.MIGRATIONS);
});

/** The database, and the rows that its statements have read and written. */
function createCounted() {
  const rows = { read: 0, written: 0 };
  const note = <T extends D1Result>(result: T): T => {
    rows.read += result.meta.rows_read;
    rows.written += result.meta.rows_written;
    return result;
  };
  const statements = new WeakMap<object, D1PreparedStatement>();
  const count = (statement: D1PreparedStatement): D1PreparedStatement => {
    const all = async () => note(await statement.all());
    const first = async (column: string) => (await all()).results[0]?.[column] ?? null;
    const counted = Object.assign(Object.create(statement), {
      all,
      first,
      bind: (...params: unknown[]) => count(statement.bind(...params)),
    });
    statements.set(counted, statement);
    return counted;
  };
  const DB = {
    prepare: (sql: string) => count(env.DB.prepare(sql)),
    batch: async (batch: D1PreparedStatement[]) => (await env.DB.batch(batch.map((each) => statements.get(each) ?? each))).map(note),
  } as D1Database;
  return { DB, rows };
}

it("a turn writes as many rows as without the triggers, and reads one more for each model call", async () => {
  const CALLS = 2;
  const project = async (number: number) => {
    const { DB, rows } = createCounted();
    const log = new LogBuilder(makeId("ses", number))
      .open()
      .says("user", "Hello")
      .event(modelCall())
      .says("assistant", "Hi")
      .event(modelCall());
    await createProjection(DB).write(log.batch());
    return rows;
  };
  const { results } = await env.DB.prepare(TRIGGERS).all<{ name: string }>();
  expect(results.length).toBeGreaterThan(0);
  const counted = await project(1);
  await env.DB.batch(results.map(({ name }) => env.DB.prepare(`DROP TRIGGER ${name}`)));
  const plain = await project(2);
  expect(counted).toEqual({ read: plain.read + CALLS, written: plain.written });
});

it("a second request over 90 days of many calls reads few rows, and writes none", { timeout: 60_000 }, async () => {
  await env.DB.prepare(
    `INSERT INTO usage (tenant_id, session_id, seq, purpose, model, input, output, estimate, outcome, ms, at, cost)
     WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 60000)
     SELECT ?, ?, n, 'turn', 'model-' || (n % 3), 1, 1, 0, 'stop', 1, (n - 1) * 129600, 0.25 FROM r`,
  )
    .bind(TENANT, SESSION)
    .run();
  const input: UsageInput = {
    ...{ tenant: TENANT, groupBy: ["model"], from: 0, to: 90 * DAY_MS, limit: 50, after: null },
    ...{ session: null, model: null, purpose: null, key: null, endUser: null },
  };
  const read = async () => {
    const { DB, rows } = createCounted();
    const page = await createUsageList({ DB }).sumUsage(input);
    return { calls: page.ok && page.value.data.map(({ calls }) => calls), rows };
  };
  const [first, second] = [await read(), await read()];
  expect(second.calls).toEqual([20_000, 20_000, 20_000]);
  expect(first.calls).toEqual(second.calls);
  // A head and three sums for each day.
  expect(first.rows.written).toBeGreaterThanOrEqual(90 * 4);
  expect(second.rows.written).toBe(0);
  expect(second.rows.read).toBeLessThan(90 * 10);
});

describe("a page of usage by session or end user", () => {
  const SESSIONS = 1_500;
  const CALLS = 40;
  const USERS = 500;
  const LIMIT = 10;
  const ALL: UsageInput = {
    ...{ tenant: TENANT, groupBy: [], from: 0, to: 90 * DAY_MS, limit: LIMIT, after: null },
    ...{ session: null, model: null, purpose: null, key: null, endUser: null },
  };

  beforeEach(() =>
    env.DB.prepare(
      `INSERT INTO usage (tenant_id, session_id, seq, purpose, model, input, output, estimate, outcome, ms, at, cost, end_user)
       WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${SESSIONS * CALLS})
       SELECT ?, printf('ses_%026d', 1 + n / ${CALLS}), n, 'turn', 'model-1', 1, 1, 0, 'stop', 1, (n - 1) * 129600, 0.25,
         iif(n % 11 = 0, NULL, printf('user %04d', n % ${USERS})) FROM r`,
    )
      .bind(TENANT)
      .run(),
  );

  const read = async (input: UsageInput) => {
    const { DB, rows } = createCounted();
    const page = await createUsageList({ DB }).sumUsage(input);
    if (!page.ok) throw new Error(page.error.code);
    return { ...page.value, rows: rows.read };
  };

  it.each([
    // Each call is counted, and then summed up: by two rows and three.
    [["session"], 4 * (LIMIT + 1) * CALLS],
    [["session", "model"], 4 * (LIMIT + 2) * CALLS],
    [["end_user"], (5 * (LIMIT + 1) * SESSIONS * CALLS) / USERS],
    [["end_user", "day"], (5 * (LIMIT + 2) * SESSIONS * CALLS) / USERS],
  ] as const)("by %j reads the calls of its own groups, not those of the range", { timeout: 60_000 }, async (groupBy, most) => {
    // The first request stores the days, from which the calls without an end user are summed up.
    await read({ ...ALL, groupBy });
    const first = await read({ ...ALL, groupBy });
    expect(first.data).toHaveLength(LIMIT);
    // And the days, of which each is looked at for calls without a name.
    expect(first.rows).toBeLessThan(most + 1_500);
    const second = await read({ ...ALL, groupBy, after: first.next_cursor });
    expect(second.data).toHaveLength(LIMIT);
    expect(second.rows).toBeLessThan(most + 200);
  });
});
