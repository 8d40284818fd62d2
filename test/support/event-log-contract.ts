/**
 * The contract of every database under a session: the log and its guards, steps, snapshots and bodies. It runs over
 * Node's SQLite and over a Durable Object's own.
 */
import { describe, expect, test } from "vitest";
import type { Command } from "../../src/domain/commands";
import { UnknownEventError } from "../../src/domain/event-versions";
import type { Event } from "../../src/domain/events";
import { fold } from "../../src/domain/evolve";
import { initialState, STATE_VERSION } from "../../src/domain/state";
import { UnknownSchemaError } from "../../src/lib/schema-steps";
import { readBodies } from "../../src/session/log/bodies";
import { CHECKPOINT_EVERY_EVENTS } from "../../src/session/log/checkpoints";
import { appendEvents, readEvents, readEventsBackwards } from "../../src/session/log/event-log";
import { createOutcomes } from "../../src/session/log/idempotency";
import { hasSchema, migrateSession, readMeta, SESSION_STEPS, writeMeta } from "../../src/session/log/log-schema";
import { readItems } from "../../src/session/log/log-tables";
import { loadState, SNAPSHOT_EVERY_EVENTS, writeSnapshot } from "../../src/session/log/snapshots";
import type { Sql } from "../../src/session/log/sql";
import { SessionStore } from "../../src/session/log/store";
import { draft, itemId, SESSION, settings, TENANT, turnId } from "./builders";

/** Provides an empty database for the duration of `work`. */
export type WithSql = (work: (sql: Sql) => void | Promise<void>) => Promise<void>;

const open: Command = { type: "OpenSession", at: 1, tenant: TENANT, session: SESSION, settings: settings() };

/** A message that is only appended. */
export const append = (n: number): Command => ({
  type: "SubmitMessage",
  at: 10 + n,
  message: { item: draft(n), turn: null, rest: [], tools: null },
  onBusy: "queue",
  incarnation: "life-1",
  queueLimit: 32,
  partial: null,
  call: null,
});
const ask = (n: number): Command =>
  ({ ...append(n), message: { item: draft(n, { turn: turnId(n) }), turn: turnId(n), rest: [], tools: null } }) as Command;
const body = (n: number, text = `text ${n}`) => ({ id: itemId(n), text });

/** A store whose session needs no jobs. */
export const createStore = (sql: Sql): SessionStore => new SessionStore(sql, { onAppend: () => {}, onCommit: () => {} });

function opened(sql: Sql): SessionStore {
  const store = createStore(sql);
  store.execute(open);
  return store;
}

const ALL = Number.MAX_SAFE_INTEGER;
const wholeLog = (sql: Sql) => readEvents(sql, 0, ALL);
const TABLES = ["events", "bodies", "items", "turns", "compactions", "snapshots", "jobs", "idempotency"];
const dump = (sql: Sql) => TABLES.map((table) => sql.all(`SELECT * FROM ${table}`).map((row) => JSON.stringify(row)));

export function eventLogContract(withSql: WithSql): void {
  describe("the log", () => logRules(withSql));
  describe("the guards of the log", () => guardRules(withSql));
  describe("a step", () => stepRules(withSql));
  describe("the tables", () => schemaRules(withSql));
  describe("snapshots", () => snapshotRules(withSql));
  describe("bodies", () => bodyRules(withSql));
}

function logRules(withSql: WithSql): void {
  test("a look-up of a session that was never opened leaves no table behind", () =>
    withSql((sql) => {
      expect(loadState(sql).state).toEqual(initialState);
      expect(hasSchema(sql)).toBe(false);
    }));

  test("events come back as they were appended, in order, from 1 without gaps", () =>
    withSql((sql) => {
      const store = opened(sql);
      const appended = [1, 2, 3].flatMap((n) => {
        const executed = store.execute(append(n), [body(n)]);
        return executed.ok ? executed.value : [];
      });

      const read = wholeLog(sql);

      expect(read.map((event) => event.seq)).toEqual([1, 2, 3, 4]);
      expect(read.slice(1)).toEqual(appended);
    }));

  test("a page starts after the seq it is asked for, forwards and backwards", () =>
    withSql((sql) => {
      const store = opened(sql);
      for (const n of [1, 2, 3, 4]) store.execute(append(n), [body(n)]);

      expect(readEvents(sql, 2, 2).map((event) => event.seq)).toEqual([3, 4]);
      expect(readEventsBackwards(sql, 4, 2).map((event) => event.seq)).toEqual([3, 2]);
    }));

  test("an event of a type that this build does not know refuses the session, and is never skipped", () =>
    withSql((sql) => {
      opened(sql);
      sql.all("INSERT INTO events (seq, at, type, version, data) VALUES (2, 2, 'FromTheFuture', 1, '{}')");

      expect(() => loadState(sql)).toThrow(UnknownEventError);
      expect(() => createStore(sql).execute(append(1), [body(1)])).toThrow(UnknownEventError);
      expect(sql.all("SELECT seq FROM events")).toHaveLength(2);
    }));

  test("an event of a newer version refuses the session", () =>
    withSql((sql) => {
      opened(sql);
      sql.all("INSERT INTO events (seq, at, type, version, data) VALUES (2, 2, 'SessionErased', 99, '{}')");
      expect(() => loadState(sql)).toThrow(UnknownEventError);
    }));
}

