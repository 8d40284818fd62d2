/** Forgets an erased end user in the tenant's channels: the pairing, the place in access lists, and lines of the log. */
import { readPersonName } from "../../app/channels/chat-api";
import type { ChannelSettings } from "../../contract/channel";
import type { SyncSql } from "../../lib/sync-sql";

interface Person {
  /** The name of the end user, which begins with the platform. */
  readonly endUser: string;
  /** As sessions are noted for the end user. */
  readonly digest: string;
  /** Called if an access list named the person. */
  readonly unlisted: () => void;
}

/** Returns true if the list named the person. */
function leaveList(sql: SyncSql, name: string, user: string): boolean {
  const [row] = sql.rows<{ settings: string }>("SELECT settings FROM channels WHERE name = ?", name);
  const settings = row && (JSON.parse(row.settings) as ChannelSettings);
  if (!settings || settings.access.mode === "open" || !settings.access.users.includes(user)) return false;
  const access = { ...settings.access, users: settings.access.users.filter((other) => other !== user) };
  sql.rows("UPDATE channels SET settings = ? WHERE name = ?", JSON.stringify({ ...settings, access }), name);
  return true;
}

/** False: the tenant has no channel of the platform, so that nothing was changed. Call it inside a transaction. */
export function forgetPerson(sql: SyncSql, { endUser, digest, unlisted }: Person): boolean {
  const person = readPersonName(endUser);
  if (!person) return false;
  const { type, user } = person;
  const channels = sql.rows<{ name: string }>("SELECT name FROM channels WHERE json_extract(settings, '$.type') = ?", type);
  if (channels.length === 0) return false;
  for (const { name } of channels) {
    if (leaveList(sql, name, user)) unlisted();
    for (const table of ["channel_users", "pairing_guesses"]) sql.rows(`DELETE FROM ${table} WHERE channel = ? AND user = ?`, name, user);
  }
  sql.rows("DELETE FROM channel_log WHERE end_user = ?1 OR session IN (SELECT id FROM sessions WHERE end_user = ?1)", digest);
  return true;
}
