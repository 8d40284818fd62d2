import { describe, expect, it } from "vitest";
import type { SessionId } from "../../src/domain/ids";
import { createDirectory } from "../../src/tenant/directory";
import { createErasures } from "../../src/tenant/erasures";
import { createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

const SESSION = makeId("ses", 1);
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

function world(erase: (session: SessionId) => Promise<boolean> = async () => true) {
  const sql = createMigratedSql();
  const directory = createDirectory(sql);
  const time = { now: 1_000, alarm: null as number | null };
  const alarm = {
    get: async () => time.alarm,
    set: (at: number): void => {
      time.alarm = at;
    },
  };
  const erasures = createErasures({ sql, alarm, erase, now: () => time.now, log: SILENT });
  directory.register({ session: SESSION, idempotency: { key: "k", digest: "d" }, at: 1_000 });
  const listed = () => directory.list({ after: null, limit: 10 }).data.map(({ id }) => id);
  const ring = async () => {
    time.now = time.alarm ?? time.now;
    time.alarm = null;
    await erasures.run();
  };
  return { sql, directory, erasures, time, listed, ring };
}

describe("an erasure", () => {
  it("is noted of a session that the directory knows, and of no other unless the caller knows it", () => {
    const { erasures } = world();

    expect(erasures.begin({ session: SESSION, isKnown: false })).toBe(true);
    expect(erasures.begin({ session: makeId("ses", 2), isKnown: false })).toBe(false);
    expect(erasures.begin({ session: makeId("ses", 2), isKnown: true })).toBe(true);
    expect(erasures.begin({ session: makeId("ses", 2), isKnown: false })).toBe(true);
  });

  it("frees the session's external id at once: another session can have it while a store has yet to report", () => {
    const { directory, erasures, listed } = world();
    const named = { session: makeId("ses", 2), idempotency: null, external_id: "x", at: 1 };
    directory.register(named);

    erasures.begin({ session: named.session, isKnown: false });

    expect(directory.findExternalId("x")).toBeNull();
    expect(directory.register({ ...named, session: makeId("ses", 3) }).ok).toBe(true);
    erasures.end(named.session);
    expect(directory.findExternalId("x")).toBe(makeId("ses", 3));
    expect(listed()).toEqual([makeId("ses", 3), SESSION]);
  });

  it("that its session's object began is noted once, and neither twice nor of a session that is gone", () => {
    const { sql, erasures, time } = world();
    const readNotes = () => sql.rows("SELECT session, due_at FROM erasures");

    erasures.noteBegun(SESSION);
    const noted = readNotes();
    expect(noted).toEqual([{ session: SESSION, due_at: time.alarm }]);
    // The alarm repeats the erasure, and its object hands over again: the alarm's own time stays.
    time.alarm = null;
    erasures.noteBegun(SESSION);
    expect([readNotes(), time.alarm]).toEqual([noted, null]);

    erasures.end(SESSION);
    erasures.noteBegun(SESSION);
    expect([readNotes(), time.alarm]).toEqual([[], null]);
  });

  it("keeps the session in the directory until it is ended", () => {
    const { erasures, listed } = world();
    erasures.begin({ session: SESSION, isKnown: false });
    expect(listed()).toEqual([SESSION]);

    erasures.end(SESSION);

    expect(listed()).toEqual([]);
    expect(erasures.nextDue()).toBeNull();
  });

  it("that was cut off is asked for by the alarm, again and later each time, until every store has reported", async () => {
    const answers = [false, new Error("reset"), true];
    const asked: number[] = [];
    const { erasures, listed, time, ring } = world(async () => {
      asked.push(time.now);
      const answer = answers.shift() ?? true;
      if (answer instanceof Error) throw answer;
      return answer;
    });
    erasures.begin({ session: SESSION, isKnown: false });
    for (let times = 0; times < 3; times++) await ring();

    const [first = 0, second = 0, third = 0] = asked;
    expect(asked).toHaveLength(3);
    expect(third - second).toBeGreaterThan(second - first);
    expect(listed()).toEqual([]);
    expect(time.alarm).toBeNull();
  });

  it("under way refuses the request that made the session: its id is not given out again", () => {
    const { directory, erasures } = world();
    const again = { session: makeId("ses", 3), idempotency: { key: "k", digest: "d" }, at: 2_000 };
    expect(directory.register(again)).toMatchObject({ ok: true, value: { session: SESSION } });
    erasures.begin({ session: SESSION, isKnown: false });

    expect(directory.register(again)).toEqual({ ok: false, error: { code: "session_erased" } });
  });

  it("has an alarm again in the object's next life, also where the platform gave the last one up", async () => {
    const { erasures, time } = world();
    erasures.begin({ session: SESSION, isKnown: false });
    const due = time.alarm;
    time.alarm = null;

    await erasures.resume();

    expect(time.alarm).toBe(due);
  });
});
