/** The stored frames of the live stream: packs of lines, and the reserved offsets. */
import { insertFiller, toFiller, toFillerRows } from "../../lib/scrub/filler";
import { hasSchema, readMeta, writeMeta } from "../log/log-schema";
import type { Sql } from "../log/sql";
import { type FrameLine, formatLine, parseLine } from "./frames";

/** A row holds the lines of the offsets from `first` to `last`. */
type Pack = { readonly first: number; readonly last: number; readonly at: number; readonly lines: string };

const RESERVED = "stream_reserved";
/** The most UTF-16 units of one read, unless a single frame has more. It bounds what a stalled reader holds. */
export const READ_UNITS = 128_000;

/** The first of `lines`, up to the limits of one read, at least one. */
export function takeUnits(lines: readonly FrameLine[], limit: number): FrameLine[] {
  let units = 0;
  const end = lines.findIndex(({ json }, index) => {
    units += json.length;
    return index > 0 && (index >= limit || units > READ_UNITS);
  });
  return end < 0 ? [...lines] : lines.slice(0, end);
}

export class StoredFrames {
  readonly sql: Sql;

  constructor(sql: Sql) {
    this.sql = sql;
  }

  /** The offset up to which all offsets are reserved, by this life or an earlier one. */
  get reserved(): number {
    return hasSchema(this.sql) ? Number(readMeta(this.sql, RESERVED) ?? 0) : 0;
  }

  reserve(offset: number): void {
    writeMeta(this.sql, RESERVED, String(offset));
  }

  /** Stores lines as one row. The caller keeps them within a row's limit. */
  insert(lines: readonly FrameLine[], at: number): void {
    const [first, last] = [lines[0], lines.at(-1)];
    if (first && last) this.#insert({ first: first.offset, last: last.offset, at, lines: lines.map(formatLine).join("\n") });
  }

  #insert({ first, last, at, lines }: Pack): void {
    this.sql.all("INSERT INTO frames (first, last, at, lines) VALUES (?, ?, ?, ?)", first, last, at, lines);
  }

  /** Frames after `after`, at most `limit`. It reads several packs while they are small, so that a reader holds at most one large row. */
  readAfter(after: number, limit: number): FrameLine[] {
    const found: FrameLine[] = [];
    let units = 0;
    for (let at = after; hasSchema(this.sql) && found.length < limit && units < READ_UNITS; ) {
      const query = "SELECT first, last, at, lines FROM frames WHERE last > ? ORDER BY first LIMIT 1";
      const [pack] = this.sql.all<Pack>(query, at);
      if (!pack) break;
      const lines = pack.lines.split("\n").map((text, index) => parseLine(text, pack.first + index));
      found.push(...lines.filter((line) => line.offset > after));
      units += pack.lines.length;
      at = pack.last;
    }
    return takeUnits(found, limit);
  }

  /** The last offset of the newest pack that begins at or before `offset`. Null when there is none. */
  lastBefore(offset: number): number | null {
    if (!hasSchema(this.sql)) return null;
    return this.sql.all<{ last: number }>("SELECT last FROM frames WHERE first <= ? ORDER BY first DESC LIMIT 1", offset)[0]?.last ?? null;
  }

  /** The first stored offset. Null when nothing is stored. */
  get oldest(): number | null {
    if (!hasSchema(this.sql)) return null;
    return this.sql.all<{ first: number }>("SELECT first FROM frames ORDER BY first LIMIT 1")[0]?.first ?? null;
  }

  /** The offset before the first line that holds `what`. Null when no line does. */
  find(what: string): number | null {
    if (!hasSchema(this.sql)) return null;
    const query = "SELECT first, lines FROM frames WHERE instr(lines, ?) > 0 ORDER BY first LIMIT 1";
    const [pack] = this.sql.all<{ first: number; lines: string }>(query, what);
    return pack ? pack.first + pack.lines.split("\n").findIndex((line) => line.includes(what)) - 1 : null;
  }

  /** Deletes everything up to `offset`, and overwrites it first. Filler takes the freed pages (`remakeIndex`). */
  deleteTo(offset: number): void {
    const used = this.sql.usedBytes();
    const torn = this.sql.all<Pack>("SELECT first, last, at, lines FROM frames WHERE first <= ? AND last > ?", offset, offset)[0];
    this.sql.all(`UPDATE frames SET lines = ${toFiller("lines")} WHERE first <= ?`, offset);
    this.sql.all("DELETE FROM frames WHERE first <= ?", offset);
    const freed = used - this.sql.usedBytes();
    if (freed > 0) this.sql.all(insertFiller(toFillerRows(freed)));
    const rest = torn?.lines.split("\n").slice(offset + 1 - torn.first) ?? [];
    if (torn) this.#insert({ ...torn, first: offset + 1, lines: rest.join("\n") });
  }

  /** Deletes all but the newest `packs` packs. */
  prune(packs: number): void {
    this.sql.all("DELETE FROM frames WHERE first <= (SELECT first FROM frames ORDER BY first DESC LIMIT 1 OFFSET ?)", packs);
  }
}
