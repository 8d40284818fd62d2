/** The contract of the stored live stream over any database: see `event-log-contract`. */
import { expect, test } from "vitest";
import type { Frame } from "../../src/contract/frame";
import { migrateSession } from "../../src/session/log/log-schema";
import type { Sql } from "../../src/session/log/sql";
import type { FrameLine } from "../../src/session/stream/frames";
import { SHOW_EVERY_MS, StreamBuffer } from "../../src/session/stream/stream-buffer";
import { id, itemId, turnId } from "./builders";
import type { WithSql } from "./event-log-contract";
import { FakeSchedule } from "./fake-schedule";

const accepted = (n: number): Frame => ({
  type: "message.accepted",
  message_id: itemId(n),
  turn_id: turnId(n),
  position: n,
  queued: false,
});
const delta = (text: string, type: "text.delta" | "reasoning.delta" = "text.delta") =>
  ({ type, turn_id: turnId(1), message_id: itemId(1), text }) as const;

/** Everything after an offset, as a reader receives it: step by step. */
function readAll(buffer: StreamBuffer, after = 0): FrameLine[] {
  const lines: FrameLine[] = [];
  for (let more = buffer.read(after, 1_000); more.length > 0; more = buffer.read(lines.at(-1)?.offset ?? 0, 1_000)) lines.push(...more);
  return lines;
}

const readTexts = (buffer: StreamBuffer, after = 0): string[] =>
  readAll(buffer, after).flatMap((line) => (line.type.endsWith(".delta") ? [(JSON.parse(line.json) as { text: string }).text] : []));
const stored = (sql: Sql): { first: number; last: number }[] =>
  sql.all<{ first: number; last: number }>("SELECT first, last FROM frames ORDER BY first");
const lastStored = (sql: Sql): number => stored(sql).at(-1)?.last ?? 0;

/** A buffer over `sql` as a new life of the object would create it. */
function wake(sql: Sql): { buffer: StreamBuffer; time: FakeSchedule; logged: string[] } {
  migrateSession(sql);
  const time = new FakeSchedule();
  const logged: string[] = [];
  const note = (event: string): void => void logged.push(event);
  const log = { info: note, warn: note, error: note };
  return { buffer: new StreamBuffer({ sql, now: time.now, schedule: time.schedule, log }), time, logged };
}

/** A reader that waits for more frames, like every reader at the live end. */
const listen = (buffer: StreamBuffer): void => void buffer.onNext(() => {});

export function streamBufferContract(withSql: WithSql): void {
  storingRules(withSql);
  sizeRules(withSql);
  crashRules(withSql);
  pruningRules(withSql);
}

