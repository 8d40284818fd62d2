/** Every query of a list, a filter or a search over a tenant's sessions reads as much of D1 as it answers, however many rows there are. */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SESSION_ORDERS, type SessionFilter, USAGE_GROUPS } from "../../src/app/read-api";
import { createEndUserList } from "../../src/read-model/end-users";
import { createExecutionReader } from "../../src/read-model/execution-query";
import { createSessionList } from "../../src/read-model/queries";
import { createRebuildRows } from "../../src/read-model/rebuild";
import { createSessionSearch } from "../../src/read-model/session-search";
import { createTenantRows } from "../../src/read-model/tenant-rows";
import { createUsageList, toUsageCursor } from "../../src/read-model/usage-query";
import { createProjection } from "../../src/read-model/writer";
import { ALL_SESSIONS, LogBuilder, makeId, SESSION, START, TENANT } from "../read-model/builders";
import { findUnbounded } from "../support/query-plan";

beforeAll(async () => {
  await applyD1Migrations(env.DB, env.MIGRATIONS);
  const log = new LogBuilder(SESSION).open({ title: "Reise" }).says("user", "The blue bicycle").says("assistant", "你好");
  await createProjection(env.DB).write(log.batch());
  // One person has more texts than a filtered search reads directly, so that it goes through the index.
  await env.DB.prepare("UPDATE sessions SET end_user = 'ann' WHERE id = ?").bind(SESSION).run();
  await env.DB.prepare(
    `WITH RECURSIVE number (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM number WHERE n < 4500)
     INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq) SELECT ?, ?, n, 'blue', 1 FROM number`,
  )
    .bind(TENANT, SESSION)
    .run();
});

interface Query {
  readonly sql: string;
  params: readonly unknown[];
}

