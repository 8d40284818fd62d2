/** What stored days of usage cost in D1, in the rows that it counts. */
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
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

/** The database, and the rows that its transactions have read and written. */
function createCounted() {
  const rows = { read: 0, written: 0 };
  const DB = new Proxy(env.DB, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "batch") return typeof value === "function" ? value.bind(target) : value;
      return async (statements: D1PreparedStatement[]) => {
        const results = await target.batch(statements);
        for (const { meta } of results) {
          rows.read += meta.rows_read;
          rows.written += meta.rows_written;
        }
        return results;
      };
    },
  });
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
