/** Lists and searches by what no index knows read a bounded number of rows a page, and all their pages together lack no session. */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SESSION_ORDERS, type SessionFilter } from "../../src/app/read-api";
import { createSessionList } from "../../src/read-model/queries";
import { createSessionSearch } from "../../src/read-model/session-search";
import { ALL_SESSIONS, TENANT } from "../read-model/builders";

/** More than one page checks (`src/read-model/session-filter.ts`), and more of each entry than are read by it. */
const SESSIONS = 12_000;
/** Sessions whose second entry makes them those that a filter selects: few, and the oldest. */
const RARE = [1, 2, 30];
/** Rows that a page may read: the index and the checks of 5,000 sessions, and counts of entries. */
const A_PAGE = 18_000;

beforeAll(async () => {
  await applyD1Migrations(env.DB, env.MIGRATIONS);
  const numbers = `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${SESSIONS})`;
  const id = "printf('ses_01K%023d', n)";
  const entry = (number: number, name: string, value: string) =>
    `INSERT INTO session_metadata (tenant_id, session_id, number, name, value, last_seq) ${numbers} SELECT '${TENANT}', ${id}, ${number}, ${name}, ${value}, 1 FROM r`;
  const odd = "iif(n % 2 = 0";
  const rows = [
    `INSERT INTO sessions (tenant_id, id, title, model, policy, created_at, updated_at, last_seq, end_user, archived_at) ${numbers}
     SELECT '${TENANT}', ${id}, 'blue', 'm', 'p', n, ${SESSIONS} + n, 1, 'ann', iif(n % 3 = 0, 1, NULL) FROM r`,
    // No session has both.
    entry(0, `${odd}, 'shop', 'plan')`, `${odd}, 'north', 'pro')`),
    entry(1, "'kind'", `iif(n IN (${RARE.join(", ")}) OR n % 5 = 0, 'a', 'b')`),
    entry(2, "'size'", `iif(n IN (${RARE.join(", ")}) OR n % 5 = 1, 's', 'l')`),
    `INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq) ${numbers} SELECT '${TENANT}', ${id}, 0, 'blue', 1 FROM r WHERE n <= 4000`,
    "INSERT INTO search_index (search_index) VALUES ('rebuild')",
  ];
  for (const sql of rows) await env.DB.prepare(sql).run();
});

/** The database, and how many rows its statements have read. */
function createCounting(db: D1Database) {
  const read = { rows: 0 };
  const note = <T>(result: D1Result<T>): D1Result<T> => {
    read.rows += result.meta.rows_read;
    return result;
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        if (name === "bind") return (...params: unknown[]) => wrap(target.bind(...params));
        if (name === "first")
          return async (column?: string) => {
            const [row] = note(await target.all<Record<string, unknown>>()).results;
            return row === undefined ? null : column === undefined ? row : row[column];
          };
        if (name === "all") return async () => note(await target.all());
        if (name === "inner") return target;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const DB = new Proxy(db, {
    get(target, name) {
      if (name === "prepare") return (sql: string) => wrap(target.prepare(sql));
      if (name === "batch")
        return async (statements: (D1PreparedStatement & { readonly inner?: D1PreparedStatement })[]) =>
          (await target.batch(statements.map((each) => each.inner ?? each))).map(note);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const take = (): number => {
    const { rows } = read;
    read.rows = 0;
    return rows;
  };
  return { DB, take };
}

async function readAll(filter: Partial<SessionFilter>, orderBy: (typeof SESSION_ORDERS)[number], order: "asc" | "desc") {
  const { DB, take } = createCounting(env.DB);
  const list = createSessionList({ DB });
  const pages: { readonly rows: number; readonly read: number }[] = [];
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const page = await list.listSessions({ tenant: TENANT, filter: { ...ALL_SESSIONS, ...filter }, orderBy, order, limit: 100, after });
    if (!page.ok) throw new Error(page.error.code);
    pages.push({ rows: page.value.data.length, read: take() });
    found.push(...page.value.data.map(({ id }) => id));
    expect(page.value.has_more).toBe(page.value.next_cursor !== null);
    after = page.value.next_cursor;
    if (after === null) return { pages, found };
  }
}

const select = async (where: string, orderBy: string, order: string): Promise<string[]> => {
  const sql = `SELECT id FROM sessions AS s WHERE tenant_id = ? AND ${where} ORDER BY ${orderBy} ${order}, id ${order}`;
  return (await env.DB.prepare(sql).bind(TENANT).all<{ id: string }>()).results.map(({ id }) => id);
};
const has = (name: string, value: string): string =>
  `EXISTS (SELECT 1 FROM session_metadata AS m WHERE m.tenant_id = s.tenant_id AND m.session_id = s.id AND m.name = '${name}' AND m.value = '${value}')`;

const CASES: readonly (readonly [name: string, filter: Partial<SessionFilter>, where: string])[] = [
  ["two entries that no session has together", { metadata: { shop: "north", plan: "pro" } }, "0"],
  ["two entries that few sessions have together", { metadata: { kind: "a", size: "s" } }, `${has("kind", "a")} AND ${has("size", "s")}`],
  ["one common entry", { metadata: { shop: "north" } }, has("shop", "north")],
  [
    "entries and a time",
    { metadata: { kind: "a", size: "s" }, createdBefore: 20 },
    `${has("kind", "a")} AND ${has("size", "s")} AND created_at < 20`,
  ],
  ["two times", { createdAfter: 10, createdBefore: 20, updatedAfter: 5 }, "created_at > 10 AND created_at < 20 AND updated_at > 5"],
  [
    "an end user's archived ones before a time",
    { endUser: "ann", archived: true, createdBefore: 50 },
    "end_user = 'ann' AND archived_at IS NOT NULL AND created_at < 50",
  ],
];

describe("a list of sessions by", () => {
  const orders = SESSION_ORDERS.flatMap((orderBy) => (["asc", "desc"] as const).map((order) => [orderBy, order] as const));

  it.each(CASES.flatMap(([name, filter, where]) => orders.map(([orderBy, order]) => [name, orderBy, order, filter, where] as const)))(
    "%s, %s %s, reads no page beyond its bound and lacks nothing",
    async (_name, orderBy, order, filter, where) => {
      const { pages, found } = await readAll(filter, orderBy, order);

      expect(Math.max(...pages.map(({ read }) => read))).toBeLessThanOrEqual(A_PAGE);
      expect(found).toEqual(await select(where, orderBy, order));
      expect(pages.filter(({ rows }) => rows === 0).length).toBeLessThanOrEqual(SESSIONS / 5_000 + 1);
    },
  );
});

describe("a search by", () => {
  it.each(CASES)("%s reads no more than its bound", async (_name, filter) => {
    const { DB, take } = createCounting(env.DB);
    const asked = { tenant: TENANT, query: "blue", filter: { ...ALL_SESSIONS, ...filter }, limit: 10, after: null };
    const page = await createSessionSearch({ DB }).searchSessions(asked);

    expect(page.ok).toBe(true);
    expect(take()).toBeLessThanOrEqual(3 * A_PAGE);
  });
});
