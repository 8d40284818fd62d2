/**
 * A person edits or deletes a message. The newest one, and one that still waits for its turn, is answered again, as if it had been written so. An
 * older one is redacted, because what came after it was said in answer to the first version: the new text follows as a message that asks for no
 * answer. A change whose message is not known may have come before it.
 */
import { parseId, type SessionId } from "../../../domain/ids";
import type { Part } from "../../../domain/message";
import { err, ok } from "../../../lib/result";
import type { Outcome } from "../../session-api";
import type { ChatEvent } from "../channel";
import { toCaller, toMessageKey } from "../chat-ports";
import type { KnownMessage } from "../chat-store";
import { again, done, type Task, toIdempotency, type Worked } from "../task";
import { refuseStranger } from "./access";
import { keepEarly } from "./early-changes";
import { answerRefusal, refuseRequest, toSessionRefusal } from "./refusals";
import { noteTurn, toSubmitted } from "./take-message";

type EditEvent = Extract<ChatEvent, { readonly type: "edit" }>;
type DeletionEvent = Extract<ChatEvent, { readonly type: "deletion" }>;

const findKnown = ({ chat, row }: Task, message: string): KnownMessage | null =>
  chat.deps.store.messages.find(toMessageKey(row.delivery.place.chat, message));

const connect = ({ chat, room }: Task, session: SessionId) =>
  [chat.deps.sessions(room.address.tenant, session), toCaller(room.address, session)] as const;

export async function applyEdit(task: Task, event: EditEvent): Promise<Worked> {
  if (event.text.trim() === "" || (await refuseStranger(task, event))) return done();
  const known = findKnown(task, event.message);
  if (!known) return isHeard(task) ? done(() => keepEarly(task, event.message, event.text)) : done();
  if (known.changed_at !== null && task.row.delivery.at < known.changed_at) return done();
  const limited = await refuseRequest(task);
  if (limited) return limited;
  const { store } = task.chat.deps;
  // The text of an older one that was edited before is the newest, but asks for no answer either.
  const isAnswered = known.turn !== null;
  const isNewest = store.sessions.current() === known.session && store.messages.newest(known.session)?.key === known.key;
  return (isNewest && isAnswered) || (await isQueued(task, known)) ? answerAgain(task, event, known) : replaceOlder(task, event, known);
}

/** Its turn has not begun, so that nothing answers the first version yet. */
async function isQueued(task: Task, { session, turn }: KnownMessage): Promise<boolean> {
  if (!turn) return false;
  const [api, caller] = connect(task, session);
  const report = await api.turn(caller, turn);
  return report.ok && report.value.status === "queued";
}

/** The bot takes no message of a group, so that it keeps no text of one. */
const isHeard = ({ room, row }: Task): boolean => row.delivery.place.is_private || room.channel.settings.groups !== "none";

/** The person's files stay. */
async function readFiles(task: Task, { session, item }: KnownMessage): Promise<Outcome<readonly Part[]>> {
  const [api, caller] = connect(task, session);
  const found = await api.message(caller, item);
  if (!found.ok) return found;
  return ok(found.value.content.filter(({ type }) => type === "image" || type === "file"));
}

async function answerAgain(task: Task, event: EditEvent, known: KnownMessage): Promise<Worked> {
  const { store } = task.chat.deps;
  const [api, caller] = connect(task, known.session);
  // A turn under way answers what the message no longer says, and one that waits has not begun.
  if (known.turn) await api.stop(caller, { idempotency: null, turn: known.turn });
  const files = await readFiles(task, known);
  const parts: readonly Part[] = [{ type: "text", text: event.text }, ...(files.ok ? files.value : [])];
  const idempotency = toIdempotency(task.row.delivery, "edit");
  const inPlace = await api.editMessage(caller, { message: known.item, parts, tools: null, idempotency });
  // One that was waiting, or was taken back, is in no place: the edited message is a new one.
  const edited = isUnknown(inPlace)
    ? await api.submit(caller, { role: "user", parts, run: true, onBusy: "queue", tools: null, idempotency })
    : inPlace;
  if (!edited.ok)
    return edited.error.code === "turn_running" ? again(edited.error.code) : answerRefusal(task, toSessionRefusal(edited.error));
  const submitted = toSubmitted(edited.value);
  if (!submitted.ok) return done();
  return done(() => {
    if (known.turn) {
      store.turns.remove(known.turn);
      store.parts.removeTurn(known.turn);
    }
    noteTurn(task, { ...submitted.value, session: known.session, message: event.message, changed_at: task.row.delivery.at });
  });
}

async function replaceOlder(task: Task, event: EditEvent, known: KnownMessage): Promise<Worked> {
  const withdrawn = await withdraw(task, known);
  if (!withdrawn.ok) return withdrawn.error.code === "turn_running" ? again(withdrawn.error.code) : done();
  const [api, caller] = connect(task, known.session);
  const idempotency = toIdempotency(task.row.delivery, "edit");
  const parts = [{ type: "text", text: event.text }] as const;
  const about = { name: null, client_id: null, metadata: { edit_of: known.item }, said_at: null, incomplete: false };
  const added = await api.submit(caller, { role: "user", parts, about, run: false, onBusy: "queue", tools: null, idempotency });
  if (!added.ok) return toSessionRefusal(added.error).kind === "again" ? again(added.error.code) : done();
  const item = parseId("msg", added.value.message_id);
  const { store, now } = task.chat.deps;
  // A later change is of what the message says now.
  return done(() => item && store.messages.put({ ...known, item, turn: null, changed_at: task.row.delivery.at }, now()));
}

const isUnknown = (outcome: Outcome<unknown>): boolean => !outcome.ok && outcome.error.code === "message_not_found";

/** Ok: nothing of it is there any more. An edited text that waits in the queue was never recorded, so that it is cancelled. */
async function withdraw(task: Task, known: KnownMessage): Promise<Outcome<unknown>> {
  const redacted = await redact(task, known);
  if (!isUnknown(redacted)) return redacted;
  const [api, caller] = connect(task, known.session);
  const cancelled = await api.cancelQueued(caller, known.item);
  if (cancelled.ok) return cancelled;
  // The session may have recorded the text after the first redaction.
  const recorded = await redact(task, known);
  return isUnknown(recorded) ? ok(null) : recorded;
}

async function redact(task: Task, known: KnownMessage): Promise<Outcome<unknown>> {
  const [api, caller] = connect(task, known.session);
  const redacted = await api.redact(caller, known.item);
  if (redacted.ok || redacted.error.code !== "turn_running" || !known.turn) return redacted;
  // No redaction reaches the messages of an open turn.
  const stopped = await api.stop(caller, { idempotency: null, turn: known.turn });
  return stopped.ok ? api.redact(caller, known.item) : err(stopped.error);
}

export async function applyDeletion(task: Task, event: DeletionEvent): Promise<Worked> {
  const { store } = task.chat.deps;
  const known = findKnown(task, event.message);
  if (!known) return done(() => keepEarly(task, event.message, null));
  const [api, caller] = connect(task, known.session);
  // One that waits in the queue was never recorded.
  if (known.turn && store.turns.find(known.turn)) await api.stop(caller, { idempotency: null, turn: known.turn });
  const withdrawn = await withdraw(task, known);
  if (!withdrawn.ok && withdrawn.error.code === "turn_running") return again(withdrawn.error.code);
  return done(() => {
    store.messages.remove(known.key);
    // An edit that comes late is of a message that is gone.
    keepEarly(task, event.message, null);
  });
}
