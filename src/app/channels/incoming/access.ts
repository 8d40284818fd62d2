/** Who may talk to the bot. A stranger gets one short answer a day. */
import { assertNever } from "../../../lib/assert-never";
import type { ChatEvent, Delivery } from "../channel";
import { say } from "../replies/say";
import { done, type Task, toPersonToken, type Worked } from "../task";

const DAY_MS = 24 * 60 * 60 * 1_000;
/**
 * How long a pairing is known here before the channel's settings have it. Isolates cache these for no longer, so that a person who is unpaired is
 * refused within the same time.
 */
export const PAIRED_MS = 30_000;
/** Codes that could have been given out: one word. */
const CODE = /^[A-Za-z0-9_-]{4,64}$/;

/** Null: the person may go on. Otherwise what the refusal leads to. */
export async function refuseStranger(task: Task, event: ChatEvent): Promise<Worked | null> {
  const { user } = task.row.delivery;
  const { access } = task.room.channel.settings;
  switch (access.mode) {
    case "open":
      return null;
    case "allow_list":
      return access.users.includes(user.id) ? null : answerStranger(task, "stranger");
    case "pairing":
      return access.users.includes(user.id) || isJustPaired(task) ? null : pair(task, event);
    default:
      return assertNever(access);
  }
}

const toPairedName = ({ user }: Delivery): string => `paired ${toPersonToken(user)}`;

function isJustPaired({ chat: { deps }, row: { delivery } }: Task): boolean {
  const at = deps.store.times.read(toPairedName(delivery));
  return at !== null && deps.now() - at < PAIRED_MS;
}

async function pair(task: Task, event: ChatEvent): Promise<Worked> {
  const { chat, room, row } = task;
  const { store, tenant, now } = chat.deps;
  const { address, channel } = room;
  const text = event.type === "message" ? (event.command?.args ?? event.text).trim() : "";
  const isPaired =
    CODE.test(text) && (await tenant(address.tenant).pairUser({ channel: address.channel, user: row.delivery.user.id, code: text }));
  if (!isPaired) return answerStranger(task, "pair");
  return done(() => {
    store.times.note(toPairedName(row.delivery), now());
    say(chat, row.delivery, { name: "paired", write: ({ paired }) => paired, language: channel.settings.language });
  });
}

function answerStranger({ chat, room, row }: Task, word: "stranger" | "pair"): Worked {
  const { store, now } = chat.deps;
  const { delivery } = row;
  if (delivery.event.type !== "message") return done();
  const name = `stranger ${toPersonToken(delivery.user)}`;
  const last = store.times.read(name);
  if (last !== null && now() - last < DAY_MS) return done();
  return done(() => {
    store.times.note(name, now());
    say(chat, delivery, { name: word, write: (words) => words[word], language: room.channel.settings.language });
  });
}
