/** What a look-up reads of its session: items by position, what the view shows of them, and how much one answer may weigh. */
import type { RecallScope } from "../../context/recall/request";
import { isAmong } from "../../domain/branch";
import type { ExecutionId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { parseItem } from "../log/log-tables";
import type { Sql } from "../log/sql";
import { isLookUp } from "./recall-index";

/** Tokens of one answer, at most; where the window is small, an eighth of it. */
export const MOST_TOKENS = { words: 1_800, fetch: 2_000 } as const;
const LEAST_TOKENS = 300;
const SHARE_OF_WINDOW = 1 / 8;

export function answerTokens(most: number, window: number | null): number {
  return window === null ? most : Math.max(LEAST_TOKENS, Math.min(most, Math.floor(window * SHARE_OF_WINDOW)));
}

export const scopeOf = ({ session, next_position }: SessionState): RecallScope => ({ session, last: next_position - 1 });

/** Whether the view shows what stands at a position, as it is. */
export function shownIn({ view }: Pick<SessionState, "view">): (position: number) => boolean {
  const reduced = new Set(view.reduced.map(({ position }) => position));
  const shown = new Set(view.items.map(({ position }) => position).filter((position) => !reduced.has(position)));
  return (position) => shown.has(position);
}

/** The last position that is out of the view, or shown as less than it is; 0: there is none. */
export function lastHidden(state: SessionState): number {
  const isShown = shownIn(state);
  let position = state.next_position - 1;
  while (position > 0 && (isShown(position) || isAmong(state.branch.elsewhere, position))) position -= 1;
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

/** The call and its result, as far as there is one. */
export function readExecution(sql: Sql, execution: ExecutionId): ItemMeta[] {
  const query = "SELECT meta FROM items WHERE json_extract(meta, '$.tool.execution') = ? ORDER BY position";
  return sql.all<{ meta: string }>(query, execution).map(({ meta }) => parseItem(meta));
}

/** Whether a search may return it: not what was redacted, and not what a search returned. */
export const isFindable = (item: ItemMeta, redacted: ReadonlySet<string>): boolean => !isLookUp(item) && !redacted.has(item.id);
