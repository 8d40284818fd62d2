/** Rows of what a chat's object knows of its conversation beside texts: turns, messages, buttons, sessions and times. */
import type { Audience, ButtonAct, ChatStore, ChatTurn, KnownButton, KnownMessage, LiveMessage } from "../../app/channels/chat-store";
import { type ItemId, parseId, type SessionId, type TurnId } from "../../domain/ids";
import type { SqlRow } from "../../lib/sql-row";
import type { SyncSql } from "../../lib/sync-sql";
import { removeTexts } from "./waiting-rows";

function readStored<T>(id: T | null): T {
  if (id === null) throw new Error("A stored id is malformed");
  return id;
}
const readSession = (text: string): SessionId => readStored(parseId("ses", text));
const readTurnId = (text: string): TurnId => readStored(parseId("trn", text));
const readItem = (text: string): ItemId => readStored(parseId("msg", text));

interface TurnRow {
  readonly [column: string]: string | number | null;
  readonly seq: number;
  readonly turn: string;
  readonly session: string;
  readonly body: string;
  readonly cursor: number | null;
  readonly live: string | null;
  readonly is_answered: number;
  readonly is_scheduled: number;
  readonly not_before: number;
  readonly since: number;
}

function toFollowed({ turn, session, body, live, is_answered, is_scheduled, ...row }: TurnRow): ChatTurn {
  const { place, user } = JSON.parse(body) as Audience;
  const shown = live === null ? null : (JSON.parse(live) as LiveMessage);
  const { cursor, not_before, since } = row;
  const flags = { is_answered: is_answered === 1, is_scheduled: is_scheduled === 1 };
  const ids = { turn: readTurnId(turn), session: readSession(session) };
  return { ...ids, place, user, cursor, live: shown, ...flags, not_before, since };
}

/**
 * No earlier turn of the session is looked at later, so that replies keep the order of their turns. What waits behind a turn that asked a person
 * for something is held up as well, and no stream is held open for it: it is due when that turn ends, or when another one begins.
 */
const IS_NEXT = `NOT EXISTS (SELECT 1 FROM turns AS earlier WHERE earlier.session = turns.session AND earlier.seq < turns.seq
  AND earlier.not_before > turns.not_before)`;

export function createTurnRows(sql: SyncSql): ChatStore["turns"] {
  const select = (rest: string, ...params: (string | number)[]) =>
    sql.rows<TurnRow>(`SELECT * FROM turns ${rest}`, ...params).map(toFollowed);
  /** A turn that begins ends one that waits for a person, and one that ends lets the next begin: all of the session are due at once. */
  const lookAgain = (where: string, param: string) => void sql.rows(`UPDATE turns SET not_before = 0 WHERE ${where}`, param);
  return {
    add: ({ turn, session, place, user, cursor, is_answered, is_scheduled, not_before, since }) => {
      lookAgain("session = ?", session);
      sql.rows(
        `INSERT INTO turns (turn, session, body, cursor, is_answered, is_scheduled, not_before, since)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn) DO NOTHING`,
        ...[turn, session, JSON.stringify({ place, user }), cursor, is_answered ? 1 : 0, is_scheduled ? 1 : 0, not_before, since],
      );
    },
    find: (turn) => select("WHERE turn = ?", turn)[0] ?? null,
    due: (now) => select(`WHERE not_before <= ? AND ${IS_NEXT} ORDER BY seq LIMIT 1`, now)[0] ?? null,
    next: () => sql.rows<{ at: number | null }>(`SELECT min(not_before) AS at FROM turns WHERE ${IS_NEXT}`)[0]?.at ?? null,
    postpone: (turn, not_before) => void sql.rows("UPDATE turns SET not_before = ? WHERE turn = ?", not_before, turn),
    show: (turn, live) => void sql.rows("UPDATE turns SET live = ? WHERE turn = ?", live && JSON.stringify(live), turn),
    noteAnswered: (turn) => void sql.rows("UPDATE turns SET is_answered = 1 WHERE turn = ?", turn),
    remove: (turn) => {
      lookAgain("session = (SELECT session FROM turns WHERE turn = ?)", turn);
      removeTexts(sql, "turns", "turn = ?", turn);
    },
    list: (session) => select("WHERE session = ? ORDER BY seq", session),
  };
}

interface MessageRow extends SqlRow {
  readonly key: string;
  readonly session: string;
  readonly item: string;
  readonly turn: string | null;
  readonly changed_at: number | null;
}