function guardRules(withSql: WithSql): void {
  const columns = "(seq, at, type, version, data)";
  test.each([
    ["UPDATE", "UPDATE events SET data = '{}' WHERE seq = 1"],
    ["DELETE", "DELETE FROM events WHERE seq = 1"],
    ["INSERT OR REPLACE over an event", `INSERT OR REPLACE INTO events ${columns} VALUES (1, 1, 'SessionErased', 1, '{}')`],
    [
      "an upsert over an event",
      `INSERT INTO events ${columns} VALUES (1, 1, 'SessionErased', 1, '{}') ON CONFLICT (seq) DO UPDATE SET data = '{}'`,
    ],
    ["an INSERT that leaves a gap", `INSERT INTO events ${columns} VALUES (3, 1, 'SessionErased', 1, '{}')`],
    ["an INSERT without a place", `INSERT INTO events (at, type, version, data) VALUES (1, 'SessionErased', 1, '{}')`],
  ])("%s is refused and changes nothing", (_, statement) =>
    withSql((sql) => {
      opened(sql);
      const before = dump(sql);

      expect(() => sql.all(statement)).toThrow(/append-only/);

      expect(dump(sql)).toEqual(before);
    }),
  );

  test("appending at a place that is taken is refused", () =>
    withSql((sql) => {
      opened(sql);
      const erased: Event = { type: "SessionErased" };
      expect(() => appendEvents(sql, [erased], { seq: 0, at: 5 })).toThrow(/append-only/);
    }));
}

function stepRules(withSql: WithSql): void {
  test("that is rejected leaves the state and every table as they were", () =>
    withSql((sql) => {
      const store = opened(sql);
      store.execute(ask(1), [body(1)]);
      const before = { state: store.state, tables: dump(sql) };

      const refused = store.execute({ ...ask(2), onBusy: "reject" } as Command, [body(2)]);

      expect(refused).toMatchObject({ ok: false, error: { code: "turn_running" } });
      expect({ state: store.state, tables: dump(sql) }).toEqual(before);
    }));

  test("that throws undoes everything it did, in the state and in every table", () =>
    withSql((sql) => {
      const store = opened(sql);
      const before = { state: store.state, tables: dump(sql) };
      const failing = () =>
        store.transact((step) => {
          step.execute(append(1), [body(1)]);
          createOutcomes(sql).keep({ key: "k", digest: "d" }, { outcome: "done", expires_at: 2, now: 1 });
          throw new Error("a defect");
        });

      expect(failing).toThrow("a defect");

      expect({ state: store.state, tables: dump(sql) }).toEqual(before);
      expect(store.execute(append(2), [body(2)])).toMatchObject({ ok: true });
      expect(store.state.seq).toBe(2);
    }));

  test("whose first one throws leaves no table, and the next one starts over", () =>
    withSql((sql) => {
      const store = createStore(sql);
      const failing = () =>
        store.transact((step) => {
          step.execute(open);
          throw new Error("a defect");
        });

      expect(failing).toThrow("a defect");

      expect(hasSchema(sql)).toBe(false);
      expect(store.execute(open)).toMatchObject({ ok: true });
      expect(wholeLog(sql)).toHaveLength(1);
    }));

  test("sees what the command before it in the same transaction did", () =>
    withSql((sql) => {
      const store = opened(sql);
      const seqs = store.transact((step) => {
        step.execute(append(1), [body(1)]);
        const inside = step.state.seq;
        step.execute(append(2), [body(2)]);
        return [inside, step.state.seq];
      });
      expect(seqs).toEqual([2, 3]);
      expect(readItems(sql, { from: 1, to: 9, limit: 9, order: "asc" }).map((item) => item.id)).toEqual([itemId(1), itemId(2)]);
    }));
}

/** What a made-up second version of the tables changes: a column with a value for the rows that are there, which it counts. */
const SECOND = `
  ALTER TABLE bodies ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
  UPDATE bodies SET words = 1 + length(text) - length(replace(text, ' ', ''));
`;

