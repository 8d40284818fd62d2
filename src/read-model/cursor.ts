/** The place in a list of sessions after which the next page begins, as the client carries it: base64url of two fields. */
import { parseId, type SessionId } from "../domain/ids";

export interface Cursor {
  readonly updatedAt: number;
  readonly id: SessionId;
}

export const toCursor = ({ updatedAt, id }: Cursor): string =>
  btoa(`${updatedAt}:${id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Null when the text is no cursor that this server made. */
export function parseCursor(text: string): Cursor | null {
  const [, time, name] = /^(\d{1,15}):(\w+)$/.exec(decode(text)) ?? [];
  const id = name === undefined ? null : parseId("ses", name);
  return id ? { updatedAt: Number(time), id } : null;
}

function decode(text: string): string {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
