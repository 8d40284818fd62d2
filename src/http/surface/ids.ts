/**
 * Names of our resources in the vendors' words. A name holds all that finds its resource, so that no table has to map one to the
 * other: a response is named by its session and its turn.
 */
import { parseId, type SessionId, type TurnId } from "../../domain/ids";

/** One answer as a client sees it: a turn up to its end, or to its wait for the client's tools. Legs count from 1. */
export interface NamedLeg {
  readonly session: SessionId;
  readonly turn: TurnId;
  readonly leg: number;
}

const toUlid = (id: SessionId | TurnId): string => id.slice(id.indexOf("_") + 1);

/** `prefix` is the vendor's, such as `resp_`. */
export const toLegName = (prefix: string, { session, turn, leg }: NamedLeg): string =>
  `${prefix}${toUlid(session)}${toUlid(turn)}${leg > 1 ? `_${leg}` : ""}`;

const LEG = /^([0-9A-Z]{26})([0-9A-Z]{26})(?:_([2-9]|[1-9]\d{1,3}))?$/;

/** Null for a name that this service cannot have given. */
export function parseLegName(prefix: string, name: string): NamedLeg | null {
  if (!name.startsWith(prefix)) return null;
  const [, sessionUlid = "", turnUlid = "", leg = "1"] = LEG.exec(name.slice(prefix.length)) ?? [];
  const session = parseId("ses", `ses_${sessionUlid}`);
  const turn = parseId("trn", `trn_${turnUlid}`);
  return session && turn ? { session, turn, leg: Number(leg) } : null;
}

/** `prefix` is the vendor's, such as `conv_`. */
export const toSessionName = (prefix: string, session: SessionId): string => `${prefix}${toUlid(session)}`;

/** Null for a name that this service cannot have given. */
export const parseSessionName = (prefix: string, name: string): SessionId | null =>
  name.startsWith(prefix) ? parseId("ses", `ses_${name.slice(prefix.length)}`) : null;

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_DIGITS = 10;

/** When the id was made, in epoch milliseconds. A stream that begins again has the same time without asking for it. */
export const readIdTime = (id: TurnId): number =>
  [...toUlid(id).slice(0, TIME_DIGITS)].reduce((time, digit) => time * DIGITS.length + DIGITS.indexOf(digit), 0);
