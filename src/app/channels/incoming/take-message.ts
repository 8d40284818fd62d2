/** A person's message: whether it is for the bot, from whom, and what it asks for. A message begins a turn of the conversation's session. */
import type { Accepted } from "../../../contract/item";
import { type ItemId, parseId, type SessionId, type TurnId } from "../../../domain/ids";
import type { Part } from "../../../domain/message";
import { toPlainLine } from "../../../lib/plain-line";
import { err, ok, type Result } from "../../../lib/result";
import type { SessionError } from "../../session-api";
import type { ChatEvent, Delivery } from "../channel";
import { toCaller, toMessageKey } from "../chat-ports";
import { keepAudience } from "../replies/scheduled-turns";
import { again, done, type Task, toDeliveryToken, toIdempotency, type Worked } from "../task";
import { refuseStranger } from "./access";
import { ensureSession } from "./chat-session";
import { runCommand } from "./commands";
import { endingEarly, readCurrent } from "./early-changes";
import { takeMessageFiles } from "./files";
import { answerRefusal, refuseRequest, sayOnce, toSessionRefusal } from "./refusals";

type ChatMessage = Extract<ChatEvent, { readonly type: "message" }>;

/** The longest name and client's id of a message that a session takes. */
const MAX_NAME = 64;
const MAX_CLIENT_ID = 128;
/** How often a message looks for a new session because its own was erased meanwhile. */
const TRIES = 3;

/** A message, as its person has changed it already. `changed_at`: null: not at all. */
interface Changed {
  readonly changed_at: number | null;
}

export async function takeMessage(task: Task, sent: ChatMessage): Promise<Worked> {
  // The message came before, under another id of a delivery.
  if (task.chat.deps.store.messages.find(toMessageKey(task.row.delivery.place.chat, sent.message))) return done();
  const current = readCurrent(task, sent);
  return current ? endingEarly(task, sent, await takeCurrent(task, current.event, current)) : done();
}

async function takeCurrent(task: Task, event: ChatMessage, changed: Changed): Promise<Worked> {
  if (!isForBot(task, event)) return done();
  const refused = await refuseStranger(task, event);
  if (refused) return refused;
  if (event.text.trim() === "" && event.files.length === 0) return done();
  const limited = await refuseRequest(task);
  if (limited) return limited;
  const command = event.command && task.room.channel.settings.commands.find((name) => name === event.command?.name);
  if (command) return runCommand(task, command);
  return askSession(task, event, changed);
}

function isForBot({ room, row }: Task, { is_addressed }: ChatMessage): boolean {
  const { groups } = room.channel.settings;
  return row.delivery.place.is_private || groups === "all" || (groups === "addressed" && is_addressed);
}

async function askSession(task: Task, event: ChatMessage, { changed_at }: Changed): Promise<Worked> {
  const { chat, row } = task;
  const { place, user } = row.delivery;
  for (let tries = 0; tries < TRIES; tries++) {
    const session = await ensureSession(chat, { room: task.room, place, user });
    if (!session.ok) return answerRefusal(task, session.error);
    const taken = await takeMessageFiles(task, event, session.value);
    const accepted = await submitTo(task, event, { session: session.value, taken });
    if (accepted.ok)
      return done(() => {
        noteTurn(task, { ...accepted.value, session: session.value, message: event.message, changed_at });
        if (taken.isFull) tellFull(task, accepted.value.turn);
      });
    if (!isGone(accepted.error)) return answerRefusal(task, toSessionRefusal(accepted.error));
    // The erasure takes what waits for it, but for a message that came after it.
    if (!chat.deps.store.deliveries.isWaiting(row.seq)) return done();
    leaveErased(task, session.value);
  }
  return again("session_erased");
}

const isGone = ({ code }: { readonly code: string }): boolean => code === "session_erased" || code === "session_not_found";

