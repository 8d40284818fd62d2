/** A build with another state version folds the whole log of a session, however long: with little memory, and not from the start each time. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { createNodeSql, type NodeSql } from "../../scripts/support/node-sql";
import { fold } from "../../src/domain/evolve";
import type { SessionState } from "../../src/domain/state";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import { stateAt, viewWhenNewest } from "../../src/session/log/checkpoints";
import { eventsAfter } from "../../src/session/log/event-log";
import { createSessionPast } from "../../src/session/log/session-past";
import { loadPart, loadState } from "../../src/session/log/snapshots";
import type { Sql } from "../../src/session/log/sql";
import { SessionStore } from "../../src/session/log/store";
import { toViewBefore } from "../../src/session/log/views-before";
import { id, settings } from "../support/builders";
import { sized } from "../support/effort";
import { append, createStore } from "../support/event-log-contract";
import { CALLER, Life } from "./life";
import { writeLongLog } from "./long-log";

const HOOK = join(import.meta.dirname, "../../scripts/support/typescript-imports.mjs");
/** A quarter of what an object has. Read as one array, the log of the smaller size does not fit. */
const HEAP_MB = 32;

test("a log that is read as one array would not fit into the memory of the object that folds it", async () => {
  const events = sized({ whole: 200_000, small: 50_000 });
  const program = [`--max-old-space-size=${HEAP_MB}`, "--import", HOOK, join(import.meta.dirname, "wake-long-log.ts"), `${events}`];

  const { stdout } = await promisify(execFile)(process.execPath, program);

  const told: { readonly events: number; readonly isRight: boolean } = JSON.parse(stdout);
  expect(told.events).toBeGreaterThanOrEqual(events);
  expect(told.isRight).toBe(true);
});

