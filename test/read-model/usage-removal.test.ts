/**
 * Usage that is removed by whole months: what is not too old is counted once at every moment, whatever late writes, erasures, rebuilds and moves
 * between databases come in between. With the real statements, and the tenant's own rows, in Node's SQLite.
 */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { rebuildStep } from "../../src/app/projection/rebuild";
import type { RebuildProgress } from "../../src/app/projection/rebuild-ports";
import { roundCost } from "../../src/domain/call-totals";
import { sumForErasure } from "../../src/domain/erased-usage";
import type { StoredEvent } from "../../src/domain/events";
import { ok } from "../../src/lib/result";
import { toMonthStart } from "../../src/lib/utc-time";
import { createMoveDatabase } from "../../src/read-model/move-database";
import { createPlacedProjection, createPlacedTenantProjection } from "../../src/read-model/placed-projection";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createTenantRows } from "../../src/read-model/tenant-rows";
import { createUsageList } from "../../src/read-model/usage-query";
import { createProjection } from "../../src/read-model/writer";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageBound } from "../../src/tenant/usage/usage-bound";
import { createUsageOutbox } from "../../src/tenant/usage/usage-outbox";
import { createUsageRetention } from "../../src/tenant/usage/usage-retention";
import { notingLog } from "../session/life";
import { SimD1 } from "../simulation/sim-d1";
import { drawn } from "../support/effort";
import { createMigratedSql } from "../tenant/memory-sql";
import { NAMES } from "../tenant/support";
import { LogBuilder, makeId, modelCall, TENANT } from "./builders";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 15);
const KEPT_MONTHS = 2;
const SESSIONS = 3;

const d1s = [new SimD1(), new SimD1()] as const;
afterAll(() => {
  for (const d1 of d1s) d1.clear();
});

type Log = LogBuilder & { erased?: boolean };
const isCall = (event: StoredEvent): event is Extract<StoredEvent, { type: "ModelCallFinished" }> => event.type === "ModelCallFinished";
const sum = (log: LogBuilder) => sumForErasure(log.events.filter(isCall), () => null);

function world() {
  for (const d1 of d1s) {
    d1.clear();
    for (const table of ["usage_bounds", "erased_usage"]) d1.direct.prepare(`DELETE FROM ${table}`).run();
  }
  const databases = [d1s[0].direct, d1s[1].direct] as const;
  const place: { read: 0 | 1; written: readonly (0 | 1)[] } = { read: 0, written: [0] };
  const time = { now: NOW };
  const alarm = { get: async () => null, set: () => {} };
  const sql = createMigratedSql();
  const store = createErasedUsage(sql, NAMES);
  const bound = createUsageBound(sql);
  const fault: { after: number } = { after: Number.POSITIVE_INFINITY };
  /** Fails once, after some of the databases were written. */
  const reach = async <T>(work: () => Promise<T>): Promise<T> => {
    if (fault.after-- <= 0) {
      fault.after = Number.POSITIVE_INFINITY;
      throw new Error("D1 is out of reach");
    }
    return work();
  };
  const listWritten = () => place.written.map((number) => databases[number]);
  const open = (db: D1Database) => {
    const rows = createTenantProjection(db);
    return { ...rows, removeUsage: (...input: Parameters<typeof rows.removeUsage>) => reach(() => rows.removeUsage(...input)) };
  };
  const tenantProjection = createPlacedTenantProjection({ written: () => listWritten().map(open), held: () => databases.map(open) });
  const projection = createPlacedProjection(async () => {
    const [first = databases[0], ...others] = listWritten();
    return { written: [first, ...others], left: [] };
  }, createProjection);
  const outbox = createUsageOutbox({
    ...{ sql, store, alarm, now: () => time.now, log: notingLog() },
    write: (usage) => tenantProjection.writeUsage(TENANT, usage),
  });
  const retention = createUsageRetention({
    ...{ sql, bound, alarm, now: () => time.now, log: notingLog(), isSuspended: () => false },
    readRule: () => ({ months: KEPT_MONTHS, starts_at: 0 }),
    remove: (before) => tenantProjection.removeUsage(TENANT, before),
  });
  const logs: Log[] = Array.from({ length: SESSIONS }, (_, n) => new LogBuilder(makeId("ses", n + 1), TENANT).open());
  /** Every call that was ever counted. */
  const calls: { readonly at: number; readonly cost: number }[] = [];
  return { databases, place, time, sql, store, bound, fault, projection, outbox, retention, logs, calls };
}
type World = ReturnType<typeof world>;

