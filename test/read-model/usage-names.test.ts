/** Pages of usage by session or end user: together they are the sums of one statement over all calls, with the real statements in Node's SQLite. */
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { USAGE_GROUPS, type UsageGroup, type UsageInput } from "../../src/app/read-api";
import type { UsageRow } from "../../src/contract/usage";
import { roundCost } from "../../src/domain/call-totals";
import { toDaySession } from "../../src/domain/erased-usage";
import { buildUsageQuery, createUsageList, toUsageCursor } from "../../src/read-model/usage-query";
import { SimD1 } from "../simulation/sim-d1";
import { drawn } from "../support/effort";
import { makeId, TENANT } from "./builders";

const DAY_MS = 24 * 60 * 60 * 1_000;
const SLOT_MS = 15 * 60_000;
const DAYS = 4;
const KEYS = [makeId("key", 1), makeId("key", 2)] as const;
const USERS = [null, "", "ann", "bob", "李雷", "🙂", "\uFFFD"] as const;
const d1 = new SimD1();
const db = d1.direct;

const ALL: UsageInput = {
  ...{ tenant: TENANT, groupBy: [], from: 0, to: DAYS * DAY_MS, limit: 5_000, after: null },
  ...{ session: null, model: null, purpose: null, key: null, endUser: null },
};

beforeEach(() => {
  d1.clear();
  db.prepare("DELETE FROM usage_bounds").run();
});

const prepare = (sql: string, ...params: readonly (string | number | null)[]) => db.prepare(sql).bind(...params);

interface Call {
  /** Zero: a request without a session. */
  readonly session: number;
  readonly user: (typeof USERS)[number];
  readonly at: number;
  readonly kind: number;
}

const insert = ({ session, user, at, kind }: Call, seq: number): D1PreparedStatement => {
  const groups = [kind % 2 ? "title" : "turn", `model-${kind % 3}`, kind % 4 ? 0.5 : null, KEYS[kind % 5] ?? null] as const;
  const [purpose, model, cost, key] = groups;
  if (session > 0)
    return prepare(
      `INSERT INTO usage (tenant_id, session_id, seq, purpose, model, input, output, cached, estimate, outcome, ms, at, cost, key_id, end_user)
       VALUES (?, ?, ?, ?, ?, 7, 2, 1, 0, 'stop', 1, ?, ?, ?, ?)`,
      ...[TENANT, makeId("ses", session), seq, purpose, model, at, cost, key, user],
    );
  const slot = Math.floor(at / SLOT_MS) * SLOT_MS;
  return prepare(
    `INSERT INTO erased_usage (tenant_id, session_id, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced, key_id, end_user)
     VALUES (?, ?, ?, ?, ?, 2, 1, 5, 5, 0, 0, 1, 0, 0.5, 0, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + 2, cost = cost + 0.5`,
    ...[TENANT, toDaySession(slot), slot, model, purpose, key ?? "", user ?? ""],
  );
};

/** Sums take the place of a session's calls, whose names stay. */
const erase = (session: number) => {
  const id = makeId("ses", session);
  return db.batch([
    prepare(
      `INSERT INTO erased_usage (tenant_id, session_id, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced, key_id, end_user)
       SELECT tenant_id, session_id, at / ${SLOT_MS} * ${SLOT_MS}, model, purpose, count(*), 0, sum(input), sum(input - 1), count(*), 0, 2 * count(*), 0,
         coalesce(sum(cost), 0), sum(cost IS NULL), coalesce(key_id, ''), coalesce(end_user, '')
       FROM usage WHERE tenant_id = ?1 AND session_id = ?2 GROUP BY 1, 2, 3, 4, 5, 16, 17`,
      ...[TENANT, id],
    ),
    prepare("DELETE FROM usage WHERE tenant_id = ?1 AND session_id = ?2", TENANT, id),
  ]);
};

/** All pages of a list. `meanwhile` runs before each transaction. */
async function readPages(input: UsageInput, meanwhile: () => Promise<unknown> = async () => {}) {
  const DB = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== "batch") return value;
      return async (statements: D1PreparedStatement[]) => {
        await meanwhile();
        return target.batch(statements);
      };
    },
  });
  const rows: UsageRow[] = [];
  for (let { after } = input; ; ) {
    const page = await createUsageList({ DB, now: () => 2 * DAYS * DAY_MS }).sumUsage({ ...input, after });
    if (!page.ok) throw new Error(page.error.code);
    expect(page.value.data.length).toBe(page.value.has_more ? input.limit : page.value.data.length);
    rows.push(...page.value.data);
    after = page.value.next_cursor;
    if (after === null) break;
  }
  return rows.map((row) => [
    ...[row.day, row.session_id, row.model, row.purpose, row.key_id, row.end_user],
    ...[row.calls, row.failed_calls, row.input, row.uncached, row.output, row.unpriced_calls, row.cost ?? 0],
  ]);
}

