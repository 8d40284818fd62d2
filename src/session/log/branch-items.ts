/** Reads the items of one branch and skips those of others. A session without branches needs one query. */
import { rangesWithin } from "../../domain/branch";
import type { CoveredRange } from "../../domain/compaction-events";
import type { ItemMeta } from "../../domain/message";
import { readItems } from "./log-tables";
import type { Sql } from "./sql";

interface BranchRange {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** Items of the branch that leaves `elsewhere` out, by position. `from` and `to` are included. */
export function readBranchItems(sql: Sql, elsewhere: readonly CoveredRange[], { from, to, limit, order }: BranchRange): ItemMeta[] {
  const ranges = rangesWithin(elsewhere, { from, to });
  const found: ItemMeta[] = [];
  for (const range of order === "asc" ? ranges : ranges.toReversed()) {
    if (found.length >= limit) break;
    found.push(...readItems(sql, { ...range, limit: limit - found.length, order }));
  }
  return found;
}

/** Items read at a time. */
const PAGE = 64;
/** Items read first on the way back: what is looked for is usually near. */
const FIRST_PAGE = 8;

/** Items of the branch from position `from` back to the first, read page by page, newest first. */
export function* backwards(sql: Sql, elsewhere: readonly CoveredRange[], from = Number.MAX_SAFE_INTEGER): Generator<ItemMeta> {
  let limit = FIRST_PAGE;
  for (let to = from; to > 0; limit = PAGE) {
    const items = readBranchItems(sql, elsewhere, { from: 1, to, limit, order: "desc" });
    yield* items;
    to = (items.at(-1)?.position ?? 1) - 1;
  }
}

/** Items of the branch within the range, read page by page, oldest first. */
export function* forwards(sql: Sql, elsewhere: readonly CoveredRange[], { from, to }: CoveredRange): Generator<ItemMeta> {
  for (let first = from; first <= to; ) {
    const items = readBranchItems(sql, elsewhere, { from: first, to, limit: PAGE, order: "asc" });
    if (items.length === 0) return;
    yield* items;
    first = (items.at(-1)?.position ?? to) + 1;
  }
}

/**
 * Finds the newest matching item up to position `from`. The item is usually near, so pages are read one at a time. Null
 * when none matches.
 */
export function findNewest(
  { sql, elsewhere, from }: { readonly sql: Sql; readonly elsewhere: readonly CoveredRange[]; readonly from?: number },
  isIt: (item: ItemMeta) => boolean,
): ItemMeta | null {
  for (const item of backwards(sql, elsewhere, from)) if (isIt(item)) return item;
  return null;
}
