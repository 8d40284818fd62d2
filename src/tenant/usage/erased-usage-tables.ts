/** From which quarter of an hour on sums are not sent. 0: all of the session's. */
export const UNSENT_SINCE: readonly string[] = ["ALTER TABLE unsent_usage ADD COLUMN since INTEGER NOT NULL DEFAULT 0"];

/** The tables of what erased sessions used, and of how the name of an erased end user is forgotten there. */
export const ERASED_USAGE_TABLES: readonly string[] = [
  // The sums of an erased session's calls for a quarter of an hour from `at` on, a model, a purpose, a key and an end user. key_id, end_user: empty,
  // where none is known. user_digest: of the end user. end_user: the same digest, because the primary key would keep the bytes of a deleted name.
  `CREATE TABLE erased_usage (
     session TEXT NOT NULL,
     at INTEGER NOT NULL,
     model TEXT NOT NULL,
     purpose TEXT NOT NULL,
     key_id TEXT NOT NULL DEFAULT '',
     end_user TEXT NOT NULL DEFAULT '',
     calls INTEGER NOT NULL,
     failed INTEGER NOT NULL,
     input INTEGER NOT NULL,
     uncached INTEGER NOT NULL,
     cached INTEGER NOT NULL,
     cache_write INTEGER NOT NULL,
     output INTEGER NOT NULL,
     reasoning INTEGER NOT NULL,
     cost REAL NOT NULL,
     unpriced INTEGER NOT NULL,
     user_digest TEXT NOT NULL DEFAULT '',
     PRIMARY KEY (session, at, model, purpose, key_id, end_user)
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX erased_usage_of_user ON erased_usage (user_digest) WHERE user_digest <> ''",
  // The names of the end users in the sums. An erased end user is known by the digest alone.
  "CREATE TABLE usage_names (n INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT",
  // How often names were forgotten in a session's sums.
  "CREATE TABLE usage_revisions (session TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  // Ended throwaway sessions whose sums in `erased_usage` are not in the read model yet. added: how often sums were added that are not sent. forgets:
  // 1 while the read model may still have a forgotten name.
  `CREATE TABLE unsent_usage (
     session TEXT PRIMARY KEY,
     added INTEGER NOT NULL DEFAULT 0,
     forgets INTEGER NOT NULL DEFAULT 0
   ) STRICT, WITHOUT ROWID`,
  // Throwaway sessions whose sums were taken over, for as long as one may report them again. The sums of a day are in `erased_usage`
  // together, under an id that no session has.
  "CREATE TABLE ended_throwaways (session TEXT PRIMARY KEY, ended_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX ended_throwaways_by_time ON ended_throwaways (ended_at)",
  // Sessions that were given to another end user. Their calls from before name the earlier one. end_user: the digest.
  "CREATE TABLE former_end_users (end_user TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (end_user, session)) STRICT, WITHOUT ROWID",
];
