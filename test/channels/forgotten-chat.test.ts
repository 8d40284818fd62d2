/** An erased conversation leaves no byte of its person in the files of the chat's object. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openChatStore } from "../../src/channels/chat/chat-rows";
import { overwriteFreed } from "../../src/lib/overwrite-freed";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import { id, TENANT } from "../support/builders";
import { toMessage } from "./chat-life";

const MARK = "zqunforgettable";
let folder: string;
let database: DatabaseSync;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "chat-"));
  database = new DatabaseSync(join(folder, "object.sqlite"));
  // As the platform keeps an object's database: with a write-ahead log that is copied after 1,000 pages.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 1000");
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const countMarks = (): number =>
  readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name), "latin1").split(MARK).length - 1, 0);

/** A store with the mark wherever a text or an id may be. */
function plantChat() {
  const store = openChatStore({
    rows: <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => database.prepare(statement).all(...params) as Row[],
    transaction: (body) => {
      database.exec("BEGIN");
      const value = body();
      database.exec("COMMIT");
      return value;
    },
  });
  const session = id("ses", 1);
  const delivery = toMessage(MARK, { id: MARK, message: MARK, user: MARK, chat: MARK });
  const { place, user } = delivery;
  store.transaction(() => {
    store.keepAddress({ tenant: TENANT, channel: "support", conversation: `user:${MARK}` });
    store.keepAudience({ place, user });
    store.sessions.add(session);
    store.deliveries.claim(MARK, 1);
    store.deliveries.add(delivery, { session, at: 1 });
    const turn = { turn: id("trn", 1), session, place, user, cursor: null, live: null, not_before: 1, since: 1 };
    store.turns.add({ ...turn, is_answered: false, is_scheduled: false });
    const part = { operation: "o", session, turn: null, place, markdown: MARK, buttons: [], edits: null, is_first: true };
    store.parts.add(part, 1);
    for (let n = 0; n < 3; n++)
      store.messages.put({ key: `${n}${MARK}`, session, item: id("msg", n + 1), turn: null, changed_at: null }, 1);
    store.early.put({ key: MARK, text: MARK, at: 1 }, { session: null, expires_at: 1 });
    store.times.note(`about ${MARK}`, 1);
  });
  return { store, session };
}
const overwrite = () => overwriteFreed({ sql: { exec: (statement) => database.exec(statement) }, sync: async () => {} });

it("when its session is erased", async () => {
  const { store, session } = plantChat();
  expect(countMarks()).toBeGreaterThanOrEqual(9);
  store.transaction(() => store.forgetSession(session));
  await overwrite();
  expect(countMarks()).toBe(0);
});

it("when its channel or its tenant is deleted; what came since of a new channel stays", async () => {
  const { store } = plantChat();
  store.transaction(() => store.deliveries.add(toMessage("New."), { session: null, at: 3 }));
  store.transaction(() => store.empty(2));
  expect(store.deliveries.first()?.delivery.event).toMatchObject({ text: "New." });
  expect(store.readAddress()).not.toBeNull();

  store.transaction(() => store.empty(3));
  await overwrite();
  expect([store.readAddress(), countMarks()]).toEqual([null, 0]);
});
