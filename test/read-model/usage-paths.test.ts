/** Every model call is counted once, whichever way its session's ledger went, with the real statements in Node's SQLite. */
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { UsageGroup, UsageInput } from "../../src/app/read-api";
import { roundCost } from "../../src/domain/call-totals";
import { sumForErasure } from "../../src/domain/erased-usage";
import type { StoredEvent } from "../../src/domain/events";
import type { BodyId, TenantId } from "../../src/domain/ids";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createTenantRows } from "../../src/read-model/tenant-rows";
import { buildUsageQuery } from "../../src/read-model/usage-query";
import { createProjection } from "../../src/read-model/writer";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageOutbox } from "../../src/tenant/usage/usage-outbox";
import { notingLog } from "../session/life";
import { SimD1 } from "../simulation/sim-d1";
import { createMigratedSql } from "../tenant/memory-sql";
import { NAMES } from "../tenant/support";
import { LogBuilder, makeId, modelCall, START, TENANT } from "./builders";

type Call = Extract<StoredEvent, { type: "ModelCallFinished" }>;
const DAY_MS = 24 * 60 * 60 * 1_000;
const PERIOD = { from: START - DAY_MS, to: START + 10 * DAY_MS };
const KEYS = [makeId("key", 1), makeId("key", 2)] as const;
const USERS = ["ada", "李雷"] as const;
/** An import restores the log of a session in another tenant. */
const IMPORTED_INTO = makeId("ten", 2);

const drawnCall = fc.record({
  after_ms: fc.nat(2 * DAY_MS),
  model: fc.constantFrom("m", "模型"),
  purpose: fc.constantFrom("turn" as const, "compaction" as const, "title" as const),
  tokens: fc.option(fc.nat(9_999)),
  cost: fc.option(fc.nat(1_000)),
  key: fc.constantFrom(null, ...KEYS),
  user: fc.constantFrom(null, ...USERS),
});
const drawnSession = fc.record({
  calls: fc.array(drawnCall, { maxLength: 8 }),
  path: fc.constantFrom("live" as const, "erased" as const, "throwaway" as const),
  /** How many of its events were projected before the session was erased. */
  projected: fc.nat(9),
  imported: fc.boolean(),
});
type DrawnSession = typeof drawnSession extends fc.Arbitrary<infer T> ? T : never;

/** The log of a drawn session. */
function toLog({ calls }: DrawnSession, number: number, tenant: TenantId): LogBuilder {
  const log = new LogBuilder(makeId("ses", number), tenant).open();
  const names = new Map<string, BodyId>(USERS.map((user) => [user, log.text(user).body]));
  for (const { after_ms, model, purpose, tokens, cost, key, user } of calls) {
    const end_user = user === null ? undefined : names.get(user);
    const usage = tokens === null ? null : { input: tokens, output: 1, cached: 0, reasoning: 0 };
    const owner = { ...(key && { key }), ...(end_user && { end_user }) };
    log.event(modelCall({ model, purpose, usage, ...(cost !== null && { cost: cost / 1_000 }), ...owner }));
    const last = log.events.pop();
    if (last) log.events.push({ ...last, at: START + after_ms });
  }
  return log;
}

const listCalls = (log: LogBuilder): readonly Call[] => log.events.flatMap((event) => (event.type === "ModelCallFinished" ? [event] : []));

const d1 = new SimD1();
const db = d1.direct;
afterAll(() => d1.clear());

/** One tenant's object with what it knows of erased sessions. */
function createTenant() {
  const sql = createMigratedSql();
  const store = createErasedUsage(sql, NAMES);
  const write = (all: Parameters<ReturnType<typeof createTenantProjection>["writeUsage"]>[1]) =>
    createTenantProjection(db).writeUsage(TENANT, all);
  const alarm = { get: async () => null, set: () => {} };
  return { store, outbox: createUsageOutbox({ sql, store, write, alarm, now: () => START, log: notingLog() }) };
}

const sumLedger = (log: LogBuilder) => sumForErasure(listCalls(log), (body) => log.bodies.get(body) ?? null);

/** Erases a session as its object does. */
async function eraseLog(log: LogBuilder, { store }: Pick<ReturnType<typeof createTenant>, "store">): Promise<void> {
  const usage = store.keep(log.session, sumLedger(log));
  await createProjection(db).erase({ tenant: TENANT, session: log.session, at: START, usage });
}

