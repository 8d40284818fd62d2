/**
 * A session's usage outlives it: the session sends its totals to the tenant's object before it wipes the log, and they
 * are counted once.
 */
import { expect, test } from "vitest";
import type { UsageArchive } from "../../src/app/ports";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import { ringAlarm } from "../../src/session/alarm";
import { CALLER, Life, settle } from "./life";

/** A session with one call of 10 tokens, and the totals that it has sent. */
async function talked() {
  const life = new Life();
  const handed: (readonly ErasedUsage[])[] = [];
  const archive = { isAway: false };
  life.usageArchive = {
    keep: async (_, usage) => {
      if (archive.isAway) throw new Error("out of reach");
      if (usage.length > 0) handed.push(usage);
      return handed[0] ?? [];
    },
  } satisfies Pick<UsageArchive, "keep">;
  const erased: (readonly ErasedUsage[] | undefined)[] = [];
  life.projection = {
    write: async () => {},
    erase: async ({ usage }) => {
      erased.push(usage);
      return { rows: 0 };
    },
    forgetEndUsers: async () => true,
  };
  await life.open();
  await life.send("hello");
  const usage = { input: 10, output: 2, cached: 0, reasoning: 0 };
  await life.say({ type: "text", text: "hi" }, { type: "finish", finish: "stop", usage });
  return { life, archive, handed, erased };
}

const ONE_CALL = [{ model: "test-model", purpose: "turn", calls: 1, failed: 0, input: 10, output: 2 }];

test("the sums are handed over, and written where the rows go", async () => {
  const { life, handed, erased } = await talked();

  const receipt = await life.service.erase(CALLER);

  expect(receipt).toMatchObject({ ok: true, value: { stores: [{ status: "erased" }, { status: "erased" }] } });
  expect(handed).toMatchObject([ONE_CALL]);
  expect(erased).toMatchObject([ONE_CALL]);
});

test("while the tenant's object is out of reach nothing is wiped; the alarm finishes it, and counts nothing twice", async () => {
  const { life, archive, handed, erased } = await talked();
  archive.isAway = true;

  const receipt = await life.service.erase(CALLER);
  expect(receipt).toMatchObject({ ok: true, value: { stores: [{ store: "session", status: "pending" }, { status: "pending" }] } });
  expect(life.sql.all("SELECT id FROM bodies")).not.toEqual([]);

  archive.isAway = false;
  await life.advance(60_000);
  ringAlarm(life.runtime);
  await life.advance(0);

  expect(life.sql.all("SELECT id FROM bodies")).toEqual([]);
  expect(handed).toMatchObject([ONE_CALL]);
  expect(erased).toMatchObject([ONE_CALL]);
});

test("where the rows went late, what the tenant's object kept is written: the log is gone by then", async () => {
  const { life, handed, erased } = await talked();
  const { erase } = life.projection;
  life.projection.erase = async () => {
    throw new Error("D1 is away");
  };
  await life.service.erase(CALLER);
  life.projection.erase = erase;
  await life.advance(60_000);
  ringAlarm(life.runtime);
  await life.advance(0);

  expect(handed).toHaveLength(1);
  expect(erased).toMatchObject([ONE_CALL]);
});

test("of a long session the request is answered when it is hidden, and the alarm removes the rest, with the same sums each time", async () => {
  const { life, handed, erased } = await talked();
  const left = [null, null, 7];
  life.projection.erase = async ({ usage }) => {
    erased.push(usage);
    const [rows = 0] = left.splice(0, 1);
    return { rows };
  };

  const receipt = await life.service.erase(CALLER);
  expect(receipt).toMatchObject({
    ok: true,
    value: { stores: [{ status: "erased" }, { store: "read_model", status: "pending", rows: null }] },
  });
  expect(await life.service.describe(CALLER)).toMatchObject({ ok: false, error: { code: "session_erased" } });

  expect(life.alarmAt).toBe(life.time.now());
  ringAlarm(life.runtime);
  await settle();
  expect(life.runtime.jobs.get("erase_projection")?.due_at).toBe(life.time.now());
  ringAlarm(life.runtime);
  await settle();

  expect(life.runtime.jobs.get("erase_projection")).toBeNull();
  expect([handed.length, erased]).toEqual([1, [handed[0], handed[0], handed[0]]]);
  expect(await life.service.erase(CALLER)).toMatchObject({
    ok: true,
    value: { stores: [{ status: "erased" }, { status: "erased", rows: 0 }] },
  });
});
