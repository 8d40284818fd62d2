/** What a key that is held to some sessions may say of whose a session is: of a new one, of a changed one, and of those that it looks for. */
import { isHeldToSessions } from "../domain/key-restriction";
import { err, ok, type Result } from "../lib/result";
import { readPrincipal } from "./auth";
import type { Asker } from "./deps";
import type { HttpError } from "./problem";

interface Labelled {
  readonly end_user?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

const beyond = (field: "end_user" | "metadata" | "session_id", detail: string) => err({ code: "beyond_own_key" as const, field, detail });

/** Adds what every session within the key's reach has. Refuses what no such session can have. */
export function labelWithinReach<L extends Labelled>(c: Asker, asked: L): Result<L, HttpError> {
  const { restriction } = readPrincipal(c);
  if (!isHeldToSessions(restriction)) return ok(asked);
  const { end_users, metadata } = restriction;
  const end_user = asked.end_user ?? (end_users?.length === 1 ? end_users[0] : undefined);
  if (end_users !== null && end_user === undefined)
    return beyond("end_user", "the calling key is held to some end users: name one of them");
  if (end_users !== null && !end_users.includes(end_user ?? "")) return beyond("end_user", "the calling key is not for this end user");
  const other = Object.entries(metadata ?? {}).find(([name, value]) => (asked.metadata?.[name] ?? value) !== value);
  if (other) return beyond("metadata", `the calling key is for sessions whose ${other[0]} is another`);
  return ok({ ...asked, ...(end_user !== undefined && { end_user }), ...(metadata && { metadata: { ...asked.metadata, ...metadata } }) });
}

/** What an access token of the key may open. A token carries neither models nor metadata, so a key that is held to some makes none that goes beyond. */
export function boundToken(
  c: Asker,
  asked: { readonly session_id?: string | undefined; readonly end_user?: string | undefined },
): Result<unknown, HttpError> {
  const { restriction } = readPrincipal(c);
  if (!restriction) return ok(null);
  const field = asked.session_id === undefined ? "end_user" : "session_id";
  if (restriction.models !== null) return beyond(field, "the calling key is held to some models, and a token is not");
  if (asked.session_id !== undefined) return ok(null);
  if (restriction.metadata !== null) return beyond(field, "the calling key is held to the metadata of sessions: name a session_id");
  return labelWithinReach(c, { end_user: asked.end_user });
}

/** Refuses to change whose a session is: only a key that reaches all sessions gives one to another end user. */
export function refuseRelabel(c: Asker, { end_user, metadata }: Labelled): HttpError | null {
  const { restriction } = readPrincipal(c);
  if (!isHeldToSessions(restriction)) return null;
  const field = end_user !== undefined ? "end_user" : metadata !== undefined && restriction.metadata !== null ? "metadata" : null;
  return field && { code: "beyond_own_key", field, detail: "the calling key is held to some sessions, and cannot change whose one is" };
}