/** The database, and every query that is made through it. */
function recording(db: D1Database): { readonly db: D1Database; readonly queries: readonly Query[] } {
  const queries: Query[] = [];
  const note = (sql: string): D1PreparedStatement => {
    const query: Query = { sql, params: [] };
    queries.push(query);
    return new Proxy(db.prepare(sql), {
      get(target, property) {
        if (property === "bind")
          return (...params: unknown[]) => {
            // One statement may be bound more than once, and its plan is the same.
            query.params = params;
            return target.bind(...params);
          };
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  const noting = new Proxy(db, {
    get(target, property) {
      if (property === "prepare") return note;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { db: noting, queries };
}

/** Common table expressions (of the search `c`: candidates; of usage `days`, `found`), and rows of JSON by the names that the queries give them. */
const PASSING = ["asked", "c", "matches", "candidates", "scored", "best", "shown", "part", "place", "row", "days", "found"];

const DAY_MS = 24 * 60 * 60 * 1_000;

let plans = 0;

/** The unbounded steps of each query that `ask` makes. */
async function plan(
  ask: (db: D1Database) => Promise<unknown>,
  sorts: boolean,
): Promise<{ readonly found: string[]; readonly queries: number }> {
  const { db, queries } = recording(env.DB);
  await ask(db);
  const found: string[] = [];
  for (const { sql, params } of queries) {
    // A text of its own for each, because a plan that workerd still has prepared does not follow the schema.
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN /* ${++plans} */ ${sql}`)
      .bind(...params)
      .all<{ detail: string }>();
    found.push(...findUnbounded(results, { passing: PASSING, sorts }).map((detail) => `${detail} in ${sql}`));
  }
  return { found, queries: queries.length };
}

const FILTERS: readonly (readonly [name: string, filter: Partial<SessionFilter>])[] = [
  ["no filter", {}],
  ["an external id", { externalId: "x" }],
  ["an end user", { endUser: "ann" }],
  ["metadata", { metadata: { team: "red", tier: "gold" } }],
  ["a time of creation", { createdAfter: START, createdBefore: START + 1 }],
  ["a time of change", { updatedAfter: START, updatedBefore: START + 1 }],
  ["everything", { endUser: "ann", metadata: { team: "red" }, createdAfter: START, updatedBefore: START + 1 }],
];

describe("the list of sessions", () => {
  const orders = SESSION_ORDERS.flatMap((orderBy) => (["asc", "desc"] as const).map((order) => ({ orderBy, order })));
  const cases = FILTERS.flatMap(([name, filter]) => orders.map((order) => [name, order.orderBy, order.order, filter] as const));

  it.each(cases)("with %s, by %s %s", async (_name, orderBy, order, filter) => {
    const first = { tenant: TENANT, filter: { ...ALL_SESSIONS, ...filter }, orderBy, order, limit: 50, after: null };
    const cursor = btoa(`${orderBy}:${order}:${START}:${SESSION}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    // Sessions that an entry of metadata selects are sorted, where they are few enough to be listed by it.
    const sorts = filter.metadata !== undefined || filter.externalId !== undefined;

    for (const after of [null, cursor]) {
      const { found, queries } = await plan((DB) => createSessionList({ DB }).listSessions({ ...first, after }), sorts);
      expect(found).toEqual([]);
      expect(queries).toBeGreaterThan(0);
    }
  });
});

describe("the search", () => {
  it.each(FILTERS)("with %s", async (_name, filter) => {
    const asked = { tenant: TENANT, query: "blue bicycle 你好", filter: { ...ALL_SESSIONS, ...filter }, limit: 10, after: null };
    // It ranks what it has found, of which it reads a stated number.
    const { found, queries } = await plan((DB) => createSessionSearch({ DB }).searchSessions(asked), true);
    expect(found).toEqual([]);
    expect(queries).toBeGreaterThan(2);
  });
});

describe("other reads", () => {
  const usage = {
    tenant: TENANT,
    groupBy: USAGE_GROUPS,
    from: 0,
    to: START,
    session: null,
    model: null,
    purpose: null,
    key: null,
    endUser: null,
    limit: 50,
    after: null,
  };
  const page = { tenant: TENANT, after: SESSION, limit: 50 };
  // A sum sorts the groups of its period, and a page of a tenant's models sorts those.
  it.each([
    ["usage of a tenant", true, (DB: D1Database) => createUsageList({ DB }).sumUsage(usage)],
    [
      "end users",
      false,
      (DB: D1Database) => createEndUserList({ DB }).listEndUsers({ tenant: TENANT, order: "asc", limit: 50, after: null }),
    ],
    [
      "end users behind one",
      false,
      (DB: D1Database) =>
        createEndUserList({ DB }).listEndUsers({ tenant: TENANT, order: "desc", limit: 50, after: toUsageCursor(["ann"]) }),
    ],
    ["one end user", false, (DB: D1Database) => createEndUserList({ DB }).findEndUser(TENANT, "ann")],
    [
      "usage by day, whose days are stored",
      true,
      async (DB: D1Database) => {
        const day = Math.floor(START / DAY_MS) - 5;
        await env.DB.prepare("INSERT INTO usage_days VALUES (?, ?, ?)")
          .bind(TENANT, day, day * DAY_MS)
          .run();
        await createUsageList({ DB }).sumUsage({ ...usage, from: START - 9 * DAY_MS, groupBy: ["day", "model"] });
        const { results } = await env.DB.prepare("SELECT day FROM usage_days").all();
        expect(results.length).toBeGreaterThan(5);
      },
    ],
    ["usage by session", true, (DB: D1Database) => createUsageList({ DB }).sumUsage({ ...usage, groupBy: ["session"] })],
    ["usage by end user", true, (DB: D1Database) => createUsageList({ DB }).sumUsage({ ...usage, groupBy: ["end_user", "day"] })],
    ["usage of an end user", true, (DB: D1Database) => createUsageList({ DB }).sumUsage({ ...usage, endUser: "ann" })],
    ["usage of a session", true, (DB: D1Database) => createUsageList({ DB }).sumUsage({ ...usage, session: SESSION })],
    [
      "one execution",
      false,
      (DB: D1Database) => createExecutionReader({ DB }).readExecution({ tenant: TENANT, execution: makeId("exe", 1) }),
    ],
    ["whether a session is listed", false, (DB: D1Database) => createSessionList({ DB }).isListed({ tenant: TENANT, session: SESSION })],
    ["the sessions that have rows", false, (DB: D1Database) => createTenantRows(DB).listSessions(page)],
    ["the rows of a tenant", false, (DB: D1Database) => createTenantRows(DB).read(TENANT)],
    ["how far a session's rows are", false, (DB: D1Database) => createRebuildRows(DB).stand({ tenant: TENANT, session: SESSION })],
    ...createRebuildRows(env.DB).tables.map(
      (table) =>
        [
          `a page of ${table}`,
          false,
          (DB: D1Database) => createRebuildRows(DB).readPage({ tenant: TENANT, session: SESSION }, { after: null, table }),
        ] as const,
    ),
  ] as const)("%s", async (_name, sorts, ask) => {
    const { found, queries } = await plan(ask, sorts);
    expect(found).toEqual([]);
    expect(queries).toBeGreaterThan(0);
  });
});

it("a query that has lost its index is noticed", async () => {
  const asked = { tenant: TENANT, query: "blue", filter: { ...ALL_SESSIONS, endUser: "ann" }, limit: 10, after: null };
  const index = "search_rows_by_place";
  const made = await env.DB.prepare("SELECT sql FROM sqlite_master WHERE name = ?").bind(index).first<string>("sql");
  await env.DB.prepare(`DROP INDEX ${index}`).run();

  const { found } = await plan((DB) => createSessionSearch({ DB }).searchSessions(asked), true);

  expect(found.map((detail) => detail.slice(0, detail.indexOf(" in ")))).toEqual(["SCAN search_rows", "SCAN r"]);
  await env.DB.prepare(made ?? "").run();
});
