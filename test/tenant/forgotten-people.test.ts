/** An erased end user leaves no byte in the files of the tenant's object: as a person of a channel, and as the name of a chat. */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SyncSql } from "../../src/lib/sync-sql";
import { forgetPerson } from "../../src/tenant/channels/channel-people";
import { migrateTenant } from "../../src/tenant/core/tenant-schema";
import { createSessionChats } from "../../src/tenant/erasure/session-chats";
import { type ObjectFiles, openObjectFiles } from "../support/object-files";
import { makeId } from "./support";

const PERSON = "zqunforgettable";
let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
});
afterEach(() => files.remove());

function openSql(): SyncSql {
  const { sql } = files;
  sql.transaction(() => migrateTenant(sql));
  return sql;
}

it("of a pairing, an access list, guesses and the log; others stay", async () => {
  const sql = openSql();
  const settings = JSON.stringify({ type: "telegram", access: { mode: "pairing", users: ["eve", PERSON, "joe"] } });
  sql.rows("INSERT INTO channels (name, settings, secrets, created_at, updated_at) VALUES ('desk', ?, '[]', 1, 1)", settings);
  for (const user of ["eve", PERSON, "joe"]) {
    sql.rows("INSERT INTO channel_users (channel, user, paired_at) VALUES ('desk', ?, 1)", user);
    sql.rows("INSERT INTO pairing_guesses (channel, user, at) VALUES ('desk', ?, 1)", user);
    const columns = "channel, id, at, kind, reason, number, delivery, end_user";
    const values = [`of ${user}`, `of ${user}`, `digest of ${user}`.slice(0, 13)];
    sql.rows(`INSERT INTO channel_log (${columns}) VALUES ('desk', ?, 1, 'reply_failed', 'r', 1, ?, ?)`, ...values);
  }

  const unlisted: true[] = [];
  expect(
    sql.transaction(() =>
      forgetPerson(sql, { endUser: `telegram:${PERSON}`, digest: "digest of zqu", unlisted: () => unlisted.push(true) }),
    ),
  ).toBe(true);
  await files.scrub();

  expect([files.count(PERSON), unlisted]).toEqual([0, [true]]);
  expect(sql.rows("SELECT user FROM channel_users ORDER BY user")).toEqual([{ user: "eve" }, { user: "joe" }]);
  expect(sql.rows("SELECT id FROM channel_log ORDER BY seq")).toEqual([{ id: "of eve" }, { id: "of joe" }]);
  expect(sql.rows<{ settings: string }>("SELECT settings FROM channels")[0]?.settings).toContain('"users":["eve","joe"]');
});

it("of the same id on another platform is another person", () => {
  const sql = openSql();
  const settings = JSON.stringify({ type: "slack", access: { mode: "allow_list", users: [PERSON] } });
  sql.rows("INSERT INTO channels (name, settings, secrets, created_at, updated_at) VALUES ('desk', ?, '[]', 1, 1)", settings);

  expect(sql.transaction(() => forgetPerson(sql, { endUser: `telegram:${PERSON}`, digest: "d", unlisted: () => {} }))).toBe(false);
  expect(sql.transaction(() => forgetPerson(sql, { endUser: PERSON, digest: "d", unlisted: () => {} }))).toBe(false);
  expect(files.count(PERSON)).toBeGreaterThan(0);
});

it("of the key of a conversation, which is kept while the chat is out of reach", async () => {
  const sql = openSql();
  const reach = { isAway: true };
  const session = makeId("ses", 1);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const call = async () => {
    if (reach.isAway) throw new Error("away");
  };
  const chats = createSessionChats({
    ...{ sql, log, tenant: () => makeId("ten", 1), isDeleted: () => false, noteScrub: () => {}, now: () => 1 },
    chats: () => ({ forgetSession: call, empty: call }),
    alarm: { get: async () => null, set: () => {} },
  });
  chats.note(makeId("ses", 2), { channel: "desk", conversation: "user:eve" });
  chats.note(session, { channel: "desk", conversation: `user:${PERSON}` });
  chats.note(makeId("ses", 3), { channel: "desk", conversation: "user:joe" });

  expect(await chats.forget(session)).toBe(false);
  expect(files.count(PERSON)).toBeGreaterThan(0);
  reach.isAway = false;
  expect(await chats.forget(session)).toBe(true);
  await files.scrub();

  expect(files.count(PERSON)).toBe(0);
  expect(sql.rows("SELECT count(*) AS n FROM session_chats")).toEqual([{ n: 2 }]);
});

it("of a chat whose channel was deleted, which the alarm empties again and again until it is reached", async () => {
  const sql = openSql();
  const world = { now: 1_000, alarms: [] as number[], isAway: true, emptied: [] as string[] };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const chats = createSessionChats({
    ...{ sql, log, tenant: () => makeId("ten", 1), isDeleted: () => false, noteScrub: () => {}, now: () => world.now },
    chats: ({ conversation }) => ({
      forgetSession: async () => {},
      empty: async (_, at) => {
        if (world.isAway) throw new Error("away");
        world.emptied.push(`${conversation} ${at}`);
      },
    }),
    alarm: { get: async () => world.alarms.at(-1) ?? null, set: (at) => void world.alarms.push(at) },
  });
  for (const n of [1, 2]) chats.note(makeId("ses", n), { channel: "desk", conversation: `user:${PERSON}` });
  chats.note(makeId("ses", 3), { channel: "other", conversation: "user:eve" });
  sql.transaction(() => chats.leave("desk"));
  expect(world.alarms).toEqual([1_000]);
  await chats.run();
  expect(chats.nextDue()).toBeGreaterThan(1_000);
  world.isAway = false;
  world.now = chats.nextDue() ?? 0;
  await chats.run();

  expect(world.emptied).toEqual([`user:${PERSON} 1000`]);
  expect(chats.nextDue()).toBeNull();
});
