/** Reads the record for a look-up: items by position, which of them the view shows, and the size of an answer. */
import type { RecallScope } from "../../context/recall/request";
import { isAmong, listUnread } from "../../domain/branch";
import type { ExecutionId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { parseItem } from "../log/log-tables";
import type { Sql } from "../log/sql";
import { isLookUp } from "./recall-index";

/** The most tokens of one answer. A small window allows an eighth of itself, but at least `LEAST_TOKENS`. */
export const MOST_TOKENS = { words: 1_800, fetch: 2_000 } as const;
const LEAST_TOKENS = 300;
const SHARE_OF_WINDOW = 1 / 8;

export function answerTokens(most: number, window: number | null): number {
  return window === null ? most : Math.max(LEAST_TOKENS, Math.min(most, Math.floor(window * SHARE_OF_WINDOW)));
}

export const toRecallScope = ({ session, next_position }: SessionState): RecallScope => ({ session, last: next_position - 1 });

/** Tells whether the view shows the item at a position, whole. */
export function shownIn({ view }: Pick<SessionState, "view">): (position: number) => boolean {
  const reduced = new Set(view.reduced.map(({ position }) => position));
  const shown = new Set(view.items.map(({ position }) => position).filter((position) => !reduced.has(position)));
  return (position) => shown.has(position);
}

/** The last position on this branch that is out of the view, or shown reduced. 0 when there is none. */
export function lastHidden(state: SessionState): number {
  const [isShown, unread] = [shownIn(state), listUnread(state.branch)];
  let position = state.next_position - 1;
  while (position > 0 && (isShown(position) || isAmong(unread, position))) position -= 1;
  return position;
}

const MOST_PARAMS = 100;

export function readItemsAt(sql: Sql, positions: readonly number[]): ItemMeta[] {
  const found: ItemMeta[] = [];
  for (let start = 0; start < positions.length; start += MOST_PARAMS) {
    const some = positions.slice(start, start + MOST_PARAMS);
    const query = `SELECT meta FROM items WHERE position IN (${some.map(() => "?").join(", ")})`;
    found.push(...sql.all<{ meta: string }>(query, ...some).map(({ meta }) => parseItem(meta)));
  }
  return found;
}

/** The call and its result, if it has one. */
export function readExecution(sql: Sql, execution: ExecutionId): ItemMeta[] {
  const query = "SELECT meta FROM items WHERE json_extract(meta, '$.tool.execution') = ? ORDER BY position";
  return sql.all<{ meta: string }>(query, execution).map(({ meta }) => parseItem(meta));
}

/** True when a search may return the item: it is not redacted, and not part of a look-up. */
export const isFindable = (item: ItemMeta): boolean => !isLookUp(item) && !item.redacted;
