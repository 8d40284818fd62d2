/** Stored sums of finished days: at every moment a request answers what the calls themselves add up to, with the real statements in Node's SQLite. */
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { UsageGroup, UsageInput } from "../../src/app/read-api";
import type { UsageRow } from "../../src/contract/usage";
import { roundCost } from "../../src/domain/call-totals";
import { createMoveDatabase } from "../../src/read-model/move-database";
import { toScratchName } from "../../src/read-model/store";
import { createTenantRows } from "../../src/read-model/tenant-rows";
import { buildUsageQuery, createUsageList } from "../../src/read-model/usage-query";
import { SimD1 } from "../simulation/sim-d1";
import { drawn } from "../support/effort";
import { makeId, TENANT } from "./builders";

const DAY_MS = 24 * 60 * 60 * 1_000;
const SLOT_MS = 15 * 60_000;
const DAYS = 5;
/** The last days of the range have not settled. */
const NOW = (DAYS - 1) * DAY_MS + 5;
const SESSIONS = 3;
const OTHER = makeId("ten", 2);
const KEYS = [makeId("key", 1), makeId("key", 2)] as const;
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

const run = (sql: string, ...params: (string | number | null)[]) =>
  db
    .prepare(sql)
    .bind(...params)
    .run();
const query = async <T>(sql: string, ...params: (string | number)[]) =>
  (
    await db
      .prepare(sql)
      .bind(...params)
      .all<T>()
  ).results;
const countDays = async (tenant: string = TENANT): Promise<number> => {
  const [row] = await query<{ n: number }>(
    "SELECT count(*) AS n FROM usage_days WHERE tenant_id = ? AND up_to = (day + 1) * 86400000",
    tenant,
  );
  return row?.n ?? 0;
};
const listSums = () => query<Record<string, unknown>>("SELECT * FROM usage_day_sums");

/** A day is stored up to its beginning. Where a day is, a request stores the others. */
const beginStoring = (tenant: string = TENANT) => run("INSERT OR IGNORE INTO usage_days VALUES (?, 0, 0)", tenant);

interface Act {
  readonly kind:
    | "call"
    | "replace"
    | "forget"
    | "delete"
    | "erase"
    | "throwaway"
    | "bound"
    | "bound of a month"
    | "other tenant"
    | "move"
    | "clean";
  readonly n: number;
  readonly at: number;
  readonly cost: number | null;
}

const insertCall = ({ n, at, cost }: Act, tenant: string = TENANT) =>
  run(
    `INSERT OR REPLACE INTO usage (tenant_id, session_id, seq, turn_id, purpose, model, input, output, cached, reasoning, estimate, outcome, ms, at, cost, key_id, end_user)
     VALUES (?, ?, ?, 't', ?, ?, ?, 2, 1, 0, 1, ?, 1, ?, ?, ?, ?)`,
    ...[tenant, makeId("ses", n % SESSIONS), n, n % 5 === 0 ? "title" : "turn", `model-${n % 2}`, n, n % 4 === 0 ? "failed" : "stop", at],
    ...[cost, n % 3 === 0 ? null : (KEYS[n % 2] ?? null), [null, "", "ann", "李雷"][n % 4] ?? null],
  );

const ERASE = `INSERT INTO erased_usage (tenant_id, session_id, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced, key_id, end_user)
  SELECT tenant_id, session_id, at / ${SLOT_MS} * ${SLOT_MS}, model, purpose, count(*), sum(outcome = 'failed'), sum(input),
    sum(max(0, input - 1)), count(*), 0, 2 * count(*), 0, coalesce(sum(cost), 0), sum(cost IS NULL), coalesce(key_id, ''), coalesce(end_user, '')
  FROM usage WHERE tenant_id = ?1 AND session_id = ?2 GROUP BY 1, 2, 3, 4, 5, 16, 17
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, failed = failed + excluded.failed, input = input + excluded.input,
    uncached = uncached + excluded.uncached, cached = cached + excluded.cached, output = output + excluded.output, cost = cost + excluded.cost,
    unpriced = unpriced + excluded.unpriced`;

/** Sums take the place of a session's calls. */
const erase = (n: number) =>
  db.batch([
    db.prepare(ERASE).bind(TENANT, makeId("ses", n % SESSIONS)),
    db.prepare("DELETE FROM usage WHERE tenant_id = ?1 AND session_id = ?2").bind(TENANT, makeId("ses", n % SESSIONS)),
  ]);