function storingRules(withSql: WithSql): void {
  test("a frame is stored when it is shown", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      buffer.publish(accepted(1));
      expect(buffer.read(0, 10).map((line) => line.offset)).toEqual([lastStored(sql)]);
    }));

  test("the first delta is stored before anyone is shown it", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      const shown: number[] = [];
      buffer.onNext(() => shown.push(lastStored(sql)));

      buffer.publishDelta(delta("Hel"));

      expect(readTexts(buffer)).toEqual(["Hel"]);
      expect(shown).toEqual([buffer.offset]);
    }));

  test("deltas of one kind that follow one another are joined; another kind begins a frame of its own", () =>
    withSql((sql) => {
      const { buffer, time } = wake(sql);
      buffer.publishDelta(delta("a"));
      listen(buffer);
      for (const text of ["b", "c", "d"]) buffer.publishDelta(delta(text));
      buffer.publishDelta(delta("why", "reasoning.delta"));
      expect(readTexts(buffer)).toEqual(["a", "bcd"]);

      time.advance(SHOW_EVERY_MS);

      expect(readTexts(buffer)).toEqual(["a", "bcd", "why"]);
    }));

  test("a delta that comes almost as late as the pace of showing is shown at once", () =>
    withSql((sql) => {
      const { buffer, time } = wake(sql);
      buffer.publishDelta(delta("a"));
      time.advance(SHOW_EVERY_MS - 11);
      listen(buffer);
      buffer.publishDelta(delta("b"));
      expect(readTexts(buffer)).toEqual(["a"]);
      time.advance(11);
      expect(readTexts(buffer)).toEqual(["a", "b"]);

      time.advance(SHOW_EVERY_MS - 10);
      listen(buffer);
      buffer.publishDelta(delta("c"));

      expect(readTexts(buffer)).toEqual(["a", "b", "c"]);
    }));

  test("deltas without a waiting reader get no frame of their own until they are stored, a second later", () =>
    withSql((sql) => {
      const { buffer, time } = wake(sql);
      for (const text of ["a", "b", "c", "d"]) buffer.publishDelta(delta(text));
      time.advance(999);
      expect(readTexts(buffer)).toEqual(["a"]);

      time.advance(1);

      expect(readTexts(buffer)).toEqual(["a", "bcd"]);
      expect(lastStored(sql)).toBe(buffer.offset);
    }));

  test("what is shown is stored at most a second later", () =>
    withSql((sql) => {
      const { buffer, time } = wake(sql);
      buffer.publishDelta(delta("a"));
      buffer.publishDelta(delta("b"));
      listen(buffer);
      time.advance(SHOW_EVERY_MS);
      expect(lastStored(sql)).toBe(buffer.offset - 1);

      time.advance(1_000);

      expect(lastStored(sql)).toBe(buffer.offset);
    }));

  test("what is shown is stored without delay once it is much", () =>
    withSql((sql) => {
      const { buffer, time } = wake(sql);
      buffer.publishDelta(delta("a"));
      const half = "x".repeat(8_000);
      buffer.publishDelta(delta(half));
      listen(buffer);
      time.advance(SHOW_EVERY_MS);
      buffer.publishDelta(delta(half));
      expect([readTexts(buffer).length, lastStored(sql)]).toEqual([2, buffer.offset - 1]);

      buffer.publishDelta(delta("x".repeat(400)));

      expect(readTexts(buffer)).toEqual(["a", half, `${half}${"x".repeat(400)}`]);
      expect(lastStored(sql)).toBe(buffer.offset);
    }));

  test("deltas without a waiting reader are stored in one frame once they reach a size", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      for (let n = 0; n < 33; n++) buffer.publishDelta(delta("x".repeat(500)));

      expect(readTexts(buffer).map((text) => text.length)).toEqual([500]);
      buffer.publishDelta(delta("x".repeat(500)));

      expect(readTexts(buffer).map((text) => text.length)).toEqual([500, 16_500]);
      expect(lastStored(sql)).toBe(buffer.offset);
    }));

  test("a frame comes after the deltas before it, joined or not yet shown", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      buffer.publishDelta(delta("a"));
      buffer.publishDelta(delta("b"));
      buffer.publish(accepted(2));
      expect(buffer.read(0, 10).map((line) => line.type)).toEqual(["text.delta", "text.delta", "message.accepted"]);
      expect(lastStored(sql)).toBe(buffer.offset);
    }));

  test("frames read from the table equal those read from memory, and name where a turn began", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      for (const n of [1, 2, 3]) buffer.publish(accepted(n));
      const { buffer: other } = wake(sql);

      expect(other.read(0, 10)).toEqual(buffer.read(0, 10));
      expect(other.findStart(turnId(2))).toBe(buffer.findStart(turnId(2)));
      expect(other.read(other.findStart(turnId(2)) ?? 0, 1)).toMatchObject([{ turn: turnId(2) }]);
      expect(other.findStart(turnId(9))).toBeNull();
    }));
}