/** Lets a drawn session go its way. */
async function play(drawn: DrawnSession, number: number, { store, outbox }: ReturnType<typeof createTenant>): Promise<LogBuilder> {
  const log = toLog(drawn, number, TENANT);
  if (drawn.path === "throwaway") outbox.add(log.session, sumLedger(log));
  else await createProjection(db).write(log.batch(1, drawn.path === "live" ? undefined : Math.min(drawn.projected + 1, log.events.length)));
  if (drawn.path === "erased") {
    await eraseLog(log, { store });
    // A batch that was under way, and a repetition.
    await createProjection(db).write(log.batch());
    await eraseLog(log, { store });
  }
  if (drawn.imported) await createProjection(db).write(toLog(drawn, number, IMPORTED_INTO).batch());
  return log;
}

const COUNTS = ["calls", "failed", "input", "output", "unpriced", "cost"] as const;
type Sums = Readonly<Record<string, readonly number[]>>;

/** The sums that clients read, by the groups. */
async function readSums(tenant: TenantId, groupBy: readonly UsageGroup[], only: Partial<UsageInput> = {}): Promise<Sums> {
  const all = { session: null, model: null, purpose: null, key: null, endUser: null, limit: 5_000, after: null };
  const query = buildUsageQuery({ tenant, groupBy, ...PERIOD, ...all, ...only });
  if (!query) throw new Error("no query");
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(query);
  const { results } = await db
    .prepare(sql)
    .bind(...params)
    .all<Record<string, string | number>>();
  return Object.fromEntries(
    results.map((row) => [
      JSON.stringify(groupBy.map((group) => row[`by_${group}`])),
      COUNTS.map((count) => roundCost(Number(row[count]))),
    ]),
  );
}

/** The same sums, of the calls in the logs themselves. */
function sumLogs(logs: readonly LogBuilder[], toGroup: (call: Call, name: string) => readonly (string | number)[] | null): Sums {
  const sums = new Map<string, number[]>();
  for (const log of logs)
    for (const call of listCalls(log)) {
      const group = toGroup(call, (call.end_user && log.bodies.get(call.end_user)) ?? "");
      if (!group) continue;
      const { usage, cost } = call;
      const counts = [1, 0, usage?.input ?? 0, usage?.output ?? 0, cost === undefined ? 1 : 0, cost ?? 0];
      const before = sums.get(JSON.stringify(group));
      sums.set(
        JSON.stringify(group),
        counts.map((count, nth) => roundCost(count + (before?.[nth] ?? 0))),
      );
    }
  return Object.fromEntries(sums);
}

const toDay = ({ at }: Call): number => Math.floor(at / DAY_MS);
const plain = ["day", "model", "purpose", "key"] as const;
const toPlain = (call: Call) => [toDay(call), call.model, call.purpose, call.key ?? ""];

describe("the sums of usage", () => {
  test("are those of all ledgers, live, erased, of one request or imported, before and after a name is forgotten, by every group and filter", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawnSession, { maxLength: 8 }), async (drawn) => {
        d1.clear();
        const tenant = createTenant();
        const logs: LogBuilder[] = [];
        for (const [nth, one] of drawn.entries()) logs.push(await play(one, nth + 1, tenant));
        await tenant.outbox.drain();
        const imported = drawn.flatMap((one, nth) => (one.imported ? [toLog(one, nth + 1, IMPORTED_INTO)] : []));

        expect(await readSums(TENANT, plain)).toEqual(sumLogs(logs, toPlain));
        expect(await readSums(IMPORTED_INTO, plain)).toEqual(sumLogs(imported, toPlain));
        expect(await readSums(TENANT, ["end_user"])).toEqual(sumLogs(logs, (_, name) => [name]));
        expect(await readSums(TENANT, ["model"], { key: KEYS[0] })).toEqual(
          sumLogs(logs, ({ key, model }) => (key === KEYS[0] ? [model] : null)),
        );
        expect(await readSums(TENANT, ["key"], { endUser: USERS[1] })).toEqual(
          sumLogs(logs, ({ key = "" }, name) => (name === USERS[1] ? [key] : null)),
        );

        // Live sessions are erased first, as those of an erased end user are.
        const left = logs.filter((_, nth) => drawn[nth]?.path === "live");
        for (const log of left) await eraseLog(log, tenant);
        tenant.outbox.forget(NAMES.digest(USERS[0]));
        await tenant.outbox.drain();

        expect(await readSums(TENANT, plain)).toEqual(sumLogs(logs, toPlain));
        expect(await readSums(TENANT, ["end_user"])).toEqual(sumLogs(logs, (_, name) => [name === USERS[0] ? "" : name]));
        const mended = await createTenantRows(db).mendErasedUsage({
          tenant: TENANT,
          after: null,
          upTo: null,
          usage: tenant.store.list({ after: null, sessions: 100 }),
        });
        expect(mended.differences).toEqual([]);
      }),
    );
  });
});