async function act(one: Act): Promise<unknown> {
  const { kind, n, at } = one;
  const session = makeId("ses", n % SESSIONS);
  switch (kind) {
    case "call":
      return insertCall(one);
    case "replace":
      return run("UPDATE usage SET at = ?, model = 'changed' WHERE tenant_id = ? AND session_id = ? AND seq = ?", at, TENANT, session, n);
    case "forget":
      await run(
        "UPDATE erased_usage SET key_id = '' WHERE tenant_id = ? AND session_id = ? AND calls = 1 AND key_id <> '' AND model = 'changed'",
        TENANT,
        session,
      );
      return run("UPDATE usage SET end_user = NULL, key_id = NULL WHERE tenant_id = ? AND session_id = ?", TENANT, session);
    case "delete":
      return run(`DELETE FROM ${n % 2 ? "usage" : "erased_usage"} WHERE tenant_id = ? AND session_id = ?`, TENANT, session);
    case "erase":
      return erase(n);
    case "throwaway":
      return run(
        `INSERT INTO erased_usage (tenant_id, session_id, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced)
         VALUES (?, ?, ?, 'model-1', 'turn', 2, 1, 5, 5, 0, 0, 1, 0, 0.5, 0)
         ON CONFLICT DO UPDATE SET calls = calls + 2, failed = failed + 1, input = input + 5, uncached = uncached + 5, output = output + 1, cost = cost + 0.5`,
        ...[TENANT, makeId("ses", 50 + (n % 2)), Math.floor(at / SLOT_MS) * SLOT_MS],
      );
    case "bound":
      return createTenantRows(db).removeUsage({ tenant: TENANT, before: at / 2 });
    case "bound of a month":
      return run("INSERT OR REPLACE INTO usage_bounds VALUES (?, ?)", TENANT, Math.floor(at / DAY_MS / 2) * DAY_MS);
    case "other tenant":
      await beginStoring(OTHER);
      await insertCall(one, OTHER);
      return read({ ...ALL, tenant: OTHER });
    case "move":
      return insertCall(one, toScratchName(TENANT));
    case "clean":
      while (!(await createMoveDatabase(db).clearTenant(OTHER)));
      return expect(await query("SELECT tenant_id FROM usage_day_sums WHERE tenant_id = ?", OTHER)).toEqual([]);
  }
}

const COUNTED = ["calls", "failed_calls", "input", "uncached", "cached", "output", "unpriced_calls"] as const;

/** All pages of a list. `meanwhile` runs before each transaction of the request. */
async function read(input: UsageInput, meanwhile: () => Promise<unknown> = async () => {}): Promise<readonly (readonly unknown[])[]> {
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
    const page = await createUsageList({ DB, now: () => NOW }).sumUsage({ ...input, after });
    if (!page.ok) throw new Error(page.error.code);
    rows.push(...page.value.data);
    after = page.value.next_cursor;
    if (after === null) break;
  }
  return rows.map((row) => [row.day, row.model, row.purpose, row.key_id, row.end_user, ...COUNTED.map((name) => row[name]), row.cost ?? 0]);
}

/** The sums of one statement over all calls. */
async function sumCalls(input: UsageInput): Promise<readonly (readonly unknown[])[]> {
  const built = buildUsageQuery({ ...input, limit: 5_000 });
  if (!built) throw new Error("no query");
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(built);
  const found = await query<Record<string, number | string>>(sql, ...(params as (string | number)[]));
  return found.map((row) => [
    typeof row.by_day === "number" ? new Date(row.by_day * DAY_MS).toISOString().slice(0, 10) : null,
    row.by_model ?? null,
    row.by_purpose ?? null,
    row.by_key || null,
    row.by_end_user || null,
    ...[row.calls, row.failed, row.input, row.uncached, row.cached, row.output, row.unpriced, roundCost(Number(row.cost))],
  ]);
}

const time = fc.oneof(
  fc.nat(DAYS * DAY_MS - 1),
  fc.nat(DAYS - 1).map((day) => day * DAY_MS),
);
const toAct = (kinds: readonly Act["kind"][]) =>
  fc.record<Act>({ kind: fc.constantFrom(...kinds), n: fc.nat(24), at: time, cost: fc.option(fc.nat(9).map((tenths) => tenths / 10)) });
