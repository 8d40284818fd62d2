/**
 * Temporary and permanent write failures: nothing acknowledged is lost, models are called a bounded number of times,
 * and clients are informed.
 */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import { toPolicyText } from "../../src/context/policy-choice";
import { ringAlarm } from "../../src/session/alarm";
import { writeBody } from "../../src/session/log/bodies";
import type { Sql } from "../../src/session/log/sql";
import { id } from "../support/builders";
import { createFaultySql, DiskFullError, WriteFailedError } from "../support/faulty-sql";
import { CALLER, Life, MESSAGE, settle } from "./life";

/** The writes fail from the moment at which a test sets `fails`. */
class Disk {
  fails: (query: string) => boolean = () => false;
  readonly base = createNodeSql();
  error: Error = new DiskFullError();
  readonly sql = createFaultySql(this.base, (query) => (this.fails(query) ? this.error : null));

  fill(): void {
    this.fails = () => true;
  }
  clear(): void {
    this.fails = () => false;
  }
}

async function opened(): Promise<{ disk: Disk; life: Life }> {
  const disk = new Disk();
  const life = new Life(disk.sql);
  await life.open();
  return { disk, life };
}

/** Minutes pass, and the alarm fires whenever it is set. */
async function pass(life: Life, minutes: number): Promise<number> {
  const end = life.time.now() + minutes * 60_000;
  let rings = 0;
  while (life.time.now() < end) {
    await life.advance(1_000);
    if (life.alarmAt === null || life.alarmAt > life.time.now()) continue;
    life.alarmAt = null;
    ringAlarm(life.runtime);
    rings++;
    await settle();
  }
  return rings;
}

/** A turn that is being answered when the disk becomes full. */
async function filledInTurn(): Promise<{ disk: Disk; life: Life; turn: NonNullable<Life["runtime"]["state"]["turn"]>["id"] }> {
  const { disk, life } = await opened();
  await life.send("first");
  const { turn } = life.runtime.state;
  if (!turn) throw new Error("no turn");
  disk.fill();
  return { disk, life, turn: turn.id };
}

describe("a turn whose end cannot be written", () => {
  test("asks its model once, however long it lasts", async () => {
    const { life } = await filledInTurn();
    await life.answer("one");

    await pass(life, 10);

    expect(life.calls).toHaveLength(1);
  });

  test("ends with the partial reply as soon as there is room, and no model is called for it again", async () => {
    const { disk, life } = await filledInTurn();
    await life.answer("one");
    await pass(life, 2);
    disk.clear();

    await pass(life, 2);

    expect(life.calls).toHaveLength(1);
    expect(life.runtime.state).toMatchObject({ turn: null, last_turn: { status: "failed", failure: { kind: "storage_full" } } });
    const items = await life.service.items(CALLER, { after: null, limit: 10, order: "asc" });
    expect(items).toMatchObject({ value: { data: [{ content: [{ text: "first" }] }, { content: [{ text: "one" }], incomplete: true }] } });
    expect(life.events().filter(({ type }) => type === "ModelCallFinished")).toHaveLength(1);
  });

  test("leaves no reply to the next turn, which an interruption stops before its run begins", async () => {
    const { disk, life } = await filledInTurn();
    await life.answer("one");
    disk.clear();
    await pass(life, 2);

    // Both calls arrive before the microtask in which the runner begins the first one's turn.
    const second = life.service.submit(CALLER, { ...MESSAGE, parts: [{ type: "text", text: "second" }] });
    const third = life.service.submit(CALLER, { ...MESSAGE, parts: [{ type: "text", text: "third" }], onBusy: "interrupt" });
    await Promise.all([second, third]);
    await settle();

    expect(life.events().filter(({ type }) => type === "TurnStopped")).toHaveLength(1);
    const items = await life.service.items(CALLER, { after: null, limit: 10, order: "asc" });
    const texts = ["first", "one", "second", "third"].map((text) => ({ content: [{ text }] }));
    expect(items).toMatchObject({ value: { data: texts } });
  });

  test("is answered as storage_full, to waiting clients and to later requests", async () => {
    const { life, turn } = await filledInTurn();
    const waiting = life.service.waitForTurn(CALLER, turn);
    await life.answer("one");

    expect(await waiting).toEqual({ ok: false, error: { code: "storage_full" } });
    expect(await life.service.submit(CALLER, MESSAGE)).toEqual({ ok: false, error: { code: "storage_full" } });
  });

  test("is reported to readers of the turn, whose stream ends", async () => {
    const { life, turn } = await filledInTurn();
    const stream = await life.service.stream(CALLER, { after: 0, turn });
    const heard = stream.ok ? new Response(stream.value).text() : "";
    await life.answer("one");

    expect(await heard).toContain('event: stream.halted\ndata: {"type":"stream.halted","reason":"storage_full"');
  });

  test("does not make the alarm ring without end", async () => {
    const { life } = await filledInTurn();
    await life.answer("one");

    expect(await pass(life, 10)).toBeLessThanOrEqual(25);
  });

  test("can be read, and erased", async () => {
    const { disk, life } = await filledInTurn();
    await life.answer("one");

    expect(await life.service.describe(CALLER)).toMatchObject({ ok: true });
    expect(await life.service.items(CALLER, { after: null, limit: 10, order: "asc" })).toMatchObject({ value: { data: [{}] } });
    disk.base.wipe = ((wipe) => async () => {
      disk.clear(); // the room is there again
      await wipe();
    })(disk.base.wipe);
    const next = new Life(
      createFaultySql(disk.base, (query) => (disk.fails(query) ? disk.error : null)),
      "life-2",
    );
    expect(await next.service.describe(CALLER)).toMatchObject({ ok: true });
    expect(await next.service.erase(CALLER)).toMatchObject({ ok: true });
    expect(next.runtime.state.lifecycle).toBe("erased");
  });

  test("goes on in a next life, which asks no model before it has written that it begins again", async () => {
    const { disk, life } = await filledInTurn();
    await life.answer("one");
    const next = new Life(disk.sql, "life-2");

    ringAlarm(next.runtime);
    await pass(next, 10);

    expect(next.calls).toHaveLength(0);
    disk.clear();
    await pass(next, 10);
    expect(next.runtime.state.turn === null || next.calls.length === 1).toBe(true);
  });
});

