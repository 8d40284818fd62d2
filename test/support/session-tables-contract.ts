/** What must hold of a session's jobs and remembered keys over any database: see `event-log-contract`. */
import { describe, expect, test } from "vitest";
import { IDEMPOTENCY_TTL_MS } from "../../src/app/idempotency";
import { recall, remember } from "../../src/session/log/idempotency";
import { createJobs } from "../../src/session/log/jobs";
import { migrate } from "../../src/session/log/log-schema";
import { id } from "./builders";
import type { WithSql } from "./event-log-contract";

export function sessionTablesContract(withSql: WithSql): void {
  describe("jobs", () => jobRules(withSql));
  describe("idempotency", () => idempotencyRules(withSql));
}

function jobRules(withSql: WithSql): void {
  test("what is due comes earliest first, and the alarm follows the earliest", () =>
    withSql((sql) => {
      migrate(sql);
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
      migrate(sql);
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

const ACCEPTED = { message_id: id("msg", 1), turn_id: null, position: 1, queued: false, replayed: false, cursor: 0 } as const;

function idempotencyRules(withSql: WithSql): void {
  const asked = { key: "k", digest: "d" };
  test("the same key and body get the first outcome for 24 hours, and no longer", () =>
    withSql((sql) => {
      migrate(sql);
      remember(sql, asked, { accepted: ACCEPTED, now: 1_000 });

      expect(recall(sql, asked, 1_000 + IDEMPOTENCY_TTL_MS - 1)).toEqual({ kind: "seen", accepted: { ...ACCEPTED, replayed: true } });
      expect(recall(sql, asked, 1_000 + IDEMPOTENCY_TTL_MS)).toEqual({ kind: "new" });
    }));

  test("the same key with another body is a conflict", () =>
    withSql((sql) => {
      migrate(sql);
      remember(sql, asked, { accepted: ACCEPTED, now: 1_000 });
      expect(recall(sql, { key: "k", digest: "other" }, 2_000)).toEqual({ kind: "conflict" });
    }));

  test("a key that expired can be remembered anew", () =>
    withSql((sql) => {
      migrate(sql);
      remember(sql, asked, { accepted: ACCEPTED, now: 1_000 });
      const later = 1_000 + IDEMPOTENCY_TTL_MS;
      remember(sql, { key: "k", digest: "other" }, { accepted: { ...ACCEPTED, position: 7 }, now: later });
      expect(recall(sql, { key: "k", digest: "other" }, later)).toMatchObject({ kind: "seen", accepted: { position: 7 } });
    }));

  test("so it can behind more expired keys than one new key takes along", () =>
    withSql((sql) => {
      migrate(sql);
      const keys = Array.from({ length: 30 }, (_, n) => `k${n}`);
      for (const key of keys) remember(sql, { key, digest: "d" }, { accepted: ACCEPTED, now: 1_000 });
      const later = 1_000 + IDEMPOTENCY_TTL_MS;
      for (const key of keys.toReversed()) {
        remember(sql, { key, digest: "other" }, { accepted: ACCEPTED, now: later });
        expect(recall(sql, { key, digest: "other" }, later)).toMatchObject({ kind: "seen" });
      }
    }));

  test("without a key nothing is remembered", () =>
    withSql((sql) => {
      migrate(sql);
      remember(sql, null, { accepted: ACCEPTED, now: 1_000 });
      expect(sql.all("SELECT key FROM idempotency")).toEqual([]);
    }));
}
