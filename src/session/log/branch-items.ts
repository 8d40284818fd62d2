/** Items of one line of the conversation: what stands on others is passed over. Of a session without branches it is one query. */
import { rangesWithin } from "../../domain/branch";
import type { CoveredRange } from "../../domain/compaction-events";
import type { ItemMeta } from "../../domain/message";
import { readItems } from "./log-tables";
import type { Sql } from "./sql";

export interface BranchRange {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** Items of the line that leaves `elsewhere` out, by position, both ends included. */
export function readBranchItems(sql: Sql, elsewhere: readonly CoveredRange[], { from, to, limit, order }: BranchRange): ItemMeta[] {
  const ranges = rangesWithin(elsewhere, { from, to });
  const found: ItemMeta[] = [];
  for (const range of order === "asc" ? ranges : ranges.toReversed()) {
    if (found.length >= limit) break;
    found.push(...readItems(sql, { ...range, limit: limit - found.length, order }));
  }
  return found;
}

/** The same, page by page, newest first. */
export function* backwards(sql: Sql, elsewhere: readonly CoveredRange[], page: number): Generator<ItemMeta> {
  for (let to = Number.MAX_SAFE_INTEGER; to > 0; ) {
    const items = readBranchItems(sql, elsewhere, { from: 1, to, limit: page, order: "desc" });
    yield* items;
    to = (items.at(-1)?.position ?? 1) - 1;
  }
}