test("no model is asked where the call cannot be counted first", async () => {
  const { disk, life } = await opened();
  disk.fails = (query) => query.includes("INTO meta");
  await life.send("first");
  await pass(life, 10);

  expect(life.calls).toHaveLength(0);
  expect(life.runtime.state).toMatchObject({ turn: null, last_turn: { status: "failed", failure: { kind: "storage_full" } } });
});

test("a message that cannot be written is refused, and nothing of it is there", async () => {
  const { disk, life } = await opened();
  disk.fill();

  expect(await life.service.submit(CALLER, MESSAGE)).toEqual({ ok: false, error: { code: "storage_full" } });
  disk.clear();
  await pass(life, 1);
  expect(life.events()).toHaveLength(1);
  expect(await life.service.submit(CALLER, MESSAGE)).toMatchObject({ ok: true });
});

describe("a call that is repeated because its commit found no room", () => {
  const FULL = { ...CALLER, isFull: true } as const;
  const messages = [{ role: "user", parts: [{ type: "text", text: "brought" }] }] as const;
  const OPEN = { model: "test-model", policy: toPolicyText("oneclaw"), system: null, tools: null, title: null, metadata: {} };
  const page = { after: null, limit: 10, order: "asc" } as const;

  test("reads what is stored in a new life, while every write would fail, and recovers nothing", async () => {
    const { disk, turn } = await filledInTurn();
    const tried: string[] = [];
    disk.fails = (query) => {
      const writes = /^\s*(INSERT|UPDATE|DELETE|CREATE|DROP|REPLACE)/i.test(query);
      if (writes) tried.push(query);
      return writes;
    };
    const next = new Life(disk.sql, "life-2");

    expect(await next.service.describe(FULL)).toMatchObject({ ok: true, value: { turn: { id: turn } } });
    expect(await next.service.items(FULL, page)).toMatchObject({ ok: true, value: { data: [{ content: [{ text: "first" }] }] } });
    expect(await next.service.turn(FULL, turn)).toMatchObject({ ok: true, value: { status: "generating" } });
    expect(await next.service.waitForTurn(FULL, turn)).toEqual({ ok: false, error: { code: "storage_full" } });
    const stream = await next.service.stream(FULL, { after: 0, turn });
    expect(stream.ok && (await new Response(stream.value).text())).toContain("event: stream.halted");
    expect([tried, next.alarmAt]).toEqual([[], null]);
  });

  test("is refused if it would change something, and changes nothing", async () => {
    const { life } = await opened();
    const refused = { ok: false, error: { code: "storage_full" } };

    expect(await life.service.submit(FULL, MESSAGE)).toEqual(refused);
    expect(await life.service.importMessages(FULL, { messages, idempotency: null })).toEqual(refused);
    expect(await life.service.archive(FULL)).toEqual(refused);
    expect(await new Life().service.open(FULL, OPEN)).toEqual(refused);
    expect(life.events()).toHaveLength(1);
  });

  test("erases the session all the same: emptying it needs no room first", async () => {
    const { life } = await opened();

    expect(await life.service.erase(FULL)).toMatchObject({ ok: true, value: { stores: [{ status: "erased" }, { status: "erased" }] } });
    expect(life.runtime.state.lifecycle).toBe("erased");
  });
});

