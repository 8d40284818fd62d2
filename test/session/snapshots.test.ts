/** When the state is stored, so that a wake need not fold earlier events. */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { Command } from "../../src/domain/commands";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import { loadState, SNAPSHOT_EVERY_EVENTS } from "../../src/session/log/snapshots";
import type { Sql } from "../../src/session/log/sql";
import { RECEIPT } from "../read-model/builders";
import { id, SESSION, settings, TENANT } from "../support/builders";
import { append, createStore } from "../support/event-log-contract";
import { CALLER, Life, settle } from "./life";

const snapshots = (life: Life) => life.sql.all("SELECT DISTINCT seq FROM snapshots");

test("a snapshot follows an epoch change at once, and no other event of a short session", async () => {
  const life = new Life();
  await life.open();
  await life.send("hello");
  await life.answer("hi");
  expect(snapshots(life)).toEqual([]);

  const change = { base_epoch: 0, ops: [], receipt: RECEIPT };
  life.runtime.execute({ type: "ChangeEpoch", at: life.time.now(), compaction: id("cmp", 1), trigger: "guard", change });

  expect(life.runtime.state.view.epoch).toBe(1);
  expect(snapshots(life)).toEqual([{ seq: life.runtime.state.seq }]);
});

/** Counts the writes to one table, and the log rows that a wake reads. */
function counting(): { readonly sql: Sql; readonly written: Map<string, number>; read: number } {
  const inner = createNodeSql();
  const written = new Map<string, number>();
  const all = <Row extends SqlRow>(query: string, ...params: SqlValue[]): Row[] => {
    const rows = inner.all<Row>(query, ...params);
    const table = /^INSERT (?:OR REPLACE )?INTO (\w+)/.exec(query)?.[1];
    if (table) written.set(table, (written.get(table) ?? 0) + String(params.at(-1)).length);
    if (query.includes("FROM events")) counted.read += rows.length;
    return rows;
  };
  const counted = { sql: { ...inner, all }, written, read: 0 };
  return counted;
}

const opening = (change: Partial<ReturnType<typeof settings>> = {}): Command =>
  ({ type: "OpenSession", at: 1, tenant: TENANT, session: SESSION, settings: settings(change) }) as const;

function importInto(sql: Sql, messages: number, first = 1, open = opening()): void {
  const store = createStore(sql);
  if (first === 1) store.execute(open);
  for (let n = first; n < first + messages; n++) store.execute(append(n));
}

describe("a long record that is imported", () => {
  test.each([2_000, 8_000])("of %i messages writes of snapshots and checkpoints a tenth of its log together", (messages) => {
    const { sql, written } = counting();
    importInto(sql, messages);

    const log = written.get("events") ?? 0;
    const kept = (written.get("snapshots") ?? 0) + (written.get("checkpoints") ?? 0);

    expect(written.get("snapshots")).toBeGreaterThan(0);
    expect(kept / log).toBeLessThan(0.1);
  });

  test("is woken by folding a bounded number of events, however many lives it had", () => {
    const counted = counting();
    for (let life = 0; life < 12; life++) {
      importInto(counted.sql, 299, life * 299 + 1);
      counted.read = 0;
      const { state } = loadState(counted.sql);
      expect(state.messages).toBe((life + 1) * 299);
      expect(counted.read).toBeLessThanOrEqual(SNAPSHOT_EVERY_EVENTS);
    }
  });

  test("with a large state is kept less often, and a wake folds in proportion to the state", () => {
    const counted = counting();
    const units = 200_000;
    const large = opening({ model: "x".repeat(units) });
    importInto(counted.sql, 6_000, 1, large);

    expect(Math.floor((counted.written.get("snapshots") ?? 0) / units)).toBe(3);
    counted.read = 0;
    expect(loadState(counted.sql).state.messages).toBe(6_000);
    expect(counted.read).toBeLessThanOrEqual(2_100);
  });
});

test("an import looks at the whole view where its state is kept alone", async () => {
  const life = new Life();
  await life.open("balanced");
  let looks = 0;
  const MESSAGES = 600;
  for (let n = 0; n < MESSAGES; n++) {
    const said = { role: "user", parts: [{ type: "text", text: `message ${n}` }], run: false, onBusy: "queue", tools: null } as const;
    await life.service.submit(CALLER, { ...said, idempotency: null });
    const { view } = life.runtime.state;
    const whole = Object.getOwnPropertyDescriptor(view, "items");
    const look = () => {
      looks += 1;
      return whole?.get?.() ?? whole?.value;
    };
    Object.defineProperty(view, "items", { get: look, enumerable: true, configurable: true });
    await settle();
  }

  expect(life.runtime.state.view.items).toHaveLength(MESSAGES);
  expect(looks).toBeLessThan(10);
});