const readLog = (log: LogBuilder) => async (after: number) => {
  const { events, bodies } = log.batch(after + 1);
  return ok({ events, bodies: [...bodies].map(([id, text]) => ({ id, text })), has_more: false });
};

/** Compares the session's rows with its log, and corrects them. */
async function rebuild({ time }: World, log: Log, db: D1Database): Promise<void> {
  if (log.erased) return;
  const { rows } = createMoveDatabase(db);
  for (let progress: RebuildProgress | null = null; ; ) {
    const stepped = await rebuildStep(
      { readLog: readLog(log), rows, now: () => time.now },
      { tenant: TENANT, session: log.session },
      progress,
    );
    if (!stepped.ok) throw new Error(stepped.error.code);
    progress = stepped.value.next;
    if (!progress) return;
  }
}

/** What a move and a rebuild of the tenant do, first the bound. */
async function mendTenant({ store, bound }: World, db: D1Database): Promise<void> {
  const rows = createTenantRows(db);
  const { wanted } = bound.read();
  if (wanted !== null) while (!(await rows.removeUsage({ tenant: TENANT, before: wanted })));
  await rows.mendErasedUsage({ tenant: TENANT, after: null, upTo: null, usage: store.list({ after: null, sessions: 100 }) });
}

async function call(at: World, { n, ago, cost }: Act): Promise<void> {
  const log = at.logs[n % SESSIONS];
  if (!log || log.erased) return;
  log.event(modelCall({ model: "m", cost: cost / 1_000 }));
  const last = log.events.pop();
  if (!last) return;
  // Imports and late batches bring calls of any age.
  const made = { ...last, at: at.time.now - ago * DAY };
  log.events.push(made);
  at.calls.push({ at: made.at, cost: cost / 1_000 });
  await at.projection.write(log.batch());
}

async function erase(at: World, { n, cost }: Act): Promise<void> {
  const log = at.logs[n % SESSIONS];
  if (!log) return;
  const usage = at.sql.transaction(() => at.store.keep(log.session, sum(log)));
  log.erased = true;
  // The tenant's retention may run between the two stores.
  if (cost % 2 === 0) await at.retention.run();
  await at.projection.erase({ tenant: TENANT, session: log.session, at: at.time.now, usage });
  await at.projection.write(log.batch());
}

async function endThrowaway(at: World, { n, ago, cost }: Act): Promise<void> {
  const log = new LogBuilder(makeId("ses", 100 + at.calls.length * 10 + n), TENANT).open();
  log.event(modelCall({ model: "m", cost: cost / 1_000 }));
  const made = at.time.now - ago * DAY;
  at.calls.push({ at: made, cost: cost / 1_000 });
  at.sql.transaction(() =>
    at.outbox.add(
      log.session,
      sumForErasure(
        log.events.filter(isCall).map((event) => ({ ...event, at: made })),
        () => null,
      ),
    ),
  );
  await at.outbox.drain();
}

/** Writers know both databases, then the tenant and its sessions are copied, with the tenant's retention in between. */
async function move(at: World, { n }: Act): Promise<void> {
  const { place, databases, retention, logs, time } = at;
  const [from, to] = place.read === 0 ? ([0, 1] as const) : ([1, 0] as const);
  if (n % 2 === 0) place.written = [from, to];
  await retention.run();
  place.written = [from, to];
  await mendTenant(at, databases[to]);
  await retention.run();
  for (const log of logs) {
    if (log.erased) await createProjection(databases[to]).erase({ tenant: TENANT, session: log.session, at: time.now });
    else await createProjection(databases[to]).write(log.batch());
  }
  time.now = toMonthStart(time.now, -1);
  await retention.run();
  for (const log of logs) await rebuild(at, log, databases[to]);
  await mendTenant(at, databases[to]);
  place.read = to;
  place.written = [to];
  while (!(await createMoveDatabase(databases[from]).clearTenant(TENANT)));
}

interface Act {
  readonly kind: "call" | "erase" | "throwaway" | "month" | "retention" | "fault" | "rebuild" | "mend" | "move";
  readonly n: number;
  readonly ago: number;
  readonly cost: number;
}

