/** What the tenant's object does for throwaway sessions: it sends what they used, and ends their files. */
import { describe, expect, it } from "vitest";
import { NO_CALLS } from "../../src/domain/call-totals";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import { createErasedUsage } from "../../src/tenant/erased-usage";
import { createFiles } from "../../src/tenant/files";
import { createUsageOutbox } from "../../src/tenant/usage-outbox";
import { notingLog } from "../session/life";
import { createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

const HOUR_MS = 60 * 60 * 1_000;
const usage: readonly ErasedUsage[] = [{ at: 0, model: "m", purpose: "turn", ...NO_CALLS, calls: 2, input: 7 }];

function createOutbox() {
  const sql = createMigratedSql();
  const sent: (readonly string[])[] = [];
  const d1 = { isAway: false };
  const set: { alarm: number | null } = { alarm: null };
  const outbox = createUsageOutbox({
    sql,
    store: createErasedUsage(sql),
    write: async (all) => {
      if (d1.isAway) throw new Error("out of reach");
      sent.push(all.map(({ session, usage: sums }) => `${session} ${sums[0]?.calls}`));
    },
    alarm: {
      get: async () => set.alarm,
      set: (at) => {
        set.alarm = at;
      },
    },
    now: () => 0,
    log: notingLog(),
  });
  return { sql, sent, d1, set, outbox };
}

describe("the usage of throwaway sessions", () => {
  const [one, two] = [makeId("ses", 1), makeId("ses", 2)];

  it("is sent once, that of many sessions together, and is still stored", async () => {
    const { sql, sent, outbox } = createOutbox();
    for (const session of [one, two, one]) outbox.add(session, usage);
    outbox.add(makeId("ses", 3), []);

    await Promise.all([outbox.drain(), outbox.drain()]);
    await outbox.drain();

    expect(sent).toEqual([[`${one} 2`, `${two} 2`]]);
    expect(outbox.nextDue()).toBe(null);
    expect(sql.rows("SELECT session FROM erased_usage ORDER BY session")).toEqual([{ session: one }, { session: two }]);
  });

  it("waits for D1, ever longer, and the alarm is set for it before anything is sent", async () => {
    const { sent, d1, set, outbox } = createOutbox();
    outbox.add(one, usage);
    await outbox.resume();
    expect(set.alarm).toBe(15_000);

    d1.isAway = true;
    for (const due of [15_000, 30_000, 60_000]) {
      set.alarm = null;
      await outbox.drain();
      expect(set.alarm).toBe(due);
    }
    d1.isAway = false;
    await outbox.drain();

    expect(sent).toEqual([[`${one} 2`]]);
  });
});

describe("the files of a throwaway session", () => {
  const [own, named] = [makeId("fil", 1), makeId("fil", 2)];
  const [session, next] = [makeId("ses", 1), makeId("ses", 2)];

  function createHeld() {
    const sql = createMigratedSql();
    const files = createFiles(sql);
    for (const file of [own, named]) {
      files.begin({ file, name: null, media_type: "image/png", bytes: 1 }, 0);
      files.finish({ file, stored: { sha256: "", tokens: 1 }, idempotency: null }, 0);
    }
    files.use({ session, files: [own], throwaway: "owns" }, 0);
    files.use({ session, files: [named], throwaway: "names" }, 0);
    return { sql, files };
  }

  it("end with it where they came with its request, and stay where it named them", () => {
    const { sql, files } = createHeld();
    files.release(session, 1);
    expect(files.listRemovedFor(session)).toEqual([own]);
    expect([files.find(own), files.find(named)?.expires_at]).toEqual([null, 24 * HOUR_MS]);
    expect(sql.rows("SELECT * FROM file_refs")).toEqual([]);
  });

  it("end by themselves where the session never came to be, and its references with them", () => {
    const { sql, files } = createHeld();
    expect(files.takeDue(2 * HOUR_MS, 10)).toEqual([]);
    expect(files.takeDue(3 * HOUR_MS, 10)).toEqual([own]);
    files.use({ session: next, files: [named], throwaway: "names" }, 3 * HOUR_MS);
    expect(sql.rows("SELECT session, file FROM file_refs")).toEqual([{ session: next, file: named }]);
  });
});