function schemaRules(withSql: WithSql): void {
  test("of a session that a first version filled are changed by a second step, once, and the log stays", () =>
    withSql((sql) => {
      opened(sql).execute(append(1), [body(1, "my name is Ada")]);
      const before = wholeLog(sql);

      migrateSession(sql, [...SESSION_STEPS, SECOND]);
      migrateSession(sql, [...SESSION_STEPS, SECOND]);

      expect(sql.all("SELECT text, words FROM bodies")).toEqual([{ text: "my name is Ada", words: 4 }]);
      expect(readMeta(sql, "schema_version")).toBe(String(SESSION_STEPS.length + 1));
      expect(wholeLog(sql)).toEqual(before);
    }));

  test("are as the first version left them after a second step that fails", () =>
    withSql((sql) => {
      opened(sql).execute(append(1), [body(1)]);
      const before = dump(sql);

      expect(() => migrateSession(sql, [...SESSION_STEPS, `${SECOND} UPDATE nothing SET x = 1;`])).toThrow();

      expect(dump(sql)).toEqual(before);
      expect(createStore(sql).state.messages).toBe(1);
    }));

  test("of a build with more steps refuse the session", () =>
    withSql((sql) => {
      opened(sql).execute(append(1), [body(1)]);
      writeMeta(sql, "schema_version", String(SESSION_STEPS.length + 1));
      const before = dump(sql);

      expect(() => createStore(sql).state).toThrow(UnknownSchemaError);
      expect(() => createStore(sql).execute(append(2), [body(2)])).toThrow(UnknownSchemaError);
      expect(dump(sql)).toEqual(before);
    }));
}

function snapshotRules(withSql: WithSql): void {
  test("a state loaded from a snapshot equals the fold of the whole log", () =>
    withSql((sql) => {
      const store = opened(sql);
      for (let n = 1; n <= SNAPSHOT_EVERY_EVENTS + 20; n++) store.execute(append(n), [body(n)]);

      const loaded = loadState(sql).state;

      expect(sql.all("SELECT DISTINCT seq FROM snapshots")).toEqual([{ seq: SNAPSHOT_EVERY_EVENTS }]);
      expect(loaded).toEqual(fold(wholeLog(sql)));
      expect(loaded).toEqual(store.state);
    }));

  test("a snapshot of another state version is ignored", () =>
    withSql((sql) => {
      const store = opened(sql);
      store.execute(append(1), [body(1)]);
      writeSnapshot(sql, { ...store.state, messages: 999 });
      expect(loadState(sql).state.messages).toBe(999);

      sql.all("UPDATE snapshots SET version = version + 1");

      expect(loadState(sql).state).toEqual(fold(wholeLog(sql)));
    }));

  test("a log that another state version folded is kept as soon as it is folded, with its checkpoints", () =>
    withSql((sql) => {
      const store = opened(sql);
      for (let n = 1; n <= SNAPSHOT_EVERY_EVENTS + 20; n++) store.execute(append(n), [body(n)]);
      sql.all("UPDATE snapshots SET version = -1");
      sql.all("UPDATE checkpoints SET version = -1");

      expect(loadState(sql).state).toEqual(store.state);

      expect(sql.all("SELECT version, seq FROM snapshots")).toEqual([{ version: STATE_VERSION, seq: store.state.seq }]);
      expect(sql.all("SELECT version, seq FROM checkpoints ORDER BY seq")).toEqual([
        { version: STATE_VERSION, seq: CHECKPOINT_EVERY_EVENTS },
        { version: STATE_VERSION, seq: CHECKPOINT_EVERY_EVENTS * 2 },
      ]);
    }));
}

/** The last character of the first row and the first of the second form one character of two UTF-16 units. */
const SPLIT_AT = 500_000;

function bodyRules(withSql: WithSql): void {
  test.each([
    ["the empty text", ""],
    ["a text of more than 2 MB", "0123456789abcdef".repeat(160_000)],
    ["three bytes a character", "漢".repeat(1_200_000)],
    ["a pair on the boundary between rows", `${"x".repeat(SPLIT_AT - 1)}😀${"y".repeat(SPLIT_AT)}😀`],
    ["nothing but pairs", "😀".repeat(SPLIT_AT)],
  ])("%s comes back equal, from rows under 2 MB", (_, text) =>
    withSql((sql) => {
      opened(sql).execute(append(1), [body(1, text)]);

      expect(readBodies(sql, [itemId(1)]).get(itemId(1)) === text).toBe(true);
      const [widest] = sql.all<{ bytes: number }>("SELECT max(length(CAST(text AS BLOB))) AS bytes FROM bodies");
      expect(widest?.bytes).toBeLessThan(2_000_000);
    }),
  );

  test("more ids than a statement has parameters are read in one call, and unknown ones are left out", () =>
    withSql((sql) => {
      const store = opened(sql);
      for (let n = 1; n <= 205; n++) store.execute(append(n), [body(n)]);
      const ids = Array.from({ length: 206 }, (_, index) => itemId(index + 1));

      const found = readBodies(sql, ids);

      expect(found.size).toBe(205);
      expect(found.get(itemId(205))).toBe("text 205");
      expect(found.has(itemId(206))).toBe(false);
    }));
}
