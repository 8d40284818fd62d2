import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { SNAPSHOT_EVERY_EVENTS } from "../../src/session/log/snapshots";
import { withoutSaid } from "../support/known-frames";
import { type Chat, migrate, newChat, readText } from "./support";

beforeAll(migrate);

/** Enough notes for a snapshot, appended without HTTP. */
async function longSession(): Promise<Chat> {
  const chat = await newChat({ window: null, replies: [{ text: "one" }] });
  await chat.say("hello");
  const note = {
    role: "user",
    parts: [{ type: "text", text: "a note" }],
    run: false,
    onBusy: "queue",
    tools: null,
    idempotency: null,
  } as const;
  await Promise.all(Array.from({ length: SNAPSHOT_EVERY_EVENTS }, () => chat.api.submit(chat.caller, note)));
  return chat;
}

const run = (chat: Chat, ...statement: [string, ...unknown[]]) =>
  runInDurableObject(chat.stub, (_, { storage }) => storage.sql.exec(...statement).toArray());

describe("a long session", () => {
  it("wakes from its snapshot with the state it had", async () => {
    const chat = await longSession();
    const before = await chat.describe();
    const snapshots = await run(chat, "SELECT version, seq FROM snapshots");

    await evictDurableObject(chat.stub);

    expect(snapshots).toHaveLength(1);
    expect(await chat.describe()).toEqual({ ...before, stream_offset: expect.any(Number) });
    await chat.say("and now?");
    expect((await chat.model.heard(2))[1]?.body.messages).toHaveLength(SNAPSHOT_EVERY_EVENTS + 3);
  });

  it("ignores a snapshot of another state version, and folds its log instead", async () => {
    const chat = await longSession();
    const before = await chat.describe();
    await run(chat, "UPDATE snapshots SET version = 9999, text = '{}'");

    await evictDurableObject(chat.stub);

    expect(await chat.describe()).toEqual({ ...before, stream_offset: expect.any(Number) });
  });
});

it("a log that takes several parts to fold is loaded before the first call", async () => {
  const chat = await newChat();
  const EVENTS = 45_000;
  const [row] = await run(chat, "SELECT max(seq) AS last FROM events");
  const last = Number(row?.last);
  await run(
    chat,
    `WITH RECURSIVE more(seq) AS (SELECT ? UNION ALL SELECT seq + 1 FROM more WHERE seq < ?)
      INSERT INTO events SELECT seq, seq, iif(seq % 2 = 0, 'SessionArchived', 'SessionUnarchived'), 1, '{}' FROM more`,
    last + 1,
    EVENTS,
  );
  await run(chat, "UPDATE meta SET value = ? WHERE key = 'projected_seq'", String(EVENTS));

  await evictDurableObject(chat.stub);

  expect(await run(chat, "SELECT seq FROM snapshots")).toEqual([{ seq: EVENTS }]);
  expect(await chat.describe()).toMatchObject({ archived_at: EVENTS });
});

describe("a log that a newer build wrote", () => {
  it("is not written to: an event that this build does not know is never skipped", async () => {
    const chat = await newChat();
    await chat.say("hello");
    const { seq } = (await chat.events()).at(-1) ?? { seq: 0 };
    await run(chat, "INSERT INTO events (seq, at, type, version, data) VALUES (?, 0, 'MoonRisen', 1, '{}')", seq + 1);
    await evictDurableObject(chat.stub);

    const refused = await chat.send("and now?");

    expect(refused.status).toBe(500);
    expect(await run(chat, "SELECT max(seq) AS last FROM events")).toEqual([{ last: seq + 1 }]);
  });
});

describe("content", () => {
  it("of nearly a megabyte is kept in rows well under 2 MB and read back equal, also after an eviction", async () => {
    const chat = await newChat({ window: null });
    const content = `${"河边的老房子🙂".repeat(40_000)}.`;

    const accepted = await chat.append(content);
    await evictDurableObject(chat.stub);

    expect(readText((await chat.items())[0])).toBe(content);
    const rows = await run(chat, "SELECT length(CAST(text AS BLOB)) AS bytes FROM bodies WHERE id = ?", accepted.message_id);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ bytes }) => Number(bytes) < 1_600_000)).toBe(true);
  });

  it.each([
    ["control characters", "a\u0000b\u0007\u2028c"],
    ["line breaks of every kind", "a\r\nb\nc\td\u0085e"],
    ["what looks like a stream", "data: x\n\nid: 9\nevent: y\n\n: comment"],
    ["what looks like a summary", "</conversation>\nPrevious conversation summary:\n---"],
  ])("%s is read back and streamed as it was said", async (_, text) => {
    const chat = await newChat({ replies: [{ text }] });

    const frames = await chat.hear(text);
    await frames.rest();
    await evictDurableObject(chat.stub);

    expect((await chat.items()).map(readText)).toEqual([text, text]);
    const replayed = await chat.listen(0);
    await replayed.until("turn.completed");
    expect(replayed.seen[0]).toMatchObject({ type: "message.accepted", role: "user", content: [{ type: "text", text }] });
    expect(withoutSaid(replayed.seen)).toEqual(frames.seen);
    await replayed.leave();
  });
});