function crashRules(withSql: WithSql): void {
  test("after a crash no offset is given again that was shown before it, stored or not", () =>
    withSql((sql) => {
      const { buffer, time } = wake(sql);
      buffer.publishDelta(delta("a"));
      for (let n = 0; n < 5; n++) {
        buffer.publishDelta(delta("b"));
        listen(buffer);
        time.advance(SHOW_EVERY_MS);
      }
      const shown = buffer.offset;
      expect(lastStored(sql)).toBeLessThan(shown);

      const { buffer: next } = wake(sql);
      next.publish(accepted(2));

      expect(next.read(shown, 10)).toHaveLength(1);
      expect(next.offset).toBeGreaterThan(shown);
    }));

  test("a client that is ahead of the stored stream is told to rewind to its end", () =>
    withSql((sql) => {
      const { buffer, time } = wake(sql);
      buffer.publishDelta(delta("a"));
      buffer.publishDelta(delta("b"));
      listen(buffer);
      time.advance(SHOW_EVERY_MS);
      const ahead = buffer.offset;

      const { buffer: next } = wake(sql);
      expect(next.locate(ahead)).toEqual({ kind: "rewind", offset: ahead - 1 });
      next.publish(accepted(2));

      expect(next.locate(ahead)).toEqual({ kind: "rewind", offset: ahead - 1 });
      expect(next.read(ahead - 1, 10)).toMatchObject([{ type: "message.accepted" }]);
    }));

  test("a client that stands at a stored frame goes on from there", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      buffer.publish(accepted(1));
      const at = buffer.offset;
      buffer.publish(accepted(2));
      expect(wake(sql).buffer.locate(at)).toEqual({ kind: "known", offset: at });
    }));

  test("an emptied database starts over without giving an offset twice to those who listen", () =>
    withSql(async (sql) => {
      const { buffer } = wake(sql);
      buffer.publish(accepted(1));
      const before = buffer.offset;
      await sql.wipe();
      buffer.forget();
      migrateSession(sql);

      buffer.publish({ type: "session.erased" });

      expect(buffer.offset).toBeGreaterThan(before);
      expect(buffer.read(before, 10)).toMatchObject([{ type: "session.erased" }]);
    }));
}

const HAN = "\u6f22";

const itemFrame = (n: number, text: string): Extract<Frame, { type: "item.completed" }> => ({
  type: "item.completed",
  turn_id: turnId(1),
  item: {
    id: itemId(n),
    position: n,
    role: "assistant",
    content: [{ type: "text", text }],
    name: null,
    client_id: null,
    metadata: {},
    turn_id: turnId(1),
    created_at: 1,
    recorded_at: 1,
    incomplete: false,
    tokens: { tokens: 1, source: "estimated", error_bound: 1 },
  },
});

const awaitingFrame = (units: number): Frame => ({
  type: "turn.awaiting_tools",
  turn_id: turnId(1),
  tool_calls: [1, 2, 3].map((n) => ({
    id: id("exe", n),
    call_id: `c${n}`,
    name: "look",
    arguments: HAN.repeat(units),
    runs: "client" as const,
    approval: null,
  })),
});

const heaviestRow = (sql: Sql): number =>
  sql.all<{ bytes: number }>("SELECT max(length(CAST(lines AS BLOB))) AS bytes FROM frames")[0]?.bytes ?? 0;
/** Above the bound of a pack by the size of a line without its JSON, and far below the platform's 2 MB. */
const ROW_BYTES = 1_010_000;

