/** A list by what no index knows ends behind so many sessions, and says that more may follow. `test/workers` counts the rows that it reads. */
import { expect, it } from "vitest";
import { createSessionList } from "../../src/read-model/queries";
import { SimD1 } from "../simulation/sim-d1";
import { ALL_SESSIONS, TENANT } from "./builders";

const SESSIONS = 11_000;

it("names none of the first 5,000 sessions where none is selected, and finds the one behind them", async () => {
  const DB = new SimD1().direct;
  const numbers = `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${SESSIONS})`;
  const id = "printf('ses_01K%023d', n)";
  const entry = (number: number, name: string, value: string) =>
    `INSERT INTO session_metadata (tenant_id, session_id, number, name, value, last_seq)
     ${numbers} SELECT '${TENANT}', ${id}, ${number}, '${name}', ${value}, 1 FROM r`;
  for (const sql of [
    `INSERT INTO sessions (tenant_id, id, model, policy, created_at, updated_at, last_seq) ${numbers} SELECT '${TENANT}', ${id}, 'm', 'p', n, n, 1 FROM r`,
    entry(0, "shop", "iif(n = 1 OR n % 2 = 0, 'north', 'south')"),
    entry(1, "plan", "iif(n = 1 OR n % 2 = 1, 'pro', 'free')"),
  ])
    await DB.prepare(sql).run();

  const filter = { ...ALL_SESSIONS, metadata: { shop: "north", plan: "pro" } };
  const pages: (readonly [rows: number, hasMore: boolean])[] = [];
  for (let after: string | null = null; pages.length === 0 || after !== null; ) {
    const page = await createSessionList({ DB }).listSessions({
      tenant: TENANT,
      filter,
      orderBy: "updated_at",
      order: "desc",
      limit: 20,
      after,
    });
    if (!page.ok) throw new Error(page.error.code);
    pages.push([page.value.data.length, page.value.has_more]);
    after = page.value.next_cursor;
  }

  expect(pages).toEqual([
    [0, true],
    [0, true],
    [1, false],
  ]);
});