describe("between two turns", () => {
  test.each([new DiskFullError(), new WriteFailedError()])(
    "one failed write (%s) does not strand what waits: the next alarm goes on",
    async (error) => {
      const { disk, life } = await opened();
      disk.error = error;
      await life.send("first");
      await life.send("second");
      let once = true;
      disk.fails = (query) => {
        if (!once || !query.startsWith("INSERT INTO turns") || life.runtime.state.turn !== null) return false;
        once = false;
        return true;
      };
      await life.answer("one");
      expect(once).toBe(false);
      expect(life.runtime.state).toMatchObject({ turn: null, queue: [{}] });

      await pass(life, 1);

      expect(life.runtime.state).toMatchObject({ turn: { phase: "generating" }, queue: [] });
      expect(life.calls).toHaveLength(2);
    },
  );
});

describe("a database that holds no more pages", () => {
  const SAID = "x".repeat(20_000);

  /** Fills the database with imported messages until one is refused. */
  async function filled(sql: Sql, life = new Life(sql)): Promise<{ life: Life; taken: number }> {
    if (!life.runtime.exists) await life.open();
    for (let taken = 0; taken < 100; taken++) {
      const parts = [{ type: "text", text: `${taken} ${SAID}` }] as const;
      const appended = await life.service.submit(CALLER, { ...MESSAGE, run: false, parts });
      if (!appended.ok) {
        expect(appended.error).toEqual({ code: "storage_full" });
        return { life, taken };
      }
    }
    throw new Error("it was never full");
  }

  test("takes no content of a client in any way", async () => {
    const sql = createNodeSql({ maxPages: 200 });
    const { life } = await filled(sql);
    const messages = [{ role: "user", parts: [{ type: "text", text: SAID }] }] as const;
    const before = life.events().length;

    expect(await life.service.importMessages(CALLER, { messages, idempotency: null })).toEqual({
      ok: false,
      error: { code: "storage_full" },
    });
    expect(life.events()).toHaveLength(before);
  });

  test("is not filled completely: refusals leave room for the end of running work", async () => {
    const { life, taken } = await filled(createNodeSql({ maxPages: 200 }));
    const items = await life.service.items(CALLER, { after: null, limit: 100, order: "asc" });
    expect(items).toMatchObject({ ok: true, value: { data: { length: taken } } });
    expect(await life.service.erase(CALLER)).toMatchObject({ ok: true });
  });

  test("records the end of a turn that runs when it is full", async () => {
    const sql = createNodeSql({ maxPages: 200 });
    const life = new Life(sql);
    await life.open();
    await life.send("first");
    await filled(sql, life);
    await life.answer(SAID);

    expect(life.runtime.state.last_turn?.status).toBe("completed");
  });

  test("asks no model for a turn that was acknowledged before it was full, and records why", async () => {
    const sql = createNodeSql({ maxPages: 200 });
    const life = new Life(sql);
    await life.open();
    await life.send("first");
    await life.send("second");
    for (let n = 0; !sql.isFull(); n++) life.runtime.transact(() => writeBody(sql, { id: id("bod", n), text: SAID }));
    await life.answer("one");
    await pass(life, 1);

    expect(life.calls).toHaveLength(1);
    expect(life.runtime.state).toMatchObject({ turn: null, queue: [], last_turn: { failure: { kind: "storage_full" } } });
    const first = life.events().find(({ type }) => type === "TurnCompleted");
    expect(first).toBeDefined();
  });

  test("also where the engine itself refuses, is read, asks no model without end, and can be erased", async () => {
    const sql = createNodeSql({ maxPages: 200 });
    const { life } = await filled({ ...sql, isFull: () => false });
    const next = new Life({ ...sql, isFull: () => false }, "life-2");
    await pass(next, 10);

    expect(life.calls.length + next.calls.length).toBe(0);
    expect(await next.service.items(CALLER, { after: null, limit: 100, order: "asc" })).toMatchObject({ ok: true });
    expect(await next.service.erase(CALLER)).toMatchObject({ ok: true });
    expect(next.runtime.state.lifecycle).toBe("erased");
  });
});