/** The session was erased, and this object does not know it yet. */
function leaveErased({ chat: { deps } }: Task, session: SessionId): void {
  deps.store.transaction(() => {
    if (deps.store.sessions.current() === session) deps.store.sessions.leave();
  });
}

interface Submitted {
  readonly item: ItemId;
  readonly turn: TurnId;
  /** Null: not known. */
  readonly cursor: number | null;
}

/** The model reads that a file is missing. The person reads why. */
function tellFull(task: Task, turn: TurnId): void {
  const tell = sayOnce(task, "files", null);
  if (!tell) return;
  tell();
  task.chat.deps.store.turns.noteAnswered(turn);
}

interface Asked {
  readonly session: SessionId;
  readonly taken: Awaited<ReturnType<typeof takeMessageFiles>>;
}

async function submitTo(task: Task, event: ChatMessage, { session, taken }: Asked): Promise<Result<Submitted, SessionError>> {
  const { chat, room, row } = task;
  const { delivery } = row;
  const parts: readonly Part[] = taken.text === "" ? taken.parts : [{ type: "text", text: taken.text }, ...taken.parts];
  const caller = toCaller(room.address, session);
  const about = { name: toWriter(task), client_id: toClientId(delivery, event), metadata: {}, said_at: null, incomplete: false };
  const asked = { role: "user", parts, about, run: true, onBusy: "queue", tools: null, idempotency: toIdempotency(delivery) } as const;
  const accepted = await chat.deps.sessions(room.address.tenant, session).submit(caller, asked);
  return accepted.ok ? toSubmitted(accepted.value) : findSubmitted(task, session, accepted.error);
}

export function toSubmitted({ message_id, turn_id, cursor }: Accepted): Result<Submitted, never> {
  const [item, turn] = [parseId("msg", message_id), turn_id === null ? null : parseId("trn", turn_id)];
  if (!item || !turn) throw new Error("A message that asks began no turn");
  return ok({ item, turn, cursor });
}

/** The session has the message already, longer than it remembers the delivery. */
async function findSubmitted({ chat, room }: Task, session: SessionId, error: SessionError): Promise<Result<Submitted, SessionError>> {
  const item = error.code === "client_id_taken" ? parseId("msg", error.message) : null;
  if (item === null) return err(error);
  const found = await chat.deps.sessions(room.address.tenant, session).message(toCaller(room.address, session), item);
  if (!found.ok) return found;
  const turn = found.value.turn_id === null ? null : parseId("trn", found.value.turn_id);
  return turn ? ok({ item, turn, cursor: null }) : err(error);
}

/** In a session of several people, the model reads who wrote. */
function toWriter({ room, row: { delivery } }: Task): string | null {
  const { place, user } = delivery;
  if (room.channel.settings.session_per === "user" || place.is_private) return null;
  const name = toPlainLine(user.name ?? user.id);
  return [...name].slice(0, MAX_NAME / 2).join("") || user.id.slice(0, MAX_NAME);
}

/** By it, the tenant finds the platform's message in the session. */
function toClientId(delivery: Delivery, { message }: ChatMessage): string {
  const whole = `${delivery.place.chat}/${message}`;
  return whole.length <= MAX_CLIENT_ID ? whole : toDeliveryToken(delivery);
}

interface Begun extends Submitted, Changed {
  readonly session: SessionId;
  /** The platform's id of the message. */
  readonly message: string;
}

/** The turn is followed, and the message can be edited and deleted. */
export function noteTurn({ chat, row: { delivery } }: Task, { session, item, turn, cursor, message, changed_at }: Begun): void {
  const { place, user } = delivery;
  const { deps } = chat;
  const now = deps.now();
  const begun = { turn, session, place, user, cursor, live: null, not_before: now, since: now };
  deps.store.turns.add({ ...begun, is_answered: false, is_scheduled: false });
  keepAudience(chat, { place, user });
  deps.store.messages.put({ key: toMessageKey(place.chat, message), session, item, turn, changed_at }, now);
}
