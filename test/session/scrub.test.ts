/**
 * The effects of a redaction outside of its event: the stream's memory, and the overwriting of deleted bytes. Each
 * survives a failed write or a crash.
 */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import { ringAlarm } from "../../src/session/alarm";
import type { Sql } from "../../src/session/log/sql";
import { createFaultySql, WriteFailedError } from "../support/faulty-sql";
import { findId } from "./contents";
import { CALLER, Life, settle } from "./life";
import { say } from "./talk";

const SECRET = "hunter2";

/** A database whose overwriting a test ends or interrupts. */
class Scrubs {
  readonly #open: { readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  readonly base = createNodeSql();
  readonly sql: Sql = {
    ...this.base,
    scrub: () => new Promise<void>((end, fail) => void this.#open.push({ end, fail })),
  };

  get begun(): number {
    return this.#open.length;
  }

  async end(number: number): Promise<void> {
    this.#open[number - 1]?.end();
    await settle();
  }

  async fail(number: number): Promise<void> {
    this.#open[number - 1]?.fail(new WriteFailedError());
    await settle();
  }
}

/** Two messages that may be redacted. */
async function spoken(sql: Sql): Promise<Life> {
  const life = new Life(sql);
  await life.open();
  await say(life, SECRET, "noted");
  await say(life, "swordfish", "noted, too");
  return life;
}

const redact = async (life: Life, text = SECRET) => life.service.redact(CALLER, await findId(life, text));

/** Creates the object again over the same database, and fires its alarm whenever it is set, until the overwriting is due. */
async function nextLife(sql: Sql, before: Life): Promise<Life> {
  const life = new Life(sql, "life-2");
  life.alarmAt = before.alarmAt;
  await ringUntilDue(life);
  return life;
}

async function ringUntilDue(life: Life): Promise<void> {
  const due = life.runtime.jobs.get("scrub")?.due_at ?? 0;
  while (life.alarmAt !== null && life.time.now() < due) {
    await life.advance(life.alarmAt - life.time.now());
    life.alarmAt = null;
    ringAlarm(life.runtime);
    await settle();
  }
}

describe("the overwriting of what a redaction deleted", () => {
  test("is finished by the next life when the object died in it", async () => {
    const scrubs = new Scrubs();
    const life = await spoken(scrubs.sql);
    void redact(life);
    await settle();
    expect(scrubs.begun).toBe(1);
    expect(life.alarmAt).not.toBeNull();

    const next = await nextLife(scrubs.sql, life);
    expect(scrubs.begun).toBe(2);
    expect(next.runtime.jobs.get("scrub")).not.toBeNull();
    await scrubs.end(2);

    expect(next.runtime.jobs.get("scrub")).toBeNull();
  });

  test("is done once, and leaves nothing to do, when nothing goes wrong", async () => {
    const scrubs = new Scrubs();
    const life = await spoken(scrubs.sql);
    const message = await findId(life, SECRET);
    const redacted = life.service.redact(CALLER, message);
    await settle();
    await scrubs.end(1);
    expect(await redacted).toMatchObject({ ok: true });
    expect(life.runtime.jobs.get("scrub")).toBeNull();

    expect(await life.service.redact(CALLER, message)).toMatchObject({ ok: true });

    expect(scrubs.begun).toBe(1);
  });

  test("is waited for by a client that repeats the request after a crash", async () => {
    const scrubs = new Scrubs();
    const life = await spoken(scrubs.sql);
    const message = await findId(life, SECRET);
    void life.service.redact(CALLER, message);
    await settle();

    const next = new Life(scrubs.sql, "life-2");
    let answered = false;
    const again = next.service.redact(CALLER, message).then((outcome) => {
      answered = true;
      return outcome;
    });
    await settle();
    expect([scrubs.begun, answered]).toEqual([2, false]);
    await scrubs.end(2);

    expect(await again).toMatchObject({ ok: true });
    expect(next.runtime.jobs.get("scrub")).toBeNull();
  });

  test("is tried again by the alarm when it fails there", async () => {
    const scrubs = new Scrubs();
    const life = await spoken(scrubs.sql);
    void redact(life);
    await settle();
    const next = await nextLife(scrubs.sql, life);
    await scrubs.fail(2);
    expect(next.log.lines).toContainEqual(expect.objectContaining({ event: "scrub_failed" }));

    await ringUntilDue(next);
    await scrubs.end(3);

    expect(next.runtime.jobs.get("scrub")).toBeNull();
  });

  test("stays due when another redaction was committed meanwhile", async () => {
    const scrubs = new Scrubs();
    const life = await spoken(scrubs.sql);
    void redact(life);
    await settle();
    void redact(life, "swordfish");
    await settle();

    await scrubs.end(1);
    expect(life.runtime.jobs.get("scrub")).not.toBeNull();
    await scrubs.end(2);

    expect(life.runtime.jobs.get("scrub")).toBeNull();
  });
});

describe("three redactions of which the second is settled first", () => {
  test("leave the third one due: the first does not take it for its own", async () => {
    const scrubs = new Scrubs();
    const life = await spoken(scrubs.sql);
    await say(life, "correct horse", "noted, again");
    const redactions = [redact(life)];
    await settle();
    redactions.push(redact(life, "swordfish"));
    await settle();
    await scrubs.end(2);
    expect(life.runtime.jobs.get("scrub")).toBeNull();

    redactions.push(redact(life, "correct horse"));
    await settle();
    await scrubs.end(1);
    expect(life.runtime.jobs.get("scrub")).not.toBeNull();

    await scrubs.end(3);
    expect(life.runtime.jobs.get("scrub")).toBeNull();
    expect((await Promise.all(redactions)).map(({ ok }) => ok)).toEqual([true, true, true]);
  });
});

describe("a redaction whose write fails", () => {
  const stored = (life: Life): string =>
    life.sql
      .all<{ lines: string }>("SELECT lines FROM frames")
      .map(({ lines }) => lines)
      .join("\n");

  test("loses no frame of the turn that is under way, and can be repeated", async () => {
    let fails = false;
    const sql = createFaultySql(createNodeSql(), (query) => (fails && query.startsWith("UPDATE frames") ? new WriteFailedError() : null));
    const life = await spoken(sql);
    await life.send("and now?");
    await life.say({ type: "text", text: "shown at once " });
    await life.say({ type: "text", text: "and pending" });
    expect(stored(life)).not.toContain("and pending");
    const message = await findId(life, SECRET);

    fails = true;
    await expect(life.service.redact(CALLER, message)).rejects.toThrow(WriteFailedError);
    fails = false;

    expect(stored(life)).toContain("and pending");
    expect(life.runtime.buffer.read(0, 1_000)).not.toEqual([]);
    expect(await life.service.redact(CALLER, message)).toMatchObject({ ok: true });
    expect(stored(life)).not.toContain("noted");
  });
});

describe("the chat that a redacted message came through", () => {
  const CHAT = { channel: "support", conversation: "chat:c1" };
  async function spokenInChat(): Promise<{ readonly life: Life; readonly asked: unknown[]; away: boolean }> {
    const life = new Life();
    const world = { life, asked: [] as unknown[], away: false };
    life.scrubChat = async (address) => {
      world.asked.push(address);
      if (world.away) throw new Error("away");
    };
    await life.open("oneclaw", null, { chat: CHAT });
    await say(life, SECRET, "noted");
    return world;
  }

  test("is asked to remove what it left, once", async () => {
    const { life, asked } = await spokenInChat();
    expect(await redact(life)).toMatchObject({ ok: true });
    expect([asked, life.runtime.jobs.get("scrub")]).toEqual([[{ tenant: CALLER.tenant, ...CHAT }], null]);
  });

  test("is asked again by the alarm while it is out of reach, and the redaction is answered before", async () => {
    const world = await spokenInChat();
    const { life, asked } = world;
    world.away = true;
    expect(await redact(life)).toMatchObject({ ok: true });
    expect(life.log.lines).toContainEqual(expect.objectContaining({ event: "chat_not_scrubbed" }));
    await ringUntilDue(life);
    expect([asked.length, life.runtime.jobs.get("scrub") === null]).toEqual([2, false]);

    world.away = false;
    await ringUntilDue(life);
    expect([asked.length, life.runtime.jobs.get("scrub")]).toEqual([3, null]);
  });
});