const CHANGES = [
  "call",
  "call",
  "call",
  "replace",
  "forget",
  "delete",
  "erase",
  "throwaway",
  "bound",
  "bound of a month",
  "other tenant",
  "move",
  "clean",
] as const;
const question = fc.record({
  groupBy: fc.oneof(
    fc.shuffledSubarray<UsageGroup>(["day", "model", "purpose", "key"]),
    fc.shuffledSubarray<UsageGroup>(["day", "model", "purpose", "key", "end_user"]),
  ),
  from: fc.oneof(fc.constant(0), time),
  to: fc.oneof(fc.constant(DAYS * DAY_MS), time),
  model: fc.constantFrom(null, null, "model-1"),
  purpose: fc.constantFrom(null, null, "title" as const),
  key: fc.constantFrom(null, null, KEYS[0]),
  endUser: fc.constantFrom(null, null, null, "ann"),
  limit: fc.constantFrom(1, 2, 50),
});

describe("sums of usage", () => {
  test("are those of the calls, whatever changes between two requests", { timeout: 60_000 }, async () => {
    const seen = { stored: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(toAct(CHANGES), question), { minLength: 5, maxLength: 20 }), async (script) => {
        d1.clear();
        await run("DELETE FROM usage_bounds");
        for (const [change, asked] of script) {
          await beginStoring();
          await act(change);
          const input = { ...ALL, ...asked };
          const whole = await sumCalls(input);
          const both = await Promise.all([read(input), read(input)]);
          expect(both).toEqual([whole, whole]);
          seen.stored += await countDays();
        }
      }),
      { numRuns: drawn(150) },
    );
    expect(seen.stored).toBeGreaterThan(drawn(150));
  });

  test("count each call once while sessions are erased between the steps of a request", { timeout: 60_000 }, async () => {
    const moments = fc.array(fc.option(fc.nat(SESSIONS - 1)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(toAct(["call"]), { minLength: 3 }), question, moments, async (calls, asked, erasures) => {
        d1.clear();
        for (const call of calls) await act(call);
        await beginStoring();
        const left = [...erasures];
        // Erased calls are of the beginning of their quarter of an hour, and the range has whole days.
        const input = { ...ALL, ...asked, from: Math.floor(asked.from / DAY_MS) * DAY_MS, to: Math.ceil(asked.to / DAY_MS) * DAY_MS };
        const whole = await sumCalls(input);
        const meanwhile = async () => {
          const session = left.shift();
          if (session != null) await erase(session);
        };
        expect(await read(input, meanwhile)).toEqual(whole);
        expect(await read(input)).toEqual(whole);
      }),
      { numRuns: drawn(300) },
    );
  });

  test("are true after a request during which calls came and went", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(toAct(CHANGES), { minLength: 5, maxLength: 30 }), question, async (changes, asked) => {
        d1.clear();
        await run("DELETE FROM usage_bounds");
        await beginStoring();
        const input = { ...ALL, ...asked };
        const left = changes.filter(({ kind }) => kind !== "bound" && kind !== "bound of a month");
        await read(input, async () => {
          const change = left.shift();
          if (change) await act(change);
        });
        expect(await read(input)).toEqual(await sumCalls(input));
      }),
      { numRuns: drawn(300) },
    );
  });
});

