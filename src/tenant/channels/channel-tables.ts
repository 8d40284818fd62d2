/**
 * Channels of a tenant. settings: JSON of `ChannelSettings`. secrets: JSON, the names of what is sealed. kid, wrapped_key, sealed: null where a
 * channel was restored without its secrets. hash: of a pairing code, keyed. pairing_guesses: the wrong codes of the last hour. number: how
 * often it happened. end_user: the digest of the end user that the line is about, made as a session's is; null: not known.
 */
export const CHANNEL_TABLES: readonly string[] = [
  `CREATE TABLE channels (name TEXT PRIMARY KEY, settings TEXT NOT NULL, secrets TEXT NOT NULL, kid TEXT, wrapped_key TEXT, sealed TEXT,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE channel_users (channel TEXT NOT NULL, user TEXT NOT NULL, paired_at INTEGER NOT NULL, PRIMARY KEY (channel, user))
    STRICT, WITHOUT ROWID`,
  `CREATE TABLE pairing_codes (channel TEXT NOT NULL, hash TEXT NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (channel, hash))
    STRICT, WITHOUT ROWID`,
  "CREATE TABLE pairing_guesses (channel TEXT NOT NULL, user TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
  "CREATE INDEX pairing_guesses_by_channel ON pairing_guesses (channel, at)",
  `CREATE TABLE channel_log (seq INTEGER PRIMARY KEY, channel TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL,
    reason TEXT NOT NULL, number INTEGER NOT NULL, delivery TEXT, session TEXT, turn TEXT, end_user TEXT,
    UNIQUE (channel, id)) STRICT`,
  "CREATE INDEX channel_log_by_channel ON channel_log (channel, seq)",
];
