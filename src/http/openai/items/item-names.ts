/**
 * The names of OpenAI's items. A name holds the session and the id of what the item shows, so that no table has to map one to the other, and
 * a name alone finds its item. Older builds made names without the session: such a name is of an item of the session that is asked.
 */
import { type ItemId, parseId, type SessionId, type TurnId } from "../../../domain/ids";

const PREFIXES = ["msg", "rs", "fc", "fco", "mcp", "mcpr", "mcpa"] as const;
type ItemPrefix = (typeof PREFIXES)[number];

export interface ItemName {
  readonly prefix: ItemPrefix;
  /** Null in a name that an older build made. */
  readonly session: SessionId | null;
  /** The message, call or result that the item shows, or a part of it. */
  readonly id: ItemId;
  /** From 1: a reply whose text and reasoning alternate is several items of each kind. */
  readonly nth: number;
}

const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";
const NAME = new RegExp(`^(${PREFIXES.join("|")})_(${ULID})?(${ULID})(?:_([2-9]|[1-9]\\d{1,3}))?$`);

const toUlid = (id: SessionId | ItemId | TurnId): string => id.slice(id.indexOf("_") + 1);

interface NewName extends Pick<ItemName, "prefix" | "id"> {
  readonly session: SessionId;
  readonly nth?: number;
}

export const toItemName = ({ prefix, session, id, nth = 1 }: NewName): string =>
  `${prefix}_${toUlid(session)}${toUlid(id)}${nth > 1 ? `_${nth}` : ""}`;

/** Null for a name that this service cannot have given. */
export function parseItemName(name: string): ItemName | null {
  const [, kind, sessionUlid, itemUlid = "", nth = "1"] = NAME.exec(name) ?? [];
  const prefix = PREFIXES.find((each) => each === kind);
  const id = parseId("msg", `msg_${itemUlid}`);
  const session = sessionUlid === undefined ? null : parseId("ses", `ses_${sessionUlid}`);
  return prefix && id ? { prefix, session, id, nth: Number(nth) } : null;
}

/** The name as this build makes it for an item of the session. Null for a name of another session. */
export function toNameIn(session: SessionId, name: string): string | null {
  const parsed = parseItemName(name);
  return parsed && (parsed.session ?? session) === session ? toItemName({ ...parsed, session }) : null;
}

/** The compaction that came before a response. One response has at most one, so that its turn names it. */
export interface CompactionName {
  readonly session: SessionId;
  readonly turn: TurnId;
}

export const toCompactionName = ({ session, turn }: CompactionName): string => `cmp_${toUlid(session)}${toUlid(turn)}`;

const COMPACTION = new RegExp(`^cmp_(${ULID})(${ULID})$`);

/** Null for a name that this service cannot have given. */
export function parseCompactionName(name: string): CompactionName | null {
  const [, sessionUlid = "", turnUlid = ""] = COMPACTION.exec(name) ?? [];
  const [session, turn] = [parseId("ses", `ses_${sessionUlid}`), parseId("trn", `trn_${turnUlid}`)];
  return session && turn ? { session, turn } : null;
}
