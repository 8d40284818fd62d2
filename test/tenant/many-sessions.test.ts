/** The erasure of an end user with 10,000 sessions: bounded work in each alarm, and a receipt that says how far it is. */
import { expect, it } from "vitest";
import type { SessionId } from "../../src/domain/ids";
import { createErasures } from "../../src/tenant/erasure/erasures";
import { createDirectory } from "../../src/tenant/shared/directory";
import { ACT } from "../support/act";
import { createMigratedSql } from "./memory-sql";
import { makeId, NOTHING_TO_FORGET } from "./support";

const SESSIONS = 10_000;
/** What one alarm may do (`src/tenant/erasure/erasures.ts`), and how many objects it calls at a time (`src/tenant/erasure/gather-sessions.ts`). */
const AN_ALARM = 200;
const TOGETHER = 10;
const USER = "digest";

it("of an end user with 10,000 sessions calls each once, 200 in an alarm and ten at a time, without a pause", async () => {
  const sql = createMigratedSql();
  const directory = createDirectory(sql);
  const time = { now: 1_000, alarm: null as number | null };
  const called = { running: 0, most: 0, sessions: new Set<SessionId>(), total: 0, hides: 0 };
  const erasures = createErasures({
    sql,
    alarm: { get: async () => time.alarm, set: (at) => void Object.assign(time, { alarm: at }) },
    erase: async (session) => {
      called.running += 1;
      called.most = Math.max(called.most, called.running);
      called.total += 1;
      called.sessions.add(session);
      await Promise.resolve();
      called.running -= 1;
      return true;
    },
    readLabels: async () => ({ end_user: null, source: null }),
    hide: async (sessions) => {
      called.hides += 1;
      expect(sessions.length).toBeLessThanOrEqual(AN_ALARM);
    },
    sweep: async () => true,
    ...NOTHING_TO_FORGET,
    newErasureId: () => makeId("era", 1),
    now: () => time.now,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  sql.transaction(() => {
    for (let n = 1; n <= SESSIONS; n++) directory.register({ session: makeId("ses", n), idempotency: null, end_user: USER, at: 1 });
    directory.register({ session: makeId("ses", SESSIONS + 1), idempotency: null, end_user: "another", at: 1 });
  });

  const id = sql.transaction(() => erasures.beginEndUser(USER, ACT));
  await erasures.resume();
  let alarms = 0;
  while (time.alarm !== null) {
    // Each is due at once: nothing waits for a clock.
    expect(time.alarm).toBeLessThanOrEqual(time.now);
    time.alarm = null;
    const so_far = called.total;
    await erasures.run();
    alarms += 1;
    // The last alarm finds that there are no more.
    expect(called.total - so_far).toBe(so_far < SESSIONS ? AN_ALARM : 0);
    const { sessions, pending } = erasures.receipts.find(id) ?? {};
    expect(sessions).toEqual({ total: called.total, done: called.total });
    expect(pending).toMatchObject({ session: 0 });
  }

  expect([alarms, called.hides, called.total, called.sessions.size]).toEqual([51, 50, SESSIONS, SESSIONS]);
  expect(called.most).toBe(TOGETHER);
  expect(erasures.receipts.find(id)).toMatchObject({ done_at: time.now, gathered: true });
  expect(directory.list({ after: null, limit: 5 }).data).toHaveLength(1);
});
