/** Content: texts of any size, in rows well under the platform's 2 MB, which a local run does not enforce. */
import { headOf } from "../../context/tool-results";
import type { BodyId } from "../../domain/ids";
import type { Sql } from "./sql";

/** UTF-16 units a row: at most three bytes each, so 1.5 MB. */
const CHUNK_UNITS = 500_000;
/** Bound parameters a statement, at most (docs/platform-facts.md). */
const MAX_PARAMS = 100;

export interface NewBody {
  readonly id: BodyId;
  readonly text: string;
}

/** `text` in pieces that never end inside a character. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  let rest = text;
  do {
    const chunk = headOf(rest, CHUNK_UNITS);
    chunks.push(chunk);
    rest = rest.slice(chunk.length);
  } while (rest.length > 0);
  return chunks;
}

export function writeBody(sql: Sql, body: NewBody): void {
  for (const [part, text] of chunksOf(body.text).entries())
    sql.all("INSERT INTO bodies (id, part, text) VALUES (?, ?, ?)", body.id, part, text);
}

/** A deleted row's bytes stay in its page: they are written over first, in place, since as many come as there were. */
export const overwritten = (column: string): string => `printf('%.*c', length(CAST(${column} AS BLOB)), 'x')`;

export function deleteBodies(sql: Sql, ids: readonly BodyId[]): void {
  for (const id of ids) {
    sql.all(`UPDATE bodies SET text = ${overwritten("text")} WHERE id = ?`, id);
    sql.all("DELETE FROM bodies WHERE id = ?", id);
  }
}

/** The texts of `ids` that exist. */
export function readBodies(sql: Sql, ids: readonly BodyId[]): Map<BodyId, string> {
  const found = new Map<BodyId, string>();
  for (let start = 0; start < ids.length; start += MAX_PARAMS) {
    const some = ids.slice(start, start + MAX_PARAMS);
    const marks = some.map(() => "?").join(", ");
    const rows = sql.all<{ id: string; text: string }>(`SELECT id, text FROM bodies WHERE id IN (${marks}) ORDER BY id, part`, ...some);
    for (const row of rows) found.set(row.id as BodyId, (found.get(row.id as BodyId) ?? "") + row.text);
  }
  return found;
}
