/** Follows turns to their ends, in the order in which they were asked for, and makes replies of them. */
import { toErrorName } from "../../../lib/error-name";
import { type ChatHost, type ChatRoom, toCaller } from "../chat-ports";
import type { ChatTurn } from "../chat-store";
import { askForApproval } from "./approvals";
import { readTurnFrames } from "./hear-turn";
import { LiveReply } from "./live-reply";
import { buildReplyParts, type EndedTurn, isOver } from "./reply";
import { noteInLog } from "./say";
import { withdrawTurn } from "./withdraw";

/** How often a turn is looked at that cannot be heard. */
const POLL_MS = 5_000;
/** How often one is looked at that waits for a person or behind another client's turn, in case its time is over. */
const AWAIT_MS = 10 * 60_000;
/** How long a turn is heard at a stretch: no stream is waited for that says nothing for ever. */
const HEAR_MS = 20 * 60_000;
/** How long a turn waits for its channel. */
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;

export async function followTurns(chat: ChatHost): Promise<void> {
  const { store, now, log } = chat.deps;
  for (let turn = store.turns.due(now()); turn; turn = store.turns.due(now())) {
    try {
      await followOne(chat, turn);
    } catch (error) {
      log.warn("chat.turn_not_followed", { turn: turn.turn, error: toErrorName(error) });
      store.turns.postpone(turn.turn, now() + POLL_MS);
    }
    chat.wake();
  }
}

async function followOne(chat: ChatHost, followed: ChatTurn): Promise<void> {
  const { store, now, sessions } = chat.deps;
  const { turn, session } = followed;
  const room = await chat.openRoom();
  if (!room) return waitForRoom(chat, followed);
  const readReport = () => sessions(room.address.tenant, session).turn(toCaller(room.address, session), turn);
  // What waits for a person, or behind another client's turn, may wait for a day: no stream is held open for it, and nothing shows that the bot types.
  const first = followed.is_answered || now() - followed.since >= HEAR_MS ? await readReport() : null;
  if (first?.ok && first.value.status === "queued") return store.turns.postpone(turn, now() + AWAIT_MS);
  if (first?.ok && first.value.status === "awaiting_tools")
    return await askForApproval(chat, { room, followed, report: first.value }, now() + AWAIT_MS);
  await hearTurn(chat, room, followed);
  const report = await readReport();
  const known = store.turns.find(turn);
  // Another turn took its place, or its session was erased.
  if (!known) return;
  if (!report.ok)
    return store.transaction(() => {
      store.turns.remove(turn);
      withdrawTurn(chat, room, known);
    });
  const { value } = report;
  if (value.status === "awaiting_tools") return await askForApproval(chat, { room, followed: known, report: value }, now() + AWAIT_MS);
  if (!isOver(value)) return store.turns.postpone(turn, now() + POLL_MS);
  await endTurn(chat, { room, followed: known, report: value });
}

/** The channel was deleted, or cannot be opened. Its turns must not keep the object at work for ever. */
async function waitForRoom(chat: ChatHost, { turn, session, since }: ChatTurn): Promise<void> {
  const { store, now } = chat.deps;
  if (now() - since < GIVE_UP_MS) return store.turns.postpone(turn, now() + AWAIT_MS);
  await noteInLog(chat, { id: `${turn}.end`, kind: "reply_failed", reason: "given up: channel_unavailable", session, turn });
  store.transaction(() => store.turns.remove(turn));
}

/** Shows the turn while it runs. A stream that breaks does no harm: the turn's report says how it ended. */
async function hearTurn(chat: ChatHost, room: ChatRoom, followed: ChatTurn): Promise<void> {
  const { sessions, schedule, log } = chat.deps;
  const { turn, session, cursor } = followed;
  const live = new LiveReply(chat, room, followed);
  const late = new AbortController();
  const stopTimer = schedule(HEAR_MS, () => late.abort());
  try {
    const stream = await sessions(room.address.tenant, session).stream(toCaller(room.address, session), { after: cursor, turn });
    if (stream.ok) await readTurnFrames(stream.value, { hear: (frame) => live.hear(frame), signal: late.signal });
  } catch (error) {
    log.info("chat.stream_lost", { turn, error: toErrorName(error) });
  } finally {
    stopTimer();
    await live.stop();
  }
}

/** One transaction: the turn is followed no more, and its reply waits. */
async function endTurn(chat: ChatHost, ended: EndedTurn): Promise<void> {
  const { store, now } = chat.deps;
  const { turn, session, live } = ended.followed;
  const parts = buildReplyParts(ended);
  // An earlier life ended while it began the message. An idempotent platform is asked again.
  if (live?.state === "sending" && !ended.room.adapter.traits.is_idempotent)
    await noteInLog(chat, { id: live.operation, kind: "reply_failed", reason: "in doubt: interrupted", session, turn });
  store.transaction(() => {
    // An erasure may have taken the turn meanwhile.
    if (!store.turns.find(turn)) return;
    store.turns.remove(turn);
    for (const part of parts) store.parts.add(part, now());
    if (parts.length === 0) withdrawTurn(chat, ended.room, ended.followed);
  });
}