/** The events that are read, the most that one statement reads, and the statements that write. */
function counting(inner: Sql) {
  const counted = { read: 0, most: 0, units: 0, written: 0 };
  const all = <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => {
    const rows = inner.all<Row>(query, ...params);
    if (/^\s*(INSERT|UPDATE|DELETE)/.test(query)) counted.written += 1;
    if (/^SELECT seq, at/.test(query)) {
      counted.read += rows.length;
      counted.most = Math.max(counted.most, rows.length);
      counted.units = Math.max(
        counted.units,
        rows.reduce((sum, row) => sum + String(row.data).length, 0),
      );
    }
    return rows;
  };
  return { sql: { ...inner, all } satisfies Sql, counted };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("a log of 45,000 events without a snapshot", () => {
  let base: NodeSql;
  let written: SessionState;
  beforeAll(() => {
    base = createNodeSql();
    written = writeLongLog(base, 45_000);
  }, 60_000);
  /** The object after a deployment: what the build before kept has another version. */
  const deployed = (inner: Sql = base) => {
    base.all("UPDATE snapshots SET version = -1");
    base.all("UPDATE checkpoints SET version = -1");
    return counting(inner);
  };

  test("is read once, in pages, and kept at once: the next wake folds nothing", () => {
    const { sql, counted } = deployed();

    expect(plain(loadState(sql).state)).toEqual(plain(written));
    expect(counted.read).toBe(written.seq);
    expect(counted.most).toBeLessThanOrEqual(500);

    counted.read = 0;
    expect(plain(loadState(sql).state)).toEqual(plain(written));
    expect(counted.read).toBe(0);
  });

  test("is folded on from where a wake was cut off", () => {
    const { sql, counted } = deployed();
    const reads: number[] = [];
    for (let loaded = null; loaded === null; reads.push(counted.read)) {
      counted.read = 0;
      // Each part is the work of another life.
      loaded = loadPart(sql);
    }

    expect(reads).toHaveLength(3);
    for (const read of reads) expect(read).toBeLessThan(21_000);
    expect(plain(loadState(sql).state)).toEqual(plain(written));
  });

  test("is folded by the object before its first call, and each part is durable before the next", async () => {
    const { sql, counted } = deployed();
    const durable: number[] = [];
    const sync = async (): Promise<void> => {
      durable.push(sql.all<{ seq: number }>("SELECT seq FROM snapshots")[0]?.seq ?? 0);
    };
    const store = new SessionStore({ ...sql, sync }, { onAppend: () => {}, onCommit: () => {} });

    await store.load();

    expect(durable).toEqual([20_000, 40_000]);
    counted.read = 0;
    expect(plain(store.state)).toEqual(plain(written));
    expect(counted.read).toBe(0);
  });

  test("leaves states along it: a past state, a view and a compaction's view before need a short fold", () => {
    const { sql, counted } = deployed();
    loadState(sql);
    const events = [...eventsAfter(sql, 0)];
    const shortly = <T>(read: () => T): T => {
      counted.read = 0;
      const value = read();
      expect(counted.read).toBeLessThanOrEqual(1_000);
      return value;
    };
    // Its view is not among the newest, which are kept.
    const early = id("cmp", 3);
    const changed = events.findIndex((event) => event.type === "EpochChanged" && event.compaction === early);

    expect(plain(shortly(() => stateAt(sql, 30_123)))).toEqual(plain(fold(events.slice(0, 30_123))));
    expect(shortly(() => viewWhenNewest(sql, 20_000)).to).toBe(20_000);
    expect(shortly(() => createSessionPast(sql, written).viewBefore(early))).toEqual(toViewBefore(fold(events.slice(0, changed))));
  });

  test("leaves them also when a past state is asked for first", () => {
    const { sql, counted } = deployed();
    stateAt(sql, 10_000);
    counted.read = 0;
    stateAt(sql, 9_999);
    expect(counted.read).toBeLessThanOrEqual(500);
  });

  test.each([
    ["that says so", { isFull: () => true }],
    [
      "at the first write",
      {
        transaction: () => {
          throw new Error("database or disk is full: SQLITE_FULL");
        },
      },
    ],
  ])("can be read on a full disk %s, although nothing can be kept", async (_, full) => {
    const { sql, counted } = deployed({ ...base, ...full });
    const store = new SessionStore(sql, { onAppend: () => {}, onCommit: () => {} });

    await store.load();

    expect(plain(store.state)).toEqual(plain(written));
    expect(counted.written).toBe(0);
  });

  test("answers its first call when it could not be loaded before, and reports what was wrong", async () => {
    const { sql } = deployed();
    let isBroken = true;
    const all: Sql["all"] = (query, ...params) => {
      if (isBroken && query.includes("FROM snapshots")) throw new Error("disk I/O error: SQLITE_IOERR");
      return sql.all(query, ...params);
    };
    const life = new Life({ ...sql, all });

    await life.runtime.load();
    await expect(life.service.events(CALLER, { after: null, limit: 1, order: "asc" })).rejects.toThrow("SQLITE_IOERR");
    isBroken = false;

    expect(await life.service.events(CALLER, { after: null, limit: 1, order: "asc" })).toMatchObject({ ok: true });
  });
});

test("of large events few are in memory at once, and a snapshot of the last version is written", () => {
  const { sql, counted } = counting(createNodeSql());
  const store = createStore(sql);
  const UNITS = 400_000;
  const open = { type: "OpenSession", at: 1, tenant: CALLER.tenant, session: CALLER.session, settings: settings() } as const;
  store.execute(open);
  for (let n = 1; n <= 30; n++) store.execute({ type: "ChangeSettings", at: n, changes: { model: `${n}`.padEnd(UNITS, "x") } });
  store.execute(append(1));
  sql.all("DELETE FROM snapshots");
  Object.assign(counted, { read: 0, most: 0, units: 0 });

  expect(plain(loadState(sql).state)).toEqual(plain(store.state));
  expect(counted.read).toBe(32);
  expect(counted.units).toBeLessThan(1_000_000 + UNITS);
});