async function act(at: World, one: Act): Promise<void> {
  const { place, databases, logs, time, retention, fault } = at;
  const log = logs[one.n % SESSIONS];
  switch (one.kind) {
    case "call":
      return call(at, one);
    case "erase":
      return erase(at, one);
    case "throwaway":
      return endThrowaway(at, one);
    case "month":
      time.now = toMonthStart(time.now, -1) + one.ago * DAY;
      return;
    case "retention":
      return retention.run();
    case "fault":
      fault.after = one.n % 3;
      await retention.run();
      // Longer than the wait before the next attempt.
      time.now += DAY / 8;
      return;
    case "rebuild":
      return log && rebuild(at, log, databases[place.read]);
    case "mend":
      return mendTenant(at, databases[place.read]);
    case "move":
      return move(at, one);
  }
}

/** The months whose sums a client reads, and from when on they are complete. */
async function readUsage({ databases, place, time }: World) {
  const list = createUsageList({ DB: databases[place.read] });
  const all = { session: null, model: null, purpose: null, key: null, endUser: null, limit: 5_000, after: null };
  const read = await list.sumUsage({ tenant: TENANT, groupBy: ["day"], from: 0, to: time.now + DAY, ...all });
  if (!read.ok) throw new Error(read.error.code);
  return { days: read.value.data.map(({ day, calls, cost }) => [day, calls, cost]), complete_from: read.value.complete_from };
}

function expectDays({ calls }: World, from: number) {
  const kept = calls.filter(({ at }) => at >= from);
  const days = Map.groupBy(kept, ({ at }) => new Date(at).toISOString().slice(0, 10));
  return [...days]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([day, of]) => [day, of.length, roundCost(of.reduce((total, { cost }) => total + cost, 0))]);
}

const acts = fc.array(
  fc.record<Act>({
    kind: fc.constantFrom(
      ...(["call", "call", "call", "erase", "throwaway", "month", "retention", "retention", "fault", "rebuild", "mend", "move"] as const),
    ),
    n: fc.nat(11),
    ago: fc.nat(150),
    cost: fc.nat(1_000),
  }),
  { minLength: 4, maxLength: 24 },
);

/** Once the removal is done no row from before the bound is left anywhere. */
async function expectRemoved(at: World): Promise<void> {
  at.fault.after = Number.POSITIVE_INFINITY;
  at.time.now += DAY;
  await at.retention.run();
  await at.retention.run();
  const until = at.bound.read().applied ?? 0;
  expect(until).toBe(toMonthStart(at.time.now, KEPT_MONTHS));
  expect(at.sql.rows("SELECT count(*) AS n FROM erased_usage WHERE at < ?", until)).toEqual([{ n: 0 }]);
  for (const table of ["usage", "erased_usage"]) {
    const left = at.databases[at.place.read].prepare(`SELECT count(*) AS n FROM ${table} WHERE at < ?`).bind(until);
    expect((await left.all()).results).toEqual([{ n: 0 }]);
  }
  expect((await readUsage(at)).days).toEqual(expectDays(at, until));
}

describe("usage that a rule removes after some months", () => {
  test("is in no sum from the moment at which the bound is there, although its rows still are", async () => {
    const at = world();
    for (const ago of [100, 1]) await call(at, { kind: "call", n: 0, ago, cost: 1 });
    const from = toMonthStart(NOW, 1);
    await at.databases[0].prepare("INSERT INTO usage_bounds (tenant_id, complete_from) VALUES (?, ?)").bind(TENANT, from).run();

    expect((await at.databases[0].prepare("SELECT count(*) AS n FROM usage").all()).results).toEqual([{ n: 2 }]);
    expect(await readUsage(at)).toEqual({ days: expectDays(at, from), complete_from: from });
    expect(expectDays(at, from)).toHaveLength(1);
  });

  test("leaves the sums of later months as they are, at any moment, and never a part of an earlier one", { timeout: 120_000 }, async () => {
    const seen = { bounds: 0, moves: 0 };
    await fc.assert(
      fc.asyncProperty(acts, async (script) => {
        const at = world();
        let last = 0;
        for (const one of script) {
          await act(at, one);
          const { days, complete_from } = await readUsage(at);
          const from = complete_from ?? 0;
          expect(days).toEqual(expectDays(at, from));
          expect(from).toBeGreaterThanOrEqual(last);
          expect(from === 0 || from === toMonthStart(from)).toBe(true);
          if (from > last) seen.bounds += 1;
          if (one.kind === "move") seen.moves += 1;
          last = from;
        }
        await expectRemoved(at);
      }),
      { numRuns: drawn(120) },
    );
    expect(seen.bounds).toBeGreaterThan(drawn(120) / 3);
    expect(seen.moves).toBeGreaterThan(drawn(120) / 6);
  });
});
