/** A button was pressed. Pressed twice, late or by another person, it does nothing but stop waiting. */
import { assertNever } from "../../../lib/assert-never";
import type { ChatEvent } from "../channel";
import { toCaller } from "../chat-ports";
import type { ButtonAct, KnownButton } from "../chat-store";
import { deliver } from "../replies/deliver";
import { say } from "../replies/say";
import { done, type Task, toDeliveryToken, toIdempotency, toPersonToken, type Worked } from "../task";
import { findWords } from "../words/words";
import type { Words } from "../words/words-latin";
import { refuseStranger } from "./access";
import { eraseConversation } from "./forget";

type ButtonEvent = Extract<ChatEvent, { readonly type: "button" }>;

export async function pressButton(task: Task, event: ButtonEvent): Promise<Worked> {
  const { chat, room, row } = task;
  const { place, id, user } = row.delivery;
  // The acknowledgement is not stored: a button that waits a moment longer does no harm.
  chat.deps.background(deliver(chat, room, { type: "acknowledge_button", place, delivery: id }));
  const button = chat.deps.store.buttons.find(event.data);
  const isOwn = button !== null && (button.user === null || button.user === toPersonToken(user));
  if (!isOwn || button.expires_at <= chat.deps.now()) return done();
  // Everyone in the chat sees the buttons, and a person may have lost the access meanwhile.
  const refused = await refuseStranger(task, event);
  if (refused) return refused;
  switch (button.act.type) {
    case "approve":
      return approve(task, event, { button, act: button.act });
    case "forget":
      return forget(task, event, { button, act: button.act });
    default:
      return assertNever(button.act);
  }
}

interface Pressed<T extends ButtonAct["type"]> {
  readonly button: KnownButton;
  readonly act: Extract<ButtonAct, { readonly type: T }>;
}

async function approve(task: Task, event: ButtonEvent, { button, act }: Pressed<"approve">): Promise<Worked> {
  const { chat, room, row } = task;
  const { store, now, sessions } = chat.deps;
  const { session, question } = button;
  if (!session) return done(() => store.buttons.removeQuestion(question));
  const approvals = [{ execution_id: act.execution, approved: act.approved, reason: null }];
  const input = { approvals, idempotency: toIdempotency(row.delivery, "approval") };
  const answered = await sessions(room.address.tenant, session).approvals(toCaller(room.address, session), input);
  return done(() => {
    store.buttons.removeQuestion(question);
    if (!answered.ok) return;
    store.turns.postpone(act.turn, now());
    closeQuestion(task, event, (words) => (act.approved ? words.approved(act.tool) : words.refused(act.tool)));
  });
}

async function forget(task: Task, event: ButtonEvent, { button, act }: Pressed<"forget">): Promise<Worked> {
  const { store } = task.chat.deps;
  if (act.confirmed) await eraseConversation(task);
  return done(() => {
    store.buttons.removeQuestion(button.question);
    closeQuestion(task, event, ({ forgotten, kept }) => (act.confirmed ? forgotten : kept));
  });
}

/** The answer takes the question's place, where the platform lets a bot edit its messages. */
function closeQuestion({ chat, room, row: { delivery } }: Task, { message }: ButtonEvent, write: (words: Words) => string): void {
  const { store, now } = chat.deps;
  const { language } = room.channel.settings;
  if (room.adapter.traits.edits === null) return say(chat, delivery, { name: "pressed", write, language });
  const markdown = write(findWords(language ?? delivery.user.language));
  const operation = `${toDeliveryToken(delivery)}.pressed`;
  const session = store.sessions.current();
  store.parts.add({ operation, session, turn: null, place: delivery.place, markdown, buttons: [], edits: message, is_first: false }, now());
}
