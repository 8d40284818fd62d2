/** Stores content: texts of any size, in rows well under the platform's 2 MB, which a local run does not enforce. */
import { takeHead } from "../../context/tool-results";
import type { BodyId } from "../../domain/ids";
import { toFiller } from "../../lib/scrub/filler";
import type { Sql } from "./sql";

/** UTF-16 units in a row. Each takes at most three bytes, so a row has at most 1.5 MB. */
const CHUNK_UNITS = 500_000;
/** The most bound parameters of a statement (docs/platform-facts.md). */
const MAX_PARAMS = 100;

export interface NewBody {
  readonly id: BodyId;
  readonly text: string;
}

/** Splits `text` into pieces that never end inside a character. */
export function splitBody(text: string): string[] {
  const chunks: string[] = [];
  let rest = text;
  do {
    const chunk = takeHead(rest, CHUNK_UNITS);
    chunks.push(chunk);
    rest = rest.slice(chunk.length);
  } while (rest.length > 0);
  return chunks;
}

export function writeBody(sql: Sql, body: NewBody): void {
  for (const [part, text] of splitBody(body.text).entries())
    sql.all("INSERT INTO bodies (id, part, text) VALUES (?, ?, ?)", body.id, part, text);
}

/** A deleted row leaves its bytes in the page. So they are overwritten first, in place, with the same number of bytes. */
export function deleteBodies(sql: Sql, ids: readonly BodyId[]): void {
  for (const id of ids) {
    sql.all(`UPDATE bodies SET text = ${toFiller("text")} WHERE id = ?`, id);
    sql.all("DELETE FROM bodies WHERE id = ?", id);
  }
}

/** Reads each body once. Null: the body does not exist. */
export function createNameReader(sql: Sql): (id: BodyId) => string | null {
  const known = new Map<BodyId, string | null>();
  return (id) => {
    const name = known.has(id) ? known.get(id) : readBodies(sql, [id]).get(id);
    known.set(id, name ?? null);
    return name ?? null;
  };
}

/** The texts of those `ids` that exist. */
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
