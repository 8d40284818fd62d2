/**
 * Rows of what waits: deliveries to be worked through, parts of replies to be sent, and changes of messages that have yet to come. They alone hold
 * texts, which are overwritten when they go.
 */
import type { ChatStore, WaitingDelivery, WaitingPart } from "../../app/channels/chat-store";
import { parseId } from "../../domain/ids";
import { toFiller } from "../../lib/scrub/filler";
import { sha256Sync } from "../../lib/sha256-sync";
import type { SyncSql } from "../../lib/sync-sql";

const toSession = (text: string | null) => (text === null ? null : parseId("ses", text));
const toTurn = (text: string | null) => (text === null ? null : parseId("trn", text));

/** A deleted row leaves its text in the page, so that it is overwritten first. */
export function removeTexts(
  sql: SyncSql,
  table: "deliveries" | "parts" | "turns" | "early_changes",
  where: string,
  ...params: readonly (string | number)[]
): number {
  sql.rows(`UPDATE ${table} SET body = ${toFiller("body")} WHERE ${where}`, ...params);
  return sql.rows(`DELETE FROM ${table} WHERE ${where} RETURNING seq`, ...params).length;
}

interface DeliveryRow {
  readonly [column: string]: string | number | null;
  readonly seq: number;
  readonly body: string;
  readonly session: string | null;
  readonly stored_at: number;
  readonly attempts: number;
  readonly not_before: number;
}

export function createDeliveryRows(sql: SyncSql): ChatStore["deliveries"] {
  const toDelivery = ({ body, session, ...row }: DeliveryRow): WaitingDelivery => ({
    ...row,
    delivery: JSON.parse(body) as WaitingDelivery["delivery"],
    session: toSession(session),
  });
  return {
    // A platform's id may name a person, so that only its digest is kept.
    claim: (id, at) =>
      sql.rows("INSERT INTO claims (id, at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING RETURNING at", sha256Sync(id), at).length > 0,
    forgetClaims: (before) => void sql.rows("DELETE FROM claims WHERE at < ?", before),
    lastClaim: () => sql.rows<{ at: number | null }>("SELECT max(at) AS at FROM claims")[0]?.at ?? null,
    add: (delivery, { session, at }) =>
      void sql.rows(
        "INSERT INTO deliveries (body, session, stored_at, attempts, not_before) VALUES (?, ?, ?, 0, ?)",
        JSON.stringify(delivery),
        session,
        at,
        at,
      ),
    first: () => sql.rows<DeliveryRow>("SELECT * FROM deliveries ORDER BY seq LIMIT 1").map(toDelivery)[0] ?? null,
    postpone: (seq, not_before) =>
      void sql.rows("UPDATE deliveries SET attempts = attempts + 1, not_before = ? WHERE seq = ?", not_before, seq),
    remove: (seq) => void removeTexts(sql, "deliveries", "seq = ?", seq),
    isWaiting: (seq) => sql.rows("SELECT 1 FROM deliveries WHERE seq = ?", seq).length > 0,
    release: (seq) => void sql.rows("UPDATE deliveries SET session = NULL WHERE seq >= ?", seq),
  };
}

interface PartRow {
  readonly [column: string]: string | number | null;
  readonly seq: number;
  readonly operation: string;
  readonly session: string | null;
  readonly turn: string | null;
  readonly body: string;
  readonly edits: string | null;
  readonly is_first: number;
  readonly is_plain: number;
  readonly is_sending: number;
  readonly attempts: number;
  readonly not_before: number;
  readonly created_at: number;
}

function toPart({ body, session, turn, is_first, is_plain, is_sending, ...row }: PartRow): WaitingPart {
  const said = JSON.parse(body) as Pick<WaitingPart, "place" | "markdown" | "buttons">;
  const flags = { is_first: is_first === 1, is_plain: is_plain === 1, is_sending: is_sending === 1 };
  return { ...row, ...said, ...flags, session: toSession(session), turn: toTurn(turn) };
}

export function createPartRows(sql: SyncSql): ChatStore["parts"] {
  return {
    add: ({ operation, session, turn, place, markdown, buttons, edits, is_first }, at) =>
      void sql.rows(
        `INSERT INTO parts (operation, session, turn, body, edits, is_first, is_plain, is_sending, attempts, not_before, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, 0, ?7, ?7) ON CONFLICT (operation) DO NOTHING`,
        ...[operation, session, turn, JSON.stringify({ place, markdown, buttons }), edits, is_first ? 1 : 0, at],
      ),
    first: () => sql.rows<PartRow>("SELECT * FROM parts ORDER BY seq LIMIT 1").map(toPart)[0] ?? null,
    begin: (operation) => void sql.rows("UPDATE parts SET is_sending = 1, attempts = attempts + 1 WHERE operation = ?", operation),
    postpone: (operation, { not_before, is_plain, is_sending }) =>
      void sql.rows(
        "UPDATE parts SET is_sending = ?, not_before = ?, is_plain = max(is_plain, ?) WHERE operation = ?",
        ...[is_sending ? 1 : 0, not_before, is_plain ? 1 : 0, operation],
      ),
    remove: (operation) => void removeTexts(sql, "parts", "operation = ?", operation),
    removeTurn: (turn) => removeTexts(sql, "parts", "turn = ?", turn),
    move: (from, to) => {
      for (const table of ["parts", "turns"])
        sql.rows(
          `UPDATE ${table} SET body = json_set(body, '$.place', json(?)) WHERE json_extract(body, '$.place.target') = json(?)`,
          JSON.stringify(to),
          JSON.stringify(from.target),
        );
      sql.rows(
        "UPDATE address SET place = ? WHERE json_extract(place, '$.target') = json(?)",
        JSON.stringify(to),
        JSON.stringify(from.target),
      );
    },
  };
}

/** Changes that wait. The oldest leave first. */
const MAX_EARLY = 100;

export const forgetEdits = (sql: SyncSql): void => void removeTexts(sql, "early_changes", "body <> 'null'");

/** A platform's ids may name a person, so that only their digest is kept. */
export function createEarlyChangeRows(sql: SyncSql): ChatStore["early"] {
  const remove = (key: string) => void removeTexts(sql, "early_changes", "key = ?", sha256Sync(key));
  return {
    put: ({ key, text, at }, { session, expires_at }) => {
      remove(key);
      sql.rows(
        "INSERT INTO early_changes (key, body, session, at, expires_at) VALUES (?, ?, ?, ?, ?)",
        ...[sha256Sync(key), JSON.stringify(text), session, at, expires_at],
      );
      const oldest = sql.rows<{ seq: number }>("SELECT seq FROM early_changes ORDER BY seq DESC LIMIT 1 OFFSET ?", MAX_EARLY)[0]?.seq;
      if (oldest !== undefined) removeTexts(sql, "early_changes", "seq <= ?", oldest);
    },
    find: (key) => {
      const [row] = sql.rows<{ body: string; at: number }>("SELECT body, at FROM early_changes WHERE key = ?", sha256Sync(key));
      return row ? { key, text: JSON.parse(row.body) as string | null, at: row.at } : null;
    },
    remove,
    next: () => sql.rows<{ at: number | null }>("SELECT min(expires_at) AS at FROM early_changes")[0]?.at ?? null,
    forget: (until) => void removeTexts(sql, "early_changes", "expires_at <= ?", until),
    forgetEdits: () => forgetEdits(sql),
  };
}
