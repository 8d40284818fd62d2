/** Reads pages of messages. A page holds whole messages: a reply and its calls are never on two pages. */
import type { Outcome, PageInput } from "../../app/session-api";
import type { DisplayItem } from "../../contract/item";
import type { Page } from "../../contract/page";
import type { CoveredRange } from "../../domain/compaction-events";
import type { ItemId } from "../../domain/ids";
import { type ItemMeta, MAX_REPLY_CALLS } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { startsMessage } from "../display";
import { backwards as itemsBack, forwards as itemsFrom, readBranchItems } from "../log/branch-items";
import { ALL_POSITIONS, findByClientId, readItems } from "../log/log-tables";
import { findItemAnywhere } from "../log/session-past";
import type { Sql } from "../log/sql";
import type { Session } from "../session";
import { weighMessage } from "./answer-size";
import { takePage } from "./read-calls";

/** A branch: the ranges that it leaves out, and its last position. */
interface Line {
  readonly elsewhere: readonly CoveredRange[];
  readonly last: number;
}

type Message = [ItemMeta, ...ItemMeta[]];

/**
 * `after` may be the place of any item. A message that begins at or before it (`desc`: at or behind it) is left out as a whole. `isLast`: ends
 * the page with the message that begins with this item. Absent: nothing but its limit does.
 */
export function readMessages(
  { deps: { sql }, content }: Session,
  line: Line,
  { isLast = () => false, ...asked }: PageInput & { readonly isLast?: (first: ItemMeta) => boolean },
): Page<DisplayItem> {
  const { after, order } = asked;
  let { limit } = asked;
  const found: Message[] = [];
  const walk = order === "asc" ? forwards(sql, line, after ?? 1) : backwards(sql, line, after);
  for (const message of walk) {
    const { position } = message[0];
    if (after !== null && (order === "asc" ? position <= after : position >= after)) continue;
    found.push(message);
    if (found.length > limit) break;
    if (isLast(message[0])) limit = found.length;
  }
  const { data, has_more } = takePage(found, limit, weighMessage);
  if (order === "asc") return { data: content.display(data.flat()), has_more };
  return { data: content.display(data.toReversed().flat()).toReversed(), has_more };
}

/** The message that the id names. A reply may be named by any of its calls. */
export function showMessage({ deps: { sql }, content }: Session, id: ItemId): Outcome<DisplayItem> {
  const named = findItemAnywhere(sql, id);
  const [message] = named ? content.display(readAround(sql, named)) : [];
  return message ? ok(message) : err({ code: "message_not_found", message: id });
}

/** All items of the message that holds this one. They have consecutive positions. */
export function readAround(sql: Sql, named: ItemMeta): readonly ItemMeta[] {
  const { position } = named;
  const message: Message = [named];
  const earlier = readItems(sql, { from: position - MAX_REPLY_CALLS, to: position - 1, limit: MAX_REPLY_CALLS, order: "desc" });
  for (const before of earlier) {
    if (startsMessage(message[0], before)) break;
    message.unshift(before);
  }
  const later = readItems(sql, { from: position + 1, to: position + MAX_REPLY_CALLS, limit: MAX_REPLY_CALLS, order: "asc" });
  for (const next of later) {
    if (startsMessage(next, message.at(-1))) break;
    message.push(next);
  }
  return message;
}

/** The message with the client's own id, on whichever branch it is. Empty: none is recorded. */
export function readByClientId({ deps: { sql }, content }: Session, clientId: string): readonly DisplayItem[] {
  const item = findByClientId(sql, clientId);
  return item ? content.display(readAround(sql, item)) : [];
}

/** Messages from the one on that holds or follows position `from`. */
function* forwards(sql: Sql, { elsewhere, last }: Line, from: number): Generator<Message> {
  let message: Message | null = null;
  for (const item of itemsFrom(sql, elsewhere, { from, to: last })) {
    if (message && !startsMessage(item, message.at(-1))) message.push(item);
    else {
      if (message) yield message;
      message = [item];
    }
  }
  if (message) yield message;
}

/** Messages from the newest on. `before`: a position that the first of them may hold. Null: from the branch's end. */
function* backwards(sql: Sql, { elsewhere, last }: Line, before: number | null): Generator<Message> {
  let message: Message | null = null;
  const from = before === null ? last : Math.min(last, findEnd(sql, elsewhere, before));
  for (const item of itemsBack(sql, elsewhere, from)) {
    if (message && !startsMessage(message[0], item)) message.unshift(item);
    else {
      if (message) yield message;
      message = [item];
    }
  }
  if (message) yield message;
}

/** A place that is not before the end of the message around `position`, which may be one of its calls. */
function findEnd(sql: Sql, elsewhere: readonly CoveredRange[], position: number): number {
  const [item] = readBranchItems(sql, elsewhere, { from: position, to: ALL_POSITIONS, limit: 1, order: "asc" });
  return item?.kind === "tool_call" ? position + MAX_REPLY_CALLS : position;
}