/** The sums of one statement over all calls. */
async function sumAtOnce(input: UsageInput) {
  const query = buildUsageQuery({ ...input, limit: 5_000 });
  if (!query) throw new Error("no query");
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(query);
  const { results } = await prepare(sql, ...(params as (string | number)[])).all<Record<string, number | string>>();
  return results.map((row) => [
    typeof row.by_day === "number" ? new Date(row.by_day * DAY_MS).toISOString().slice(0, 10) : null,
    ...[row.by_session, row.by_model, row.by_purpose, row.by_key, row.by_end_user].map((name) => name || null),
    ...[row.calls, row.failed, row.input, row.uncached, row.output, row.unpriced, roundCost(Number(row.cost))],
  ]);
}

const time = fc.nat(DAYS * DAY_MS - 1);
const call = fc.record<Call>({ session: fc.nat(6), user: fc.constantFrom(...USERS), at: time, kind: fc.nat(59) });
const question = fc.record({
  groupBy: fc
    .tuple(fc.constantFrom<UsageGroup>("session", "end_user"), fc.shuffledSubarray<UsageGroup>([...USAGE_GROUPS]))
    .map(([first, others]) => [first, ...others.filter((group) => group !== first)]),
  from: fc.oneof(fc.constant(0), time),
  to: fc.oneof(fc.constant(DAYS * DAY_MS), time),
  model: fc.constantFrom(null, null, "model-1"),
  purpose: fc.constantFrom(null, null, "title" as const),
  key: fc.constantFrom(null, null, KEYS[0]),
  endUser: fc.constantFrom(null, null, null, "ann"),
  limit: fc.constantFrom(1, 2, 5, 50),
});

async function fill(calls: readonly Call[], { stored = false, bound = 0 } = {}): Promise<void> {
  d1.clear();
  await db.batch([prepare("DELETE FROM usage_bounds"), ...calls.map(insert)]);
  if (bound > 0) await prepare("INSERT INTO usage_bounds VALUES (?, ?)", TENANT, bound).run();
  // Where a day is stored, a request stores the others.
  if (stored) await prepare("INSERT INTO usage_days VALUES (?, 0, 0)", TENANT).run();
}

describe("pages of usage by session or end user", () => {
  test("together are the sums of all calls, in the order of the groups", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 40 }),
        question,
        fc.boolean(),
        fc.constantFrom(0, 0, DAY_MS, DAY_MS + 5),
        async (calls, asked, stored, bound) => {
          await fill(calls, { stored, bound });
          const input = { ...ALL, ...asked };
          expect(await readPages(input)).toEqual(await sumAtOnce(input));
        },
      ),
      { numRuns: drawn(1_000) },
    );
  });

  test("count each call once while sessions are erased between the steps of a request", { timeout: 60_000 }, async () => {
    const erasures = fc.array(fc.option(fc.integer({ min: 1, max: 6 })), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 3, maxLength: 40 }), question, erasures, async (calls, asked, moments) => {
        await fill(calls, { stored: moments.length > 2 });
        const left = [...moments];
        // Erased calls are of the beginning of their quarter of an hour, and the range has whole days.
        const input = { ...ALL, ...asked, from: Math.floor(asked.from / DAY_MS) * DAY_MS, to: Math.ceil(asked.to / DAY_MS) * DAY_MS };
        const withoutFailures = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.slice(0, 7));
        const whole = withoutFailures(await sumAtOnce(input));
        const meanwhile = async () => {
          const session = left.shift();
          if (session != null) await erase(session);
        };
        expect(withoutFailures(await readPages(input, meanwhile))).toEqual(whole);
      }),
      { numRuns: drawn(500) },
    );
  });

  test("begin again where older usage is removed between two steps", async () => {
    const calls = Array.from({ length: 40 }, (_, n) => ({ session: (n % 6) + 1, user: "ann", at: (n % DAYS) * DAY_MS, kind: n }) as const);
    await fill(calls);
    const input: UsageInput = { ...ALL, groupBy: ["session"], limit: 4 };
    let transactions = 0;
    const page = readPages(input, async () => {
      if (++transactions === 2) await prepare("INSERT INTO usage_bounds VALUES (?, ?)", TENANT, 2 * DAY_MS).run();
    });
    expect(await page).toEqual(await sumAtOnce(input));
    expect(transactions).toBeGreaterThan(3);
  });

  test.each<[UsageGroup, string]>([
    ["session", "ses_zzz"],
    ["end_user", "zzz"],
  ])("behind the last %s are empty", async (group, last) => {
    await fill([{ session: 1, user: "ann", at: 0, kind: 0 }]);
    expect(await readPages({ ...ALL, groupBy: [group], after: toUsageCursor([last]) })).toEqual([]);
  });
});
