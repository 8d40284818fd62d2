/** An erased conversation leaves no byte of its person in the files of the chat's object. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { openChatStore } from "../../src/channels/chat/chat-rows";
import { id, TENANT } from "../support/builders";
import { toMark } from "../support/marks";
import { type ObjectFiles, openObjectFiles } from "../support/object-files";
import { toMessage } from "./chat-life";

const MARK = "zqunforgettable";
const TEXT = `${MARK} words`;
let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
});
afterEach(() => files.remove());

/** A store with the mark wherever a text or an id may be. */
function plantChat() {
  const store = openChatStore(files.sql);
  const session = id("ses", 1);
  const delivery = toMessage(TEXT, { id: MARK, message: MARK, user: MARK, chat: MARK });
  const { place, user } = delivery;
  store.transaction(() => {
    store.keepAddress({ tenant: TENANT, channel: "support", conversation: `user:${MARK}` });
    store.keepAudience({ place, user });
    store.sessions.add(session);
    store.deliveries.claim(MARK, 1);
    store.deliveries.add(delivery, { session, at: 1 });
    const turn = { turn: id("trn", 1), session, place, user, cursor: null, live: null, not_before: 1, since: 1 };
    store.turns.add({ ...turn, is_answered: false, is_scheduled: false });
    const part = { operation: "o", session, turn: null, place, markdown: TEXT, buttons: [], edits: null, is_first: true };
    store.parts.add(part, 1);
    for (let n = 0; n < 3; n++)
      store.messages.put({ key: `${n}${MARK}`, session, item: id("msg", n + 1), turn: null, changed_at: null }, 1);
    store.early.put({ key: MARK, text: TEXT, at: 1 }, { session: null, expires_at: 1 });
    store.times.note(`about ${MARK}`, 1);
  });
  return { store, session };
}
/** Several rows are tried again and again: they become longer and shorter, and move within their pages. */
function tryAgain({ store, session }: ReturnType<typeof plantChat>): void {
  const { place, user, ...delivery } = toMessage(TEXT);
  const live = { operation: "o", state: "shown", message: "p1", units: 1, digest: "" } as const;
  store.transaction(() => {
    for (let n = 2; n <= 4; n++) {
      store.deliveries.add({ ...delivery, place, user }, { session, at: 1 });
      const turn = { turn: id("trn", n), session, place, user, cursor: null, live: null, not_before: 1, since: 1 };
      store.turns.add({ ...turn, user: { ...user, name: TEXT }, is_answered: false, is_scheduled: false });
      const part = { operation: `o${n}`, session, turn: null, place, markdown: TEXT, buttons: [], edits: null, is_first: true };
      store.parts.add(part, 1);
    }
    for (let n = 0; n < 40; n++) {
      const [row, at] = [2 + (n % 3), n % 2 ? 1_800_000_000_000 : 1];
      store.deliveries.postpone(row, at);
      store.turns.postpone(id("trn", row), at);
      store.turns.show(id("trn", row), n % 2 ? live : null);
      store.parts.begin(`o${row}`);
      store.parts.postpone(`o${row}`, { not_before: at });
    }
  });
}

it("of messages that were handled, once it is scrubbed after a redaction, however many there were; what waits stays", async () => {
  const { store, session } = plantChat();
  const { place } = toMessage("");
  const toText = (n: number) => `${toMark(n)} ${"words ".repeat(n % 40)}`;
  for (let n = 0; n < 300; n++) {
    store.transaction(() => {
      store.deliveries.add(toMessage(toText(n)), { session, at: 1 });
      store.parts.add({ operation: `h${n}`, session, turn: null, place, markdown: toText(n), buttons: [], edits: null, is_first: true }, 1);
    });
    // Some wait for long, so that others lie around them.
    if (n % 7 !== 0) store.transaction(() => store.parts.remove(`h${n}`));
  }
  for (let n = 0; n < 290; n++) store.transaction(() => store.deliveries.remove(n + 2));
  for (let n = 0; n < 290; n++) if (n % 7 === 0) store.transaction(() => store.parts.remove(`h${n}`));

  await files.scrub();

  expect(files.findMarks()).toEqual(Array.from({ length: 10 }, (_, n) => toMark(290 + n)));
});

