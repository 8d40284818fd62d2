/** Sums of usage over a long range: they are made in parts, and are those of one statement over all. */
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UsageGroup, UsageInput } from "../../src/app/read-api";
import { roundCost } from "../../src/domain/call-totals";
import { buildUsageQuery, createUsageList, toUsageCursor } from "../../src/read-model/usage-query";
import { SimD1 } from "../simulation/sim-d1";
import { TENANT } from "./builders";

/** Two users have 30,000 calls each, and one has 90,000, which are summed up in parts of their own. */
const SUMS_OF_USERS = 4;
/** Rows that one statement sums up (`src/read-model/usage-query.ts`). */
const A_PART = 50_000;
const CALLS = 180_000;
const ERASED = 70_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DAYS = 30;
const d1 = new SimD1().direct;

const ALL: UsageInput = {
  ...{ tenant: TENANT, groupBy: [], from: 0, to: 2 * DAYS * DAY_MS, limit: 5_000, after: null },
  ...{ session: null, model: null, purpose: null, key: null, endUser: null },
};

beforeAll(async () => {
  const numbers = (most: number) => `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${most})`;
  const users = "CASE n % 6 WHEN 0 THEN NULL WHEN 1 THEN '🙂' WHEN 2 THEN char(65533) ELSE 'ann' END";
  for (const sql of [
    `INSERT INTO usage (tenant_id, session_id, seq, turn_id, purpose, model, input, output, cached, reasoning, estimate, outcome, ms, at, cost, key_id, end_user)
     ${numbers(CALLS)} SELECT '${TENANT}', printf('ses_01K%023d', n / 5), n, 't', iif(n % 7 = 0, 'title', 'turn'), 'model-' || (n % 3), n % 100, 2, 1, 0, 1,
       'completed', 1, n * ${Math.floor((DAYS * DAY_MS) / CALLS)}, iif(n % 11 = 0, NULL, 0.25), iif(n % 2 = 0, 'key_01K00000000000000000000001', NULL), ${users} FROM r`,
    `INSERT INTO erased_usage (tenant_id, session_id, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced)
     ${numbers(ERASED)} SELECT '${TENANT}', printf('ses_01J%023d', n), (n % 2880) * 900000, 'model-' || (n % 3), 'turn', 2, 0, 5, 5, 0, 0, 1, 0, 0.5, 0 FROM r`,
  ])
    await d1.prepare(sql).run();
}, 60_000);

/** No day is stored. */
beforeEach(async () => void (await d1.prepare("DELETE FROM usage_days").run()));

/** Notes the statements that sum up calls. */
function createWatched() {
  const sums: string[] = [];
  const DB = new Proxy(d1, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== "prepare") return typeof value === "function" ? value.bind(target) : value;
      return (sql: string) => {
        if (sql.includes("coalesce(sum(") && sql.includes('FROM "usage"')) sums.push(sql);
        return target.prepare(sql);
      };
    },
  });
  return { DB, sums };
}

async function sumAtOnce(input: UsageInput): Promise<readonly Record<string, number | string>[]> {
  const query = buildUsageQuery(input);
  if (!query) throw new Error("no query");
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(query);
  return (
    await d1
      .prepare(sql)
      .bind(...params)
      .all<Record<string, number | string>>()
  ).results;
}

async function readPages(input: UsageInput) {
  const { DB, sums } = createWatched();
  const rows: { readonly calls: number; readonly cost: number | null }[] = [];
  const pages: number[] = [];
  for (let after: string | null = null; ; ) {
    const before = sums.length;
    const page = await createUsageList({ DB }).sumUsage({ ...input, after });
    if (!page.ok) throw new Error(page.error.code);
    rows.push(...(page.value.data as unknown as typeof rows));
    pages.push(sums.length - before);
    after = page.value.next_cursor;
    if (after === null) return { rows, pages };
  }
}

/** Sums take the place of the first call from then on. */
async function eraseCall(at: number): Promise<void> {
  const call = "tenant_id = ?1 AND at = (SELECT min(at) FROM usage WHERE tenant_id = ?1 AND at >= ?2)";
  await d1.batch([
    d1
      .prepare(
        `INSERT INTO erased_usage (tenant_id, session_id, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced, end_user)
         SELECT tenant_id, session_id, at / 900000 * 900000, model, purpose, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, coalesce(end_user, '') FROM usage WHERE ${call}`,
      )
      .bind(TENANT, at),
    d1.prepare(`DELETE FROM usage WHERE ${call}`).bind(TENANT, at),
  ]);
}

