/**
 * Who is paired with a channel, and the codes that pair. A code is used once and lasts an hour. Wrong codes are counted by user and by channel:
 * a user who guesses is locked out for an hour, and 100 guesses an hour find one of 30^8 codes in no time that matters.
 */
import { MAX_PAIRED_USERS, MAX_PAIRING_CODES, PAIRING_CODE_MS, type Pairing } from "../../app/channels-api";
import type { TenantError } from "../../app/tenant-api";
import type { PairedUserView } from "../../contract/channel";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";

export const MAX_WRONG_BY_USER = 5;
export const MAX_WRONG_BY_CHANNEL = 100;
const GUESSES_MS = 3_600_000;

export interface PairingStore {
  /** Call it inside a transaction. */
  addCode(channel: string, hash: string, at: number): Result<{ readonly expires_at: number }, TenantError>;
  /** Consumes the code. A user who is paired already stays paired, and consumes none. Call it inside a transaction. */
  pair(input: { readonly channel: string; readonly hashes: readonly string[]; readonly user: string }, at: number): Pairing;
  list(channel: string): readonly PairedUserView[];
  unpair(channel: string, user: string): Result<null, TenantError>;
}

type Count = { readonly n: number };

export function createPairingStore(sql: SyncSql): PairingStore {
  const count = (query: string, ...values: readonly (string | number)[]): number => sql.rows<Count>(query, ...values)[0]?.n ?? 0;
  const isPaired = (channel: string, user: string): boolean =>
    sql.rows("SELECT 1 FROM channel_users WHERE channel = ? AND user = ?", channel, user).length > 0;

  function isLocked(channel: string, user: string, at: number): boolean {
    sql.rows("DELETE FROM pairing_guesses WHERE at <= ?", at - GUESSES_MS);
    const all = count("SELECT count(*) AS n FROM pairing_guesses WHERE channel = ?", channel);
    const own = count("SELECT count(*) AS n FROM pairing_guesses WHERE channel = ? AND user = ?", channel, user);
    return all >= MAX_WRONG_BY_CHANNEL || own >= MAX_WRONG_BY_USER;
  }

  function consume(channel: string, hashes: readonly string[], at: number): boolean {
    sql.rows("DELETE FROM pairing_codes WHERE expires_at <= ?", at);
    const known = "SELECT value FROM json_each(?)";
    const used = sql.rows(
      `DELETE FROM pairing_codes WHERE channel = ? AND hash IN (${known}) RETURNING hash`,
      channel,
      JSON.stringify(hashes),
    );
    return used.length > 0;
  }
  return {
    addCode: (channel, hash, at) => {
      sql.rows("DELETE FROM pairing_codes WHERE expires_at <= ?", at);
      if (count("SELECT count(*) AS n FROM pairing_codes WHERE channel = ?", channel) >= MAX_PAIRING_CODES)
        return err({ code: "pairing_code_limit", limit: MAX_PAIRING_CODES });
      const expires_at = at + PAIRING_CODE_MS;
      sql.rows("INSERT INTO pairing_codes (channel, hash, expires_at) VALUES (?, ?, ?)", channel, hash, expires_at);
      return ok({ expires_at });
    },
    pair: ({ channel, hashes, user }, at) => {
      if (isPaired(channel, user)) return "paired";
      if (isLocked(channel, user, at)) return "locked";
      if (count("SELECT count(*) AS n FROM channel_users WHERE channel = ?", channel) >= MAX_PAIRED_USERS) return "full";
      if (!consume(channel, hashes, at)) {
        sql.rows("INSERT INTO pairing_guesses (channel, user, at) VALUES (?, ?, ?)", channel, user, at);
        return "wrong";
      }
      sql.rows("INSERT INTO channel_users (channel, user, paired_at) VALUES (?, ?, ?)", channel, user, at);
      return "paired";
    },
    list: (channel) =>
      sql.rows<PairedUserView>("SELECT user AS user_id, paired_at FROM channel_users WHERE channel = ? ORDER BY user", channel),
    unpair: (channel, user) => {
      const gone = sql.rows("DELETE FROM channel_users WHERE channel = ? AND user = ? RETURNING user", channel, user);
      return gone.length > 0 ? ok(null) : err({ code: "paired_user_not_found", user });
    },
  };
}
