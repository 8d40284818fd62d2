/** The contract of a session's jobs and idempotency keys over any database: see `event-log-contract`. */
import { describe, expect, test, vi } from "vitest";
import { IDEMPOTENCY_TTL_MS, type KeptAttempt, runAttempt, runOnce } from "../../src/app/idempotency";
import type { Idempotency } from "../../src/app/session-api";
import { err, ok } from "../../src/lib/result";
import { createOutcomes, forgetOutcome } from "../../src/session/log/idempotency";
import { createJobs } from "../../src/session/log/jobs";
import { migrateSession } from "../../src/session/log/log-schema";
import type { Sql } from "../../src/session/log/sql";
import type { WithSql } from "./event-log-contract";

export function sessionTablesContract(withSql: WithSql): void {
  describe("jobs", () => jobRules(withSql));
  describe("idempotency", () => idempotencyRules(withSql));
  describe("attempts of one request", () => attemptRules(withSql));
}

function jobRules(withSql: WithSql): void {
  test("what is due comes earliest first, and the alarm follows the earliest", () =>
    withSql((sql) => {
      migrateSession(sql);
      const jobs = createJobs(sql);
      expect(jobs.nextDue()).toBeNull();
      jobs.arm("project", 300);
      jobs.arm("recover_turn", 100, 2);
      jobs.arm("expire_tools", 900);

      expect(jobs.nextDue()).toBe(100);
      expect(jobs.due(300).map((job) => job.kind)).toEqual(["recover_turn", "project"]);
      expect(jobs.get("recover_turn")).toEqual({ kind: "recover_turn", due_at: 100, attempts: 2 });
    }));

  test("arming again moves a job; arming if idle only ever moves it forward, and keeps its attempts", () =>
    withSql((sql) => {
      migrateSession(sql);
      const jobs = createJobs(sql);
      jobs.arm("project", 300, 4);
      jobs.armIfIdle("project", 500);
      expect(jobs.get("project")).toMatchObject({ due_at: 300, attempts: 4 });
      jobs.armIfIdle("project", 200);
      expect(jobs.get("project")).toMatchObject({ due_at: 200, attempts: 4 });
      jobs.arm("project", 800);
      expect(jobs.get("project")).toMatchObject({ due_at: 800, attempts: 0 });
      jobs.disarm("project");
      expect(jobs.nextDue()).toBeNull();
    }));
}

function idempotencyRules(withSql: WithSql): void {
  test("the same key and body get the first outcome for 24 hours, and no longer", () =>
    withSql((sql) => {
      migrateSession(sql);
      expect(doOnce(sql, { key: "k", digest: "d" }, { outcome: 1, now: 1_000 })).toEqual(ok({ outcome: 1, replayed: false }));

      const lastMoment = 1_000 + IDEMPOTENCY_TTL_MS - 1;
      expect(doOnce(sql, { key: "k", digest: "d" }, { outcome: 2, now: lastMoment })).toEqual(ok({ outcome: 1, replayed: true }));
      expect(doOnce(sql, { key: "k", digest: "d" }, { outcome: 3, now: lastMoment + 1 })).toEqual(ok({ outcome: 3, replayed: false }));
    }));

  test("the same key with another body is a conflict, and nothing is done", () =>
    withSql((sql) => {
      migrateSession(sql);
      doOnce(sql, { key: "k", digest: "d" }, { outcome: 1, now: 1_000 });
      const work = vi.fn(() => ok(2));

      expect(runOnce(createOutcomes<number>(sql), { idempotency: { key: "k", digest: "other" }, now: 2_000 }, work)).toEqual(
        err({ code: "idempotency_conflict" }),
      );
      expect(work).not.toHaveBeenCalled();
    }));

  test("work that is refused keeps no key", () =>
    withSql((sql) => {
      migrateSession(sql);
      const idempotency = { key: "k", digest: "d" };
      runOnce(createOutcomes<number>(sql), { idempotency, now: 1_000 }, () => err({ code: "no" }));
      expect(doOnce(sql, idempotency, { outcome: 1, now: 2_000 })).toEqual(ok({ outcome: 1, replayed: false }));
    }));

  test("a key that expired can be kept anew, also behind more expired keys than one new key takes along", () =>
    withSql((sql) => {
      migrateSession(sql);
      const keys = Array.from({ length: 30 }, (_, n) => `k${n}`);
      for (const key of keys) doOnce(sql, { key, digest: "d" }, { outcome: 1, now: 1_000 });
      const now = 1_000 + IDEMPOTENCY_TTL_MS;
      for (const key of keys.toReversed()) {
        expect(doOnce(sql, { key, digest: "other" }, { outcome: 7, now })).toEqual(ok({ outcome: 7, replayed: false }));
        expect(doOnce(sql, { key, digest: "other" }, { outcome: 8, now })).toEqual(ok({ outcome: 7, replayed: true }));
      }
    }));

  test("without a key nothing is kept", () =>
    withSql((sql) => {
      migrateSession(sql);
      doOnce(sql, null, { outcome: 1, now: 1_000 });
      expect(sql.all("SELECT key FROM idempotency")).toEqual([]);
    }));
}

