/**
 * The lists of a session and of a tenant's directory read as much of their SQLite as they answer, however long the conversation
 * is and however many sessions there are.
 */
import { expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { TurnId } from "../../src/domain/ids";
import type { SyncSql } from "../../src/lib/sync-sql";
import type { Sql } from "../../src/session/log/sql";
import { createFiles } from "../../src/tenant/files/files";
import { createDirectory } from "../../src/tenant/shared/directory";
import { findUnbounded, type PlanRow } from "../support/query-plan";
import { createMigratedSql } from "../tenant/memory-sql";
import { makeId } from "../tenant/support";
import { CALLER, Life } from "./life";

interface Query {
  readonly sql: string;
  readonly params: readonly (string | number | null)[];
}

const isRead = (sql: string): boolean => /^\s*(SELECT|WITH)\b/i.test(sql);

/** A session with some of everything, and the queries that are made from now on. */
async function filledLife(): Promise<{
  readonly life: Life;
  readonly queries: Query[];
  readonly explain: (query: Query) => readonly PlanRow[];
}> {
  const base = createNodeSql();
  const queries: Query[] = [];
  const sql: Sql = {
    ...base,
    all: (text, ...params) => {
      if (isRead(text)) queries.push({ sql: text, params });
      return base.all(text, ...params);
    },
  };
  const life = new Life(sql);
  await life.open();
  await life.send("hello");
  await life.answer("hi");
  queries.length = 0;
  return { life, queries, explain: (query) => base.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${query.sql}`, ...query.params) };
}

/** Tables that do not grow with the messages, and rows of JSON by the names that queries give them. */
const PASSING = ["meta", "jobs", "shown", "kept", "snapshots"];
/** A session has one compaction for many messages, and their table no index by time: a page of them sorts them. */
const FEW = ["compactions"];

const pages = (["asc", "desc"] as const).flatMap((order) => [null, 1].map((after) => ({ after, limit: 20, order })));
type Read = (life: Life) => Promise<unknown>;
const turn = makeId("trn", 1) as TurnId;

const READS: readonly (readonly [name: string, read: Read])[] = [
  ...pages.flatMap((page): (readonly [string, Read])[] => {
    const by = `${page.order} ${page.after === null ? "from the beginning" : "further on"}`;
    return [
      [`messages, ${by}`, ({ service }) => service.items(CALLER, page)],
      [`messages of all branches, ${by}`, ({ service }) => service.items(CALLER, { ...page, branch: "all" })],
      [`events, ${by}`, ({ service }) => service.events(CALLER, page)],
      [`executions, ${by}`, ({ service }) => service.executions(CALLER, page)],
      [`compactions, ${by}`, ({ service }) => service.compactions(CALLER, page)],
      [`the ledger, ${by}`, ({ service }) => service.usage(CALLER, page)],
      [`turns, ${by}`, ({ service }) => service.turns(CALLER, { ...page, after: page.after === null ? null : turn })],
    ];
  }),
  ["a message by the client's id", ({ service }) => service.items(CALLER, { after: null, limit: 5, order: "asc", clientId: "x" })],
  ["a page of the log", ({ service }) => service.exportLog(CALLER, { after: 3, limit: 100 })],
  ["a turn", ({ service }) => service.turn(CALLER, turn)],
];

test.each(READS)("%s", async (_name, read) => {
  const { life, queries, explain } = await filledLife();
  await read(life);
  const sorts = (text: string): boolean => FEW.some((table) => text.includes(`FROM ${table} `));
  const found = queries.flatMap((query) =>
    findUnbounded(explain(query), { passing: [...PASSING, ...FEW], sorts: sorts(query.sql) }).map((detail) => `${detail} in ${query.sql}`),
  );
  expect(found).toEqual([]);
  expect(queries.length).toBeGreaterThan(0);
});

test("a tenant's sessions and files", () => {
  const base = createMigratedSql();
  const queries: Query[] = [];
  const sql: SyncSql = {
    ...base,
    rows: (text, ...params) => {
      if (isRead(text)) queries.push({ sql: text, params });
      return base.rows(text, ...params);
    },
  };
  const directory = createDirectory(sql);
  directory.list({ after: makeId("ses", 5), limit: 20 });
  directory.list({ after: null, limit: 20 });
  directory.findExternalId("x");
  directory.has(makeId("ses", 5));
  createFiles(sql).list({ after: null, limit: 20, order: "desc" });
  const found = queries.flatMap(({ sql: text, params }) =>
    findUnbounded(base.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...params)),
  );
  expect(found).toEqual([]);
  expect(queries.length).toBeGreaterThan(4);
});
