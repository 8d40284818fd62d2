/** Turns that wait: for a person's approval, who is asked by buttons, or for a client's tools, which no chat has. */
import type { ToolCallView } from "../../../contract/tool";
import { parseId } from "../../../domain/ids";
import type { ChatHost } from "../chat-ports";
import { toCaller } from "../chat-ports";
import type { ChatTurn, KnownButton } from "../chat-store";
import { toPersonToken } from "../task";
import { type EndedTurn, findTurnWords } from "./reply";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Yes and no. */
const BUTTONS = 2;

/** `again`: when the turn is looked at once more. */
export async function askForApproval(chat: ChatHost, waiting: EndedTurn, again: number): Promise<void> {
  const { room, followed, report } = waiting;
  const isAnswerable = room.adapter.traits.max_buttons >= BUTTONS && report.open_calls.every(({ approval }) => approval === "pending");
  if (!isAnswerable) return await endUnanswerable(chat, waiting);
  const { store } = chat.deps;
  store.transaction(() => {
    for (const call of report.open_calls) ask(chat, waiting, call);
    store.turns.postpone(followed.turn, again);
  });
}

const isFirst = ({ live, is_answered }: ChatTurn): boolean => live === null && !is_answered;

function ask({ deps: { store, now } }: ChatHost, { room, followed }: EndedTurn, { id, name }: ToolCallView): void {
  const execution = parseId("exe", id);
  if (!execution || store.buttons.find(`y.${id}`)) return;
  const { turn, session, place, user } = followed;
  const words = findTurnWords(room, followed);
  const known: Omit<KnownButton, "data" | "act"> = { question: id, session, user: user && toPersonToken(user), expires_at: now() + DAY_MS };
  const act = { type: "approve", turn, execution, tool: name } as const;
  store.buttons.add({ ...known, data: `y.${id}`, act: { ...act, approved: true } });
  store.buttons.add({ ...known, data: `n.${id}`, act: { ...act, approved: false } });
  const buttons = [
    { label: words.yes, data: `y.${id}` },
    { label: words.no, data: `n.${id}` },
  ];
  const first = { edits: null, is_first: isFirst(store.turns.find(turn) ?? followed) };
  store.turns.noteAnswered(turn);
  store.parts.add({ operation: `${turn}.${id}`, session, turn, place, markdown: words.approve_ask(name), buttons, ...first }, now());
}

/** The session's next message would end the turn as well. This one says why there is no answer. */
async function endUnanswerable(chat: ChatHost, { room, followed }: EndedTurn): Promise<void> {
  const { store, now, sessions } = chat.deps;
  const { turn, session, place } = followed;
  await sessions(room.address.tenant, session).stop(toCaller(room.address, session), { idempotency: null, turn });
  const markdown = findTurnWords(room, followed).no_client_tools;
  const edits = followed.live?.message ?? null;
  const part = { operation: `${turn}.end`, session, turn, place, markdown, buttons: [], edits, is_first: isFirst(followed) };
  store.transaction(() => {
    if (!store.turns.find(turn)) return;
    store.turns.remove(turn);
    store.parts.add(part, now());
  });
}