it("when its session is erased", async () => {
  const { store, session } = plantChat();
  expect(files.count(MARK)).toBeGreaterThanOrEqual(9);
  store.transaction(() => store.forgetSession(session));
  await files.scrub();
  expect(files.count(MARK)).toBe(0);
});

it("when its session is erased after what waits of it was tried again and again", async () => {
  const planted = plantChat();
  tryAgain(planted);
  planted.store.transaction(() => planted.store.forgetSession(planted.session));
  await files.scrub();
  expect(files.count(MARK)).toBe(0);
});

it("when its session is erased after rows of it became longer, while a message for another session waits, which stays", async () => {
  const { store, session } = plantChat();
  store.transaction(() => {
    for (let n = 2; n <= 8; n++) store.deliveries.add(toMessage(TEXT), { session, at: 1 });
    for (let n = 2; n <= 8; n += 2) store.deliveries.postpone(n, 1_800_000_000_000);
  });
  const other = id("ses", 2);
  const { place, user } = toMessage("New.");
  store.transaction(() => {
    store.sessions.add(other);
    store.deliveries.add(toMessage("New."), { session: other, at: 3 });
    const turn = { turn: id("trn", 9), session: other, place, user, cursor: null, live: null, not_before: 1, since: 1 };
    store.turns.add({ ...turn, is_answered: false, is_scheduled: false });
    // It came before its message, so that no session is known of it. It goes when its time is over.
    store.early.remove(MARK);
  });
  expect(files.count(TEXT)).toBeGreaterThan(0);

  store.transaction(() => store.forgetSession(session));
  await files.scrub();

  expect(files.count(TEXT)).toBe(0);
  expect(store.deliveries.first()?.delivery.event).toMatchObject({ text: "New." });
  expect(store.turns.find(id("trn", 9))).toMatchObject({ session: other });
  expect(store.turns.find(id("trn", 1))).toBeNull();
});

it("when its person had it erased, once the answer was sent and a day has passed", async () => {
  const planted = plantChat();
  const { store, session } = planted;
  tryAgain(planted);
  store.transaction(() => {
    store.deliveries.add(toMessage("/forget"), { session: null, at: 2 });
    store.forgetSession(session);
  });
  store.transaction(() => store.deliveries.remove(store.deliveries.first()?.seq ?? 0));
  expect(store.isBare()).toBe(true);
  store.transaction(() => store.forgetPeople());
  await files.scrub();
  expect(files.count(MARK)).toBe(0);
});

it("and gives out no place of a delivery twice, because a worker may still hold one that is gone", async () => {
  const { store, session } = plantChat();
  const before = store.deliveries.first()?.seq ?? 0;
  store.transaction(() => store.forgetSession(session));
  store.transaction(() => store.deliveries.add(toMessage("New."), { session: null, at: 3 }));
  expect(store.deliveries.first()?.seq).toBe(before + 1);
});

it("when its channel or its tenant is deleted; what came since of a new channel stays", async () => {
  const { store } = plantChat();
  store.transaction(() => store.deliveries.add(toMessage("New."), { session: null, at: 3 }));
  store.transaction(() => store.empty(2));
  expect(store.deliveries.first()?.delivery.event).toMatchObject({ text: "New." });
  expect(store.readAddress()).not.toBeNull();
  // The new channel may be of another platform, whose places are others.
  expect([store.readAudience(), store.times.read(`about ${MARK}`)]).toEqual([null, null]);

  store.transaction(() => store.empty(3));
  await files.scrub();
  expect([store.readAddress(), files.count(MARK)]).toEqual([null, 0]);
});
