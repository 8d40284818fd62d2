/**
 * SQL that keeps the index of sessions in step with the rows of a session. A batch changes it once, at its end: what the
 * batch leaves at each position. In every statement ?1 to ?3 are those of `statements`, and ?4 is JSON.
 */
import { byteLength } from "./message-row";
import type { RowOp } from "./row-ops";
import { GUARD, type Statement } from "./statements";

interface IndexedText {
  readonly terms: string;
  readonly seq: number;
}

/** Bytes of terms in one parameter, of the 2,000,000 that it holds (Cloudflare's D1 limits). The rest of the JSON needs little. */
const MOST_BYTES = 1_800_000;

const ROWS_AT_PLACES = `SELECT r.id FROM json_each(?4) AS place CROSS JOIN search_rows AS r
  WHERE r.tenant_id = ?1 AND r.session_id = ?2 AND r.position = place.value`;

/** `isScratch`: rows that exist only to be compared are not in the index. */
export function indexTexts(ops: readonly RowOp[], isScratch: boolean): readonly Statement[] {
  const texts = new Map<number, IndexedText>();
  for (const op of ops) {
    if (op.op === "index_text") texts.set(op.position, { terms: op.terms, seq: op.seq });
    if (op.op === "redact_message") texts.set(op.position, { terms: "", seq: op.seq });
  }
  if (texts.size === 0) return [];
  const places = JSON.stringify([...texts.keys()]);
  const rows = [...texts].filter(([, { terms }]) => terms !== "").map(([position, { terms, seq }]) => [position, terms, seq] as const);
  const removed = [
    // The index reads a row's terms to remove them, so the row goes last.
    ...(isScratch ? [] : [`DELETE FROM search_index WHERE rowid IN (${ROWS_AT_PLACES}) AND ${GUARD}`]),
    `DELETE FROM search_rows WHERE id IN (${ROWS_AT_PLACES}) AND ${GUARD}`,
  ];
  return [...removed.map((sql) => ({ sql, params: [places] })), ...splitRows(rows).flatMap((part) => insertRows(part, isScratch))];
}

type SearchRow = readonly [position: number, terms: string, seq: number];

function splitRows(rows: readonly SearchRow[]): readonly (readonly SearchRow[])[] {
  const parts: SearchRow[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const size = byteLength(row[1]);
    if (bytes + size > MOST_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    bytes += size;
    parts.at(-1)?.push(row);
  }
  return parts;
}

function insertRows(rows: readonly SearchRow[], isScratch: boolean): readonly Statement[] {
  const inserted = `INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq)
    SELECT ?1, ?2, json_extract(row.value, '$[0]'), json_extract(row.value, '$[1]'), json_extract(row.value, '$[2]')
    FROM json_each(?4) AS row WHERE ${GUARD}`;
  const indexed = `INSERT INTO search_index (rowid, terms) SELECT t.id, t.terms FROM search_texts AS t WHERE t.id IN (${ROWS_AT_PLACES}) AND ${GUARD}`;
  return [
    { sql: inserted, params: [JSON.stringify(rows)] },
    ...(isScratch ? [] : [{ sql: indexed, params: [JSON.stringify(rows.map(([position]) => position))] }]),
  ];
}