describe("sums of usage", () => {
  const groupings: readonly (readonly UsageGroup[])[] = [
    [],
    ["day"],
    ["model"],
    ["end_user", "purpose"],
    ["key", "day"],
    ["day", "model", "end_user"],
  ];

  it.each(groupings.map((groupBy) => [groupBy.join(", ") || "nothing", groupBy] as const))(
    "by %s are those of one statement, and those of a second request, which reads no call of a stored day",
    async (_name, groupBy) => {
      const [whole, { rows, pages }] = [await sumAtOnce({ ...ALL, groupBy }), await readPages({ ...ALL, groupBy })];

      const toFigures = ({ calls, cost }: Readonly<Record<string, unknown>>) => [calls, roundCost(Number(cost))];
      expect(rows.map((row) => toFigures(row as never))).toEqual(whole.map(toFigures));
      expect(whole.reduce((sum, { calls }) => sum + Number(calls), 0)).toBe(CALLS + 2 * ERASED);
      expect(pages).toHaveLength(1);
      expect(pages[0]).toBeGreaterThanOrEqual(CALLS / A_PART);
      expect(pages[0]).toBeLessThanOrEqual((CALLS + ERASED) / A_PART + 2 + (groupBy[0] === "end_user" ? SUMS_OF_USERS : 0));
      const second = await readPages({ ...ALL, groupBy });
      const read = groupBy[0] === "end_user" ? [SUMS_OF_USERS] : groupBy.includes("end_user") ? pages : [0];
      expect(second).toEqual({ rows, pages: read });
    },
  );

  it.each([10, 50])("by day and end user, %i a page, read the days of the page and no more", async (limit) => {
    const groupBy: readonly UsageGroup[] = ["day", "end_user"];
    const { rows, pages } = await readPages({ ...ALL, groupBy, limit });

    expect(rows.map(({ calls }) => calls)).toEqual((await sumAtOnce({ ...ALL, groupBy })).map(({ calls }) => calls));
    // The days of a page are in one part or in two.
    expect(Math.max(...pages)).toBeLessThanOrEqual(2 + limit / 3 / (DAYS / 4));
  });

  it.each([3, 10])("by day and model, %i a page, store no more days than a page has groups", async (limit) => {
    const groupBy: readonly UsageGroup[] = ["day", "model"];
    const { rows, pages } = await readPages({ ...ALL, groupBy, limit });

    expect(rows.map(({ calls }) => calls)).toEqual((await sumAtOnce({ ...ALL, groupBy })).map(({ calls }) => calls));
    expect(Math.max(...pages)).toBeLessThanOrEqual(2 + ((limit + 1) * (CALLS + ERASED)) / DAYS / A_PART);
  });

  it("of filters and a part of the range are those of one statement, too", async () => {
    const some: Partial<UsageInput> = { from: 3 * DAY_MS + 5, to: 27 * DAY_MS - 5, groupBy: ["day", "end_user"], model: "model-1" };
    for (const filter of [{}, { purpose: "title" as const }, { endUser: "🙂" }, { session: null }]) {
      const input = { ...ALL, ...some, ...filter };
      expect((await readPages({ ...input, limit: 40 })).rows.map(({ calls }) => calls)).toEqual(
        (await sumAtOnce(input)).map(({ calls }) => calls),
      );
    }
  });

  it.each<[UsageGroup, string | number]>([
    ["session", "ses_01K00000000000000000000100"],
    ["day", 3],
    ["model", "model-1"],
    ["purpose", "title"],
    ["key", "key_01K00000000000000000000001"],
    ["end_user", "ann"],
  ])("by %s read the calls of a part behind a cursor, too, and not all that are behind it", async (group, key) => {
    const query = buildUsageQuery({ ...ALL, groupBy: [group], after: toUsageCursor([key]) });
    if (!query) throw new Error("no query");
    const { sql, params } = new SQLiteSyncDialect().sqlToQuery(query);
    const plan = await d1
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...params)
      .all<{ detail: string }>();
    const reads = plan.results.filter(({ detail }) => /^SEARCH (erased_)?usage /.test(detail)).map(({ detail }) => detail);
    const by = (table: string) => `SEARCH ${table} USING INDEX ${table}_by_time (tenant_id=? AND at>? AND at<?)`;
    expect(reads).toEqual([by("usage"), by("erased_usage")]);
  });

  it("count a call once that is erased between two parts, whose sums begin with a quarter of an hour", async () => {
    const input: UsageInput = { ...ALL, groupBy: ["end_user"] };
    const whole = await sumAtOnce(input);
    const { at } = (await d1.prepare("SELECT at FROM usage ORDER BY at LIMIT 1 OFFSET ?").bind(A_PART).first<{ at: number }>()) ?? {
      at: 0,
    };
    let parts = 0;
    const DB = new Proxy(d1, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== "batch") return value;
        return async (statements: D1PreparedStatement[]) => {
          if (++parts === 2) await eraseCall(at);
          return target.batch(statements);
        };
      },
    });
    const page = await createUsageList({ DB }).sumUsage(input);
    expect(parts).toBeGreaterThan(2);
    expect(page.ok && page.value.data.map(({ calls }) => calls)).toEqual(whole.map(({ calls }) => calls));
  });

  it("of one end user are in parts of that user's own calls", async () => {
    expect((await readPages({ ...ALL, endUser: "🙂", groupBy: ["model"] })).pages).toEqual([1]);
    expect((await readPages({ ...ALL, endUser: "ann", groupBy: ["model"] })).pages).toEqual([2]);
  });

  it("by session go through the range, once more sessions before it have no call in it than that costs", async () => {
    const input: UsageInput = { ...ALL, groupBy: ["session"], from: (DAYS - 1) * DAY_MS, to: DAYS * DAY_MS };
    const { rows, pages } = await readPages({ ...input, limit: 4_000 });
    expect(rows.map(({ calls }) => calls)).toEqual((await sumAtOnce({ ...input, limit: 10_000 })).map(({ calls }) => calls));
    // From name to name, up to 1,000 in a statement, it would be more than a hundred.
    expect(pages[0]).toBeLessThan(50);
    expect(pages).toHaveLength(1);
  });

  it.each(["model", "end_user"] as const)("of a tenant with few calls are one statement, by %s", async (group) => {
    expect((await readPages({ ...ALL, to: DAY_MS, groupBy: [group] })).pages).toEqual([1]);
  });
});