describe("a stored day", () => {
  const FIRST: Act = { kind: "call", n: 1, at: 5, cost: 0.5 };

  test("is of a tenant with more calls than one statement sums up: others write nothing", async () => {
    await insertCall(FIRST);
    await read(ALL);
    expect(await countDays()).toBe(0);
  });

  test("has settled: the last days are summed up from their calls", async () => {
    await beginStoring();
    await read(ALL);
    expect(await query("SELECT day FROM usage_days ORDER BY day")).toEqual([{ day: 0 }, { day: 1 }, { day: 2 }]);
  });

  test("goes with the first change of a call, also where another row is replaced, and only that day", async () => {
    for (const [n, day] of [0, 1, 2].entries()) await insertCall({ ...FIRST, n, at: day * DAY_MS });
    await beginStoring();
    const changes = [
      () => insertCall({ ...FIRST, n: 9, at: DAY_MS + 1 }),
      () => run("UPDATE usage SET end_user = 'eve' WHERE at >= ? AND at < ?", DAY_MS, 2 * DAY_MS),
      () => run("UPDATE usage SET at = ? WHERE at = ?", DAY_MS + 2, DAY_MS + 1),
      () => insertCall({ ...FIRST, n: 9, at: (DAYS - 1) * DAY_MS }),
      () => run("DELETE FROM usage WHERE at = ?", DAY_MS),
      () => act({ ...FIRST, kind: "throwaway", at: DAY_MS }),
      () => act({ ...FIRST, kind: "throwaway", at: DAY_MS }),
      () => run("DELETE FROM erased_usage"),
    ];
    for (const change of changes) {
      await read(ALL);
      expect(await countDays()).toBe(3);
      await change();
      expect(await query("SELECT day FROM usage_days ORDER BY day")).toEqual([{ day: 0 }, { day: 2 }]);
      expect(await query("SELECT DISTINCT day FROM usage_day_sums ORDER BY day")).toEqual([{ day: 0 }, { day: 2 }]);
    }
  });

  test("names no key and no person once they are forgotten", async () => {
    for (const n of [1, 2, 5, 7]) await insertCall({ ...FIRST, n });
    await beginStoring();
    await read(ALL);
    const before = JSON.stringify(await listSums());
    expect(before).toContain(KEYS[0]);
    expect(before).not.toContain("ann");
    await run("UPDATE usage SET key_id = NULL, end_user = NULL");
    await read(ALL);
    expect((await listSums()).length).toBeGreaterThan(0);
    expect(JSON.stringify(await listSums())).not.toContain('"key_0');
  });

  test("of which the bound leaves a part is not used, and its calls are", async () => {
    for (const [n, at] of [0, DAY_MS - 1].entries()) await insertCall({ ...FIRST, n, at });
    await beginStoring();
    expect(await read(ALL)).toEqual(await sumCalls(ALL));
    await run("INSERT INTO usage_bounds VALUES (?, ?)", TENANT, DAY_MS / 2);
    expect(await countDays()).toBe(3);
    expect(await read(ALL)).toEqual(await sumCalls(ALL));
    expect((await sumCalls(ALL))[0]).toContain(1);
  });

  test("of scratch rows is never made", async () => {
    await insertCall(FIRST, toScratchName(TENANT));
    await beginStoring();
    await read(ALL);
    expect(await query("SELECT DISTINCT tenant_id FROM usage_days")).toEqual([{ tenant_id: TENANT }]);
  });

  test("that the database refuses to store fails no request", async () => {
    await insertCall(FIRST);
    await beginStoring();
    const full = new Proxy(db, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== "batch") return value;
        return async (statements: readonly (D1PreparedStatement & { readonly sql?: string })[]) => {
          if (statements.some(({ sql }) => sql?.startsWith("INSERT"))) throw new Error("D1_ERROR: database or disk is full");
          return target.batch([...statements]);
        };
      },
    });
    const page = await createUsageList({ DB: full, now: () => NOW }).sumUsage(ALL);
    expect(page.ok && page.value.data[0]?.calls).toBe(1);
    expect(await countDays()).toBe(0);
  });
});

describe("days of more calls than one statement sums up", () => {
  const CALLS = 58_000;
  const numbers = `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${CALLS})`;
  const fill = () =>
    run(
      `INSERT INTO usage (tenant_id, session_id, seq, purpose, model, input, output, estimate, outcome, ms, at, cost)
       ${numbers} SELECT ?, printf('ses_01K%023d', n / 5), n, 'turn', 'model-' || (n % 3), 1, 1, 0, 'stop', 1, n * 1500, 0.25 FROM r`,
      TENANT,
    );

  test("are stored in parts, each once, by two requests at once", async () => {
    await fill();
    const input: UsageInput = { ...ALL, groupBy: ["day", "model"] };
    const whole = await sumCalls(input);
    expect(await Promise.all([read(input), read(input)])).toEqual([whole, whole]);
    expect(await countDays()).toBe(3);
    const stored = await query("SELECT day, model, calls FROM usage_day_sums ORDER BY day, model");
    const days = whole.filter(([day]) => day !== null);
    expect(stored.map((row) => Object.values(row as object).slice(1))).toEqual(days.map((row) => [row[1], row[5]]));
  });

  test.each([0, 1, 2, 3, 4])("are whole where a call changes before transaction %i of a request", async (moment) => {
    await fill();
    const input: UsageInput = { ...ALL, groupBy: ["day", "model"] };
    let transactions = 0;
    const first = await read(input, async () => {
      if (transactions++ === moment) await run("UPDATE usage SET model = 'late' WHERE seq IN (1, 50000, 57900)");
    });
    expect(first.reduce((sum, row) => sum + Number(row[5]), 0)).toBe(CALLS);
    expect(await read(input)).toEqual(await sumCalls(input));
  });

  test("go on where a request was cut off", async () => {
    await fill();
    const input: UsageInput = { ...ALL, groupBy: ["model"] };
    let transactions = 0;
    const cut = read(input, async () => {
      if (transactions++ === 2) throw new Error("cut off");
    });
    await cut.catch(() => {});
    expect(await query("SELECT day FROM usage_days WHERE up_to < (day + 1) * 86400000")).toHaveLength(1);
    expect(await read(input)).toEqual(await sumCalls(input));
    expect(await countDays()).toBe(3);
  });
});