const toKnown = ({ key, session, item, turn, changed_at }: MessageRow): KnownMessage => ({
  ...{ key, changed_at },
  session: readSession(session),
  item: readItem(item),
  turn: turn === null ? null : readTurnId(turn),
});

export function createMessageRows(sql: SyncSql): ChatStore["messages"] {
  return {
    put: ({ key, session, item, turn, changed_at }, at) =>
      void sql.rows(
        `INSERT INTO messages (key, session, item, turn, changed_at, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (key) DO UPDATE SET session = ?2, item = ?3, turn = ?4, changed_at = ?5`,
        ...[key, session, item, turn, changed_at, at],
      ),
    find: (key) => sql.rows<MessageRow>("SELECT * FROM messages WHERE key = ?", key).map(toKnown)[0] ?? null,
    newest: (session) =>
      sql.rows<MessageRow>("SELECT * FROM messages WHERE session = ? ORDER BY at DESC, item DESC LIMIT 1", session).map(toKnown)[0] ?? null,
    remove: (key) => void sql.rows("DELETE FROM messages WHERE key = ?", key),
    forget: (before) => void sql.rows("DELETE FROM messages WHERE at < ?", before),
  };
}

interface ButtonRow extends SqlRow {
  readonly data: string;
  readonly question: string;
  readonly session: string | null;
  readonly person: string | null;
  readonly act: string;
  readonly expires_at: number;
}

const toButton = ({ session, person, act, data, question, expires_at }: ButtonRow): KnownButton => ({
  ...{ data, question, expires_at },
  session: session === null ? null : readSession(session),
  user: person,
  act: JSON.parse(act) as ButtonAct,
});

export function createButtonRows(sql: SyncSql): ChatStore["buttons"] {
  return {
    add: ({ data, question, session, user, act, expires_at }) =>
      void sql.rows(
        "INSERT INTO buttons (data, question, session, person, act, expires_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (data) DO NOTHING",
        ...[data, question, session, user, JSON.stringify(act), expires_at],
      ),
    find: (data) => sql.rows<ButtonRow>("SELECT * FROM buttons WHERE data = ?", data).map(toButton)[0] ?? null,
    findQuestion: (user, type, now) =>
      sql
        .rows<ButtonRow>(
          "SELECT * FROM buttons WHERE person = ? AND json_extract(act, '$.type') = ? AND expires_at > ? ORDER BY data LIMIT 1",
          ...[user, type, now],
        )
        .map(toButton)[0] ?? null,
    removeQuestion: (question) => void sql.rows("DELETE FROM buttons WHERE question = ?", question),
    forget: (before) => void sql.rows("DELETE FROM buttons WHERE expires_at < ?", before),
  };
}

export function createSessionRows(sql: SyncSql): ChatStore["sessions"] {
  const newest = () =>
    sql.rows<{ generation: number; session: string | null }>("SELECT * FROM sessions ORDER BY generation DESC LIMIT 1")[0];
  const add = (session: string | null) =>
    void sql.rows("INSERT INTO sessions (generation, session) VALUES (?, ?)", (newest()?.generation ?? 0) + 1, session);
  return {
    current: () => {
      const session = newest()?.session ?? null;
      return session === null ? null : readSession(session);
    },
    list: () =>
      sql
        .rows<{ session: string }>("SELECT session FROM sessions WHERE session IS NOT NULL ORDER BY generation")
        .map(({ session }) => readSession(session)),
    generation: () => newest()?.generation ?? 0,
    add,
    noteFollowed: (session, seq) =>
      sql.rows("UPDATE sessions SET followed = ?1 WHERE session = ?2 AND followed < ?1 RETURNING generation", seq, session).length > 0,
    leave: () => add(null),
  };
}

export function createTimeRows(sql: SyncSql): ChatStore["times"] {
  return {
    read: (name) => sql.rows<{ at: number }>("SELECT at FROM times WHERE name = ?", name)[0]?.at ?? null,
    note: (name, at) => void sql.rows("INSERT INTO times (name, at) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET at = ?2", name, at),
    readSent: () => JSON.parse(sql.rows<{ times: string }>("SELECT times FROM sent")[0]?.times ?? "[]") as number[],
    noteSent: (at) =>
      void sql.rows("INSERT INTO sent (one, times) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET times = ?1", JSON.stringify(at)),
    forget: (before) => void sql.rows("DELETE FROM times WHERE at < ?", before),
  };
}
