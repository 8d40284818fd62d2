import { describe, expect, it } from "vitest";
import type { SessionId } from "../../src/domain/ids";
import type { SyncSql } from "../../src/lib/sync-sql";
import { createErasures } from "../../src/tenant/erasure/erasures";
import type { SessionLabels } from "../../src/tenant/erasure/gather-sessions";
import { createDirectory } from "../../src/tenant/shared/directory";
import { ACT } from "../support/act";
import { createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

const SESSION = makeId("ses", 1);
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

function world(erase: (session: SessionId) => Promise<boolean> = async () => true) {
  const sql = createMigratedSql();
  const directory = createDirectory(sql);
  const time = { now: 1_000, alarm: null as number | null };
  const hidden: SessionId[] = [];
  const made = { erasures: 0 };
  /** Usage as the erasures see it: whether D1 is reached, which names are forgotten, and in which sessions. */
  const usage = { isAway: false, forgotten: [] as (string | null)[], sessions: [] as SessionId[], refuses: false };
  const swept = { times: 0, left: 0 };
  const labels: { read: (session: SessionId) => SessionLabels | null } = { read: () => ({ end_user: null, source: null }) };
  const alarm = {
    get: async () => time.alarm,
    set: (at: number): void => {
      time.alarm = at;
    },
  };
  const erasures = createErasures({
    sql,
    alarm,
    erase,
    readLabels: async (session) => labels.read(session),
    hide: async (sessions) => void hidden.push(...sessions),
    usage: {
      forget: (endUser) => void usage.forgotten.push(endUser),
      isForgetting: () => usage.isAway,
      drain: async () => {},
    },
    forgetInSession: async (session) => {
      usage.sessions.push(session);
      return !usage.refuses;
    },
    sweep: async () => {
      swept.times += 1;
      return swept.left-- <= 0;
    },
    newErasureId: () => makeId("era", ++made.erasures),
    now: () => time.now,
    log: SILENT,
  });
  const register = (n: number, more: Partial<Parameters<typeof directory.register>[0]> = {}) => {
    directory.register({ session: makeId("ses", n), idempotency: null, at: time.now, ...more });
    return makeId("ses", n);
  };
  directory.register({ session: SESSION, idempotency: { key: "k", digest: "d" }, at: 1_000 });
  const listed = () => directory.list({ after: null, limit: 10 }).data.map(({ id }) => id);
  const ring = async () => {
    time.now = Math.max(time.now, time.alarm ?? 0);
    time.alarm = null;
    await erasures.run();
  };
  return { sql, directory, erasures, time, listed, ring, register, labels, hidden, swept, usage };
}

describe("an erasure", () => {
  it("is noted of a session that the directory knows, and of no other unless the caller knows it", () => {
    const { erasures } = world();

    expect(erasures.begin({ session: SESSION, isKnown: false }).noted).toBe(true);
    expect(erasures.begin({ session: makeId("ses", 2), isKnown: false }).noted).toBe(false);
    expect(erasures.begin({ session: makeId("ses", 2), isKnown: true }).noted).toBe(true);
    expect(erasures.begin({ session: makeId("ses", 2), isKnown: false }).noted).toBe(true);
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

describe("an erasure with forks", () => {
  it("covers forks, and forks of these, and no other session", () => {
    const { erasures, register } = world();
    const fork = register(2, { source: SESSION });
    const ofFork = register(3, { source: fork });
    register(4);

    const { erasure } = erasures.begin({ session: SESSION, isKnown: false, forks: true });

    for (const session of [SESSION, fork, ofFork]) expect(erasures.receipts.findCovering(session)).toBe(erasure);
    expect(erasures.receipts.findCovering(makeId("ses", 4))).toBeNull();
  });

  it("finds the fork of a fork that is erased already", async () => {
    const { erasures, register, ring, time } = world();
    const fork = register(2, { source: SESSION });
    const ofFork = register(3, { source: fork });
    erasures.begin({ session: fork, isKnown: false });
    time.alarm = erasures.nextDue();
    await ring();

    const { erasure } = erasures.begin({ session: SESSION, isKnown: false, forks: true });

    expect(erasures.receipts.findCovering(ofFork)).toBe(erasure);
  });

  it("refuses a fork that is registered after it, of the session and of its forks", () => {
    const { directory, erasures, register } = world();
    const fork = register(2, { source: SESSION });
    erasures.begin({ session: SESSION, isKnown: false, forks: true });

    for (const source of [SESSION, fork]) {
      const late = directory.register({ session: makeId("ses", 9), source, idempotency: null, at: 2_000 });
      expect(late).toEqual({ ok: false, error: { code: "session_erased" } });
    }
  });

  it("asks sessions of which the directory does not know it what they were forked from, and is done when all have answered and are erased", async () => {
    const { sql, erasures, register, labels, ring, listed } = world();
    const fork = register(2);
    sql.rows("UPDATE sessions SET labelled = 0");
    labels.read = (session) => ({ end_user: null, source: session === fork ? SESSION : null });

    const { erasure } = erasures.begin({ session: SESSION, isKnown: false, forks: true });
    expect(erasures.receipts.find(erasure ?? "")).toMatchObject({ gathered: false, done_at: null });
    for (let times = 0; times < 3; times++) await ring();

    expect(erasures.receipts.find(erasure ?? "")).toMatchObject({ gathered: true, sessions: { total: 2, done: 2 } });
    expect(listed()).toEqual([]);
  });

  it("asked for after one without forks is another erasure; repeated, it is the same", () => {
    const { erasures } = world();
    const alone = erasures.begin({ session: SESSION, isKnown: false }).erasure;
    const whole = erasures.begin({ session: SESSION, isKnown: false, forks: true }).erasure;

    expect(whole).not.toBe(alone);
    expect(erasures.begin({ session: SESSION, isKnown: false, forks: true }).erasure).toBe(whole);
    expect(erasures.begin({ session: SESSION, isKnown: false }).erasure).toBe(whole);
  });
});

describe("an erasure of an end user", () => {
  const ADA = "digest of ada";

  it("covers the sessions that the end user has, frees their external ids, and leaves those of others and later ones", async () => {
    const { erasures, register, directory, time, ring, listed, hidden } = world();
    const mine = register(2, { end_user: ADA, external_id: "x" });
    const other = register(3, { end_user: "digest of bob" });
    time.now += 1;
    const id = erasures.beginEndUser(ADA, ACT);
    expect(directory.findExternalId("x")).toBeNull();
    time.now += 1;
    const later = register(4, { end_user: ADA });
    time.alarm = erasures.nextDue();
    await ring();

    expect(erasures.receipts.find(id)).toMatchObject({ of: "end_user", target: ADA, sessions: { total: 1, done: 1 } });
    expect(erasures.receipts.find(id)?.done_at).not.toBeNull();
    expect([listed(), hidden]).toEqual([[later, other, SESSION], [mine]]);
  });

  it("is the same while it runs, unless the end user got another session, and a new one when it is done", async () => {
    const { erasures, register, time, ring } = world(async () => true);
    register(2, { end_user: ADA });
    const first = erasures.beginEndUser(ADA, ACT);
    expect(erasures.beginEndUser(ADA, ACT)).toBe(first);
    register(3, { end_user: ADA });
    const second = erasures.beginEndUser(ADA, ACT);
    expect(second).not.toBe(first);
    time.alarm = erasures.nextDue();
    await ring();

    expect(erasures.beginEndUser(ADA, ACT)).not.toBe(second);
  });

  it("is another one while it runs, where a session may have been given to the end user since", async () => {
    const { erasures, register, directory, labels, time, ring, listed } = world(async (session) => session !== makeId("ses", 2));
    register(2, { end_user: ADA });
    const first = erasures.beginEndUser(ADA, ACT);
    time.alarm = erasures.nextDue();
    await ring();
    expect(erasures.receipts.find(first)).toMatchObject({ gathered: true, done_at: null });

    time.now += 1;
    const given = register(3);
    directory.give({ session: given, end_user: ADA });
    labels.read = (session) => ({ end_user: session === given ? ADA : null, source: null });
    const second = erasures.beginEndUser(ADA, ACT);
    for (let times = 0; times < 3; times++) await ring();

    expect(second).not.toBe(first);
    expect(listed()).not.toContain(given);
  });

  it("of whom there is no session is done with the first run", async () => {
    const { erasures, time, usage } = world();
    const id = erasures.beginEndUser(ADA, ACT);
    await erasures.run();

    expect(erasures.receipts.find(id)).toMatchObject({ done_at: time.now, sessions: { total: 0, done: 0 } });
    expect(usage.forgotten).toEqual([ADA]);
  });

  it("forgets the name in usage when all sessions are erased, and is done when the read model has forgotten it", async () => {
    const answers = { erased: false };
    const { erasures, register, ring, time, usage } = world(async () => answers.erased);
    register(2, { end_user: ADA });
    const id = erasures.beginEndUser(ADA, ACT);
    time.alarm = erasures.nextDue();
    await ring();
    expect(usage.forgotten).toEqual([]);

    answers.erased = true;
    usage.isAway = true;
    await ring();
    expect(usage.forgotten).toEqual([ADA]);
    expect(erasures.receipts.find(id)).toMatchObject({ done_at: null, forgotten: false, sessions: { total: 1, done: 1 } });

    usage.isAway = false;
    await ring();
    expect(erasures.receipts.find(id)).toMatchObject({ done_at: time.now, forgotten: true });
    expect([time.alarm, erasures.nextDue()]).toEqual([null, null]);
  });

  it("asks sessions that were the end user's to forget the name, until each has, and none that is erased", async () => {
    const { erasures, directory, register, labels, ring, usage } = world();
    const [given, gone] = [register(2, { end_user: ADA }), register(3, { end_user: ADA })];
    for (const session of [given, gone]) directory.give({ session: session, end_user: null });
    labels.read = () => ({ end_user: "digest of bob", source: null, former: [ADA] });
    usage.refuses = true;
    const id = erasures.beginEndUser(ADA, ACT);
    await ring();
    erasures.begin({ session: gone, isKnown: true });
    for (let times = 0; times < 3; times++) await ring();
    expect([new Set(usage.sessions), usage.forgotten]).toEqual([new Set([given, gone]), []]);
    expect(erasures.receipts.find(id)?.done_at).toBeNull();

    usage.refuses = false;
    usage.sessions.length = 0;
    await ring();

    expect([usage.sessions, usage.forgotten]).toEqual([[given], [ADA]]);
    expect(erasures.receipts.find(id)?.done_at).not.toBeNull();
  });

  it("of an earlier version that was done before names were in usage stays done", () => {
    const { sql, erasures } = world();
    sql.rows(
      "INSERT INTO erasure_receipts (id, kind, target, forks, requested_at, gathered, done_at) VALUES (?, 'end_user', ?, 0, 1, 1, 2)",
      makeId("era", 9),
      ADA,
    );

    expect(erasures.nextDue()).toBeNull();
    expect(erasures.receipts.find(makeId("era", 9))).toMatchObject({ done_at: 2, forgotten: true });
  });

  it("does not take a session that was given to another end user, and takes one that was given to this one", async () => {
    const { erasures, directory, register, labels, ring, listed } = world();
    const gone = register(2, { end_user: ADA });
    const got = register(3, { end_user: "digest of bob" });
    for (const session of [gone, got]) directory.give({ session: session, end_user: null });
    labels.read = (session) => ({ end_user: session === got ? ADA : "digest of bob", source: null });

    erasures.beginEndUser(ADA, ACT);
    for (let times = 0; times < 3; times++) await ring();

    expect(listed()).toEqual([gone, SESSION]);
  });

  it("waits for a session's object that cannot be asked, and asks it again", async () => {
    const { erasures, directory, register, labels, ring, listed } = world();
    const mine = register(2, { end_user: ADA });
    directory.give({ session: mine, end_user: null });
    labels.read = () => {
      throw new Error("unreachable");
    };
    const id = erasures.beginEndUser(ADA, ACT);
    await ring();
    expect(erasures.receipts.find(id)).toMatchObject({ gathered: false, done_at: null });

    labels.read = () => ({ end_user: ADA, source: null });
    for (let times = 0; times < 3; times++) await ring();

    expect(erasures.receipts.find(id)).toMatchObject({ gathered: true, sessions: { total: 1, done: 1 } });
    expect(listed()).toEqual([SESSION]);
  });

  it("takes a copy of the end user's session that was begun and not opened", async () => {
    const { erasures, directory, register, labels, ring, listed } = world();
    const mine = register(2, { end_user: ADA });
    directory.give({ session: mine, end_user: null });
    const copy = register(3, { source: mine });
    labels.read = (session) => (session === copy ? null : { end_user: ADA, source: null });

    erasures.beginEndUser(ADA, ACT);
    for (let times = 0; times < 3; times++) await ring();

    expect(listed()).toEqual([SESSION]);
  });

  it("ends the access tokens from before it, for as long as one may last", () => {
    const { erasures, time } = world();
    erasures.beginEndUser(ADA, ACT);
    const at = time.now;
    expect([erasures.findEnd(ADA), erasures.findEnd("another")]).toEqual([at, 0]);

    time.now += 24 * 60 * 60 * 1_000;
    erasures.beginEndUser("another", ACT);

    expect(erasures.findEnd(ADA)).toBe(0);
  });

  it("of many sessions is done in parts, and every part is counted", async () => {
    const { erasures, register, time, ring } = world();
    for (let n = 2; n < 502; n++) register(n, { end_user: ADA });
    const id = erasures.beginEndUser(ADA, ACT);
    time.alarm = erasures.nextDue();
    await ring();
    expect(erasures.receipts.find(id)).toMatchObject({ done_at: null, sessions: { total: 200, done: 200 } });
    await ring();
    expect(erasures.receipts.find(id)).toMatchObject({ done_at: null, sessions: { total: 400, done: 400 } });
    await ring();

    expect(erasures.receipts.find(id)?.sessions).toEqual({ total: 500, done: 500 });
    expect(erasures.receipts.find(id)?.done_at).not.toBeNull();
  });
});

describe("an erasure of an end user that has yet to reach a session", () => {
  it("refuses its copies, and is the one that a repeated request gets, unless the end user has a newer session", () => {
    const { erasures, register, directory, time } = world();
    for (let n = 2; n < 502; n++) register(n, { end_user: "ada" });
    register(900, { end_user: "eve" });
    time.now += 1;
    const id = erasures.beginEndUser("ada", ACT);
    const copy = (n: number, source: number) =>
      directory.register({ session: makeId("ses", n), idempotency: null, source: makeId("ses", source), at: time.now });

    expect([copy(1_001, 2), copy(1_002, 501)]).toMatchObject([
      { ok: false, error: { code: "session_erased" } },
      { ok: false, error: { code: "session_erased" } },
    ]);
    expect(copy(1_003, 900)).toMatchObject({ ok: true });
    expect(erasures.beginEndUser("ada", ACT)).toBe(id);

    time.now += 1;
    register(1_004, { end_user: "ada" });
    expect(erasures.beginEndUser("ada", ACT)).not.toBe(id);
  });
});

describe("the receipt of an erasure", () => {
  it("says which stores have yet to report, and which models the session called", () => {
    const { erasures } = world();
    const { erasure } = erasures.begin({ session: SESSION, isKnown: false });
    erasures.receipts.noteModels(SESSION, ["m"]);
    erasures.report(SESSION, ["read_model"]);

    const facts = erasures.receipts.find(erasure ?? "");
    expect(facts).toMatchObject({ done_at: null, pending: { session: 0, read_model: 1, files: 0 }, models: ["m"] });

    expect(erasures.end(SESSION)).toBe(erasure);
    expect(erasures.receipts.find(erasure ?? "")).toMatchObject({ pending: { read_model: 0 }, sessions: { total: 1, done: 1 } });
    expect(erasures.begin({ session: SESSION, isKnown: false })).toEqual({ noted: false, erasure });
  });

  it("is listed with the newest first, a page at a time", () => {
    const { erasures, register } = world();
    const ids = [1, 2, 3].map((n) => erasures.begin({ session: register(n), isKnown: false }).erasure);
    const page = erasures.receipts.list({ after: null, limit: 2, order: "desc" });

    expect([page.data.map(({ id }) => id), page.has_more]).toEqual([[ids[2], ids[1]], true]);
    expect(erasures.receipts.list({ after: ids[1] ?? null, limit: 2, order: "desc" }).data.map(({ id }) => id)).toEqual([ids[0]]);
    expect(erasures.receipts.list({ after: null, limit: 1, order: "asc" }).data.map(({ id }) => id)).toEqual([ids[0]]);
  });
});

describe("the erasure of a tenant", () => {
  const TENANT = makeId("ten", 1);

  it("covers every session, removes the tenant's own tables at once, and sweeps when no session is left", async () => {
    const { sql, erasures, register, ring, listed, swept, time } = world();
    sql.rows("INSERT INTO tenant (one, id, name, default_model, default_policy, created_at) VALUES (1, ?, 'planted', 'm', '', 1)", TENANT);
    sql.rows("INSERT INTO keys (id, hash, name, scopes, created_at) VALUES ('key', 'hash', 'planted', '', 1)");
    register(2, { external_id: "planted" });
    sql.rows("CREATE TABLE of_another_version (text TEXT) STRICT");
    sql.rows("INSERT INTO of_another_version VALUES ('planted')");

    const id = erasures.beginTenant(TENANT, ACT);
    expect(readTables(sql)).not.toContain("planted");
    expect([swept.times, erasures.receipts.find(id)]).toMatchObject([0, { of: "tenant", target: TENANT, done_at: null }]);
    time.alarm = time.now;
    for (let times = 0; times < 3; times++) await ring();

    expect(erasures.receipts.find(id)).toMatchObject({ gathered: true, sessions: { total: 2, done: 2 } });
    expect([swept.times, listed(), erasures.nextDue()]).toEqual([1, [], null]);
    expect(erasures.beginTenant(TENANT, ACT)).toBe(id);
  });

  it("is not done while a session is not erased", async () => {
    const { sql, erasures, ring, swept, time } = world(async () => false);
    sql.rows("INSERT INTO tenant (one, id, name, default_model, default_policy, created_at) VALUES (1, ?, '', 'm', '', 1)", TENANT);
    const id = erasures.beginTenant(TENANT, ACT);
    time.alarm = time.now;
    for (let times = 0; times < 3; times++) await ring();

    expect([swept.times, erasures.receipts.find(id)]).toMatchObject([0, { done_at: null, sessions: { total: 1, done: 0 } }]);
    // The alarm waits for the session: an alarm for the tenant's own part would ring without end.
    expect(erasures.nextDue()).toBeGreaterThan(time.now);
  });
});

/** Every value of every table. */
function readTables(sql: SyncSql): string {
  const tables = sql.rows<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  return JSON.stringify(tables.map(({ name }) => sql.rows(`SELECT * FROM "${name}"`)));
}
