/** Reads pages of messages. A page holds whole messages: a reply and its calls are never on two pages. */
import type { PageInput } from "../../app/session-api";
import type { DisplayItem } from "../../contract/item";
import type { Page } from "../../contract/page";
import type { CoveredRange } from "../../domain/compaction-events";
import { type ItemMeta, MAX_REPLY_CALLS } from "../../domain/message";
import { startsMessage } from "../display";
import { backwards as itemsBack, forwards as itemsFrom, readBranchItems } from "../log/branch-items";
import { ALL_POSITIONS, findByClientId } from "../log/log-tables";
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

/** `after` may be the place of any item. A message that begins at or before it (`desc`: at or behind it) is left out as a whole. */
export function readMessages({ deps: { sql }, content }: Session, line: Line, asked: PageInput): Page<DisplayItem> {
  const { after, limit, order } = asked;
  const found: Message[] = [];
  const walk = order === "asc" ? forwards(sql, line, after ?? 1) : backwards(sql, line, after);
  for (const message of walk) {
    const { position } = message[0];
    if (after !== null && (order === "asc" ? position <= after : position >= after)) continue;
    found.push(message);
    if (found.length > limit) break;
  }
  const { data, has_more } = takePage(found, limit, weighMessage);
  if (order === "asc") return { data: content.display(data.flat()), has_more };
  return { data: content.display(data.toReversed().flat()).toReversed(), has_more };
}

/** The message with the client's own id, on whichever branch it is. Empty: none is recorded. */
export function readByClientId({ deps: { sql }, content }: Session, clientId: string): readonly DisplayItem[] {
  const item = findByClientId(sql, clientId);
  if (!item) return [];
  const [message = []] = forwards(sql, { elsewhere: [], last: item.position + MAX_REPLY_CALLS }, item.position);
  return content.display(message);
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
