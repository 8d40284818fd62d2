/**
 * Sends what waits, in order. A part is stored before it is sent, with the operation that names it. A life that ends while the platform is
 * asked leaves a doubt, which only an idempotent platform can resolve: elsewhere the part is not sent again.
 */
import { assertNever } from "../../../lib/assert-never";
import { backOff } from "../../../lib/back-off";
import type { ChatPlace, OutboundAct } from "../channel";
import type { ChatHost, ChatRoom } from "../chat-ports";
import type { WaitingPart } from "../chat-store";
import { type Delivered, deliver } from "./deliver";
import { findFreeTime, noteSent } from "./pace";
import { noteInLog } from "./say";

const WAIT = { first: 1_000, longest: 5 * 60_000 } as const;
/** How long a part is tried. */
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;
/** How often a part is tried whose chat has moved. */
const MAX_MOVES = 5;
/** A wait that this life spends itself. A longer one is the alarm's. */
const SHORT_MS = 10_000;

export async function sendParts(chat: ChatHost): Promise<void> {
  const { store, now, schedule } = chat.deps;
  for (let part = store.parts.first(); part; part = store.parts.first()) {
    const room = await chat.openRoom();
    if (!room) return waitForChannel(chat, part);
    const at = Math.max(part.not_before, findFreeTime(store, room.adapter.traits));
    const wait = at - now();
    if (wait > SHORT_MS) return store.parts.postpone(part.operation, { not_before: at, is_sending: part.is_sending });
    if (wait > 0) await new Promise<void>((resolve) => void schedule(wait, resolve));
    // An erasure may have taken the part meanwhile.
    else if (store.parts.first()?.operation === part.operation)
      await settle(chat, { room, part, outcome: await sendOne(chat, room, part) });
  }
}

async function waitForChannel(chat: ChatHost, part: WaitingPart): Promise<void> {
  const { store, now } = chat.deps;
  if (now() - part.created_at < GIVE_UP_MS)
    return store.parts.postpone(part.operation, { not_before: now() + WAIT.longest, is_sending: part.is_sending });
  await drop(chat, part, "given up: channel_unavailable");
}

async function sendOne(chat: ChatHost, room: ChatRoom, part: WaitingPart): Promise<Delivered> {
  const { store, now } = chat.deps;
  if (part.is_sending && !isRepeatable(room, part)) return { kind: "unknown", reason: "interrupted" };
  store.transaction(() => {
    store.parts.begin(part.operation);
    noteSent(store, room.adapter.traits, now());
  });
  return deliver(chat, room, toAct(room, part));
}

/** An edit that is sent twice is one edit. */
const isRepeatable = ({ adapter }: ChatRoom, { edits }: WaitingPart): boolean => edits !== null || adapter.traits.is_idempotent;

function toAct({ adapter }: ChatRoom, { operation, place, markdown, buttons, is_plain, edits, is_first }: WaitingPart): OutboundAct {
  if (markdown === null) return { type: "withdraw", operation, place };
  const text = adapter.render(markdown);
  const said = { operation, place, text, buttons, is_plain };
  return edits === null ? { type: "send", ...said, is_first } : { type: "edit", message: edits, ...said };
}

interface Sent {
  readonly room: ChatRoom;
  readonly part: WaitingPart;
  readonly outcome: Delivered;
}

async function settle(chat: ChatHost, { room, part, outcome }: Sent): Promise<void> {
  const { store, now } = chat.deps;
  switch (outcome.kind) {
    case "done":
      return store.transaction(() => store.parts.remove(part.operation));
    case "rate_limited":
      return tryLater(chat, part, { wait: Math.max(outcome.retry_in_ms, WAIT.first), reason: outcome.kind });
    case "failed":
      return tryLater(chat, part, { wait: backOff(part.attempts, WAIT), reason: outcome.reason });
    case "unknown":
      if (isRepeatable(room, part)) return tryLater(chat, part, { wait: backOff(part.attempts, WAIT), reason: outcome.reason });
      return drop(chat, part, `in doubt: ${outcome.reason}`);
    case "bad_format":
      if (part.is_plain) return dropReply(chat, part, outcome.reason);
      return store.parts.postpone(part.operation, { not_before: now(), is_plain: true });
    case "refused":
      if (outcome.moved_to && part.attempts < MAX_MOVES) return move(chat, part, outcome.moved_to);
      return dropReply(chat, part, outcome.reason);
    case "unsupported":
      return dropReply(chat, part, outcome.kind);
    default:
      return assertNever(outcome);
  }
}

async function tryLater(chat: ChatHost, part: WaitingPart, { wait, reason }: { readonly wait: number; readonly reason: string }) {
  const { store, now } = chat.deps;
  if (now() - part.created_at >= GIVE_UP_MS) return drop(chat, part, `given up: ${reason}`);
  store.parts.postpone(part.operation, { not_before: now() + wait });
}

/** What waits for the old place goes to the new one. */
function move(chat: ChatHost, { operation, place }: WaitingPart, to: ChatPlace): void {
  const { store, now } = chat.deps;
  store.transaction(() => {
    store.parts.move(place, to);
    store.parts.postpone(operation, { not_before: now() });
  });
}

async function drop(chat: ChatHost, part: WaitingPart, reason: string): Promise<void> {
  const { store } = chat.deps;
  await noteFailure(chat, part, reason);
  store.transaction(() => store.parts.remove(part.operation));
}

/** What is left of the reply would be refused as well. */
async function dropReply(chat: ChatHost, part: WaitingPart, reason: string): Promise<void> {
  const { store } = chat.deps;
  await noteFailure(chat, part, `refused: ${reason}`);
  store.transaction(() => {
    store.parts.remove(part.operation);
    if (part.turn) store.parts.removeTurn(part.turn);
  });
}

const noteFailure = (chat: ChatHost, { operation, session, turn }: WaitingPart, reason: string): Promise<void> =>
  noteInLog(chat, { id: operation, kind: "reply_failed", reason, session, turn });