const doOnce = (sql: Sql, idempotency: Idempotency | null, { outcome, now }: { readonly outcome: number; readonly now: number }) =>
  runOnce<number, never>(createOutcomes(sql), { idempotency, now }, () => ok(outcome));

const MINUTE = 60_000;

interface Tried {
  readonly id: string;
  readonly tries?: number;
  readonly arrived?: number;
  readonly now: number;
  /** When the answer to the one before was complete. Null: it is not. */
  readonly end?: number | null;
}

/** Returns the number of the work that the attempt is answered with. */
function attemptWith(sql: Sql): (tried: Tried) => number {
  let made = 0;
  return ({ id, tries = 0, now, arrived = now, end = now }) => {
    const attempt = { id, tries, arrived_at: arrived };
    const asked = { idempotency: { key: "request d", digest: "d", attempt }, attempt, now, readEnd: () => end };
    const done = runAttempt<number, never>(createOutcomes<KeptAttempt<number>>(sql), asked, () => ok(++made));
    return done.ok ? done.value.outcome : 0;
  };
}

function attemptRules(withSql: WithSql): void {
  test("a repetition is answered with the first, and a request with the same words is another one", () =>
    withSql((sql) => {
      migrateSession(sql);
      const attempt = attemptWith(sql);
      expect(attempt({ id: "a", now: 1_000 })).toBe(1);
      expect(attempt({ id: "b", tries: 1, now: 2_000 })).toBe(1);
      expect(attempt({ id: "c", now: 3_000 })).toBe(2);
      expect(attempt({ id: "d", tries: 2, now: 4_000 })).toBe(2);
    }));

  test("the same attempt is done once, however often the call is made", () =>
    withSql((sql) => {
      migrateSession(sql);
      const attempt = attemptWith(sql);
      expect([attempt({ id: "a", now: 1_000 }), attempt({ id: "a", now: 1_000 })]).toEqual([1, 1]);
    }));

  test("a first attempt that its repetition has overtaken is the same request, and one that came later is not", () =>
    withSql((sql) => {
      migrateSession(sql);
      const attempt = attemptWith(sql);
      expect(attempt({ id: "b", tries: 1, now: 2_000 })).toBe(1);
      expect(attempt({ id: "a", arrived: 1_000, now: 3_000 })).toBe(1);
      expect(attempt({ id: "c", arrived: 2_500, now: 3_000 })).toBe(2);
    }));

  test("a repetition is of a request whose answer is under way or was complete minutes ago, for each try", () =>
    withSql((sql) => {
      migrateSession(sql);
      const attempt = attemptWith(sql);
      attempt({ id: "a", now: 0 });
      expect(attempt({ id: "b", tries: 1, now: 600 * MINUTE, end: null })).toBe(1);
      expect(attempt({ id: "c", tries: 1, now: 111 * MINUTE, end: 100 * MINUTE })).toBe(1);
      expect(attempt({ id: "d", tries: 2, now: 122 * MINUTE, end: 100 * MINUTE })).toBe(1);
      expect(attempt({ id: "e", tries: 1, now: 112 * MINUTE, end: 100 * MINUTE })).toBe(2);
    }));

  test("an attempt that was forgotten is not found again", () =>
    withSql((sql) => {
      migrateSession(sql);
      const attempt = attemptWith(sql);
      attempt({ id: "a", now: 1_000 });
      forgetOutcome(sql, "request d");
      expect(attempt({ id: "b", tries: 1, now: 2_000 })).toBe(2);
    }));
}