function sizeRules(withSql: WithSql): void {
  test("what is published together and is too much for one row is stored in several, and read back whole", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      buffer.publish(...[1, 2, 3].map((n) => itemFrame(n, HAN.repeat(120_000))), awaitingFrame(100_000), accepted(2));

      expect(heaviestRow(sql)).toBeLessThan(ROW_BYTES);
      expect(stored(sql).length).toBeGreaterThan(1);
      const again = wake(sql).buffer;
      expect(readAll(again)).toHaveLength(5);
      expect(readAll(again)).toEqual(readAll(buffer));
    }));

  test("a frame that alone is too large for a row, by its bytes, is announced without its content", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      buffer.publish(itemFrame(1, HAN.repeat(350_000)), awaitingFrame(120_000));

      const shown = buffer.read(0, 2).map(({ json }) => JSON.parse(json));
      expect(shown).toMatchObject([
        { type: "item.completed", item: { id: itemId(1), content: [] }, content_omitted: true },
        { type: "turn.awaiting_tools", tool_calls: [], content_omitted: true },
      ]);
    }));

  test.each([
    ["of many bytes", HAN],
    ["that JSON escapes", "\u0001"],
    ["of pairs", "x\u{1f600}"],
  ])("a delta %s that is too large for a row is shown in pieces, and none of its text is lost", (_, character) =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      const text = character.repeat(450_000 / character.length);
      buffer.publishDelta(delta(text));

      expect(heaviestRow(sql)).toBeLessThan(ROW_BYTES);
      const pieces = readTexts(buffer);
      expect(pieces.join("")).toBe(text);
      expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    }),
  );

  test("what a reader is given at once, and what is held for readers, is bounded by its size and not by a count of frames", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      const size = 60_000;
      let most = 0;
      for (let n = 1; n <= 60; n++) {
        buffer.publish(itemFrame(n, "x".repeat(size)));
        most = Math.max(most, buffer.heldUnits);
      }

      expect(most).toBeLessThan(1_100_000);
      for (let at = 0; at < 60; ) {
        const lines = buffer.read(at, 256);
        expect(lines[0]?.offset).toBe(at + 1);
        expect(lines.reduce((sum, { json }) => sum + json.length, 0)).toBeLessThan(200_000);
        at = lines.at(-1)?.offset ?? 60;
      }
    }));

  test("frames whose offsets cannot be reserved are not shown; a gap tells of them, and no offset is given twice", () =>
    withSql((sql) => {
      const { buffer, logged } = wake(sql);
      sql.script("CREATE TRIGGER full BEFORE INSERT ON meta WHEN NEW.key = 'stream_reserved' BEGIN SELECT RAISE(ABORT, 'full'); END");
      buffer.publish(accepted(1), accepted(2));
      expect(buffer.read(0, 10)).toEqual([]);
      expect(logged).toContain("offsets_not_reserved");
      sql.script("DROP TRIGGER full");

      buffer.publish(accepted(3));

      expect(buffer.read(0, 10).map(({ type }) => type)).toEqual(["stream.gap", "message.accepted"]);
      const { buffer: next } = wake(sql);
      next.publish(accepted(4));
      expect(next.offset).toBeGreaterThan(buffer.offset + 1);
    }));

  test("frames that the database does not take are shown, logged and dropped; who reads them later hears of a gap", () =>
    withSql((sql) => {
      const { buffer, logged } = wake(sql);
      buffer.publish(accepted(1));
      sql.script("CREATE TRIGGER full BEFORE INSERT ON frames BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
      buffer.publish(accepted(2), accepted(3));
      buffer.publish(accepted(4));
      expect(buffer.read(0, 10)).toHaveLength(4);
      expect(logged).toEqual(["frames_not_stored", "frames_not_stored"]);
      sql.script("DROP TRIGGER full");

      buffer.publish(accepted(5));

      const heard = wake(sql).buffer.read(0, 10);
      expect(heard.map(({ offset, type }) => [offset, type])).toEqual([
        [1, "message.accepted"],
        [4, "stream.gap"],
        [5, "message.accepted"],
      ]);
    }));
}

function pruningRules(withSql: WithSql): void {
  test("pruning is due in a new life, and then not before another fifty packs were stored", () =>
    withSql((sql) => {
      const first = wake(sql).buffer;
      for (let n = 1; n <= 450; n++) first.publish(accepted(n));
      const { buffer } = wake(sql);

      buffer.prune();
      expect(stored(sql)).toHaveLength(400);
      for (let n = 1; n < 50; n++) buffer.publish(accepted(n));
      buffer.prune();
      expect(stored(sql)).toHaveLength(449);
      buffer.publish(accepted(50));
      buffer.prune();
      expect(stored(sql)).toHaveLength(400);
    }));

  test("a client whose place was pruned is told from where on there is something to hear", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      for (let n = 1; n <= 450; n++) buffer.publish(accepted(n));
      const first = stored(sql)[0]?.first ?? 0;

      buffer.prune();

      const { buffer: next } = wake(sql);
      const kept = stored(sql)[0]?.first ?? 0;
      expect(kept).toBeGreaterThan(first);
      expect(next.locate(first)).toEqual({ kind: "pruned", offset: kept - 1 });
      expect(next.read(kept - 1, 1)).toMatchObject([{ offset: kept }]);
    }));

  test("so is one that asks for everything from the start on, and one whose place was pruned in the same life", () =>
    withSql((sql) => {
      const { buffer } = wake(sql);
      expect(buffer.locate(0)).toEqual({ kind: "known", offset: 0 });
      for (let n = 1; n <= 450; n++) buffer.publish(accepted(n));
      expect(buffer.locate(0)).toEqual({ kind: "known", offset: 0 });

      buffer.prune();

      expect(buffer.locate(0)).toEqual({ kind: "pruned", offset: 50 });
      expect(buffer.locate(49)).toEqual({ kind: "pruned", offset: 50 });
      expect(buffer.locate(50)).toEqual({ kind: "known", offset: 50 });
    }));
}
