/** The migration that adds the key and the end user to the sums of erased sessions, and how the name of an erased end user is forgotten there. It never changes after its release. */
export const USAGE_OWNER_TABLES: readonly string[] = [
  // key_id, end_user: for whom the calls are counted; empty, where none is known. user_digest: of `end_user`, since an erased end user is known
  // by the digest alone. SQLite cannot change a primary key.
  `CREATE TABLE erased_usage_by_owner (
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
  `INSERT INTO erased_usage_by_owner
     (session, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced)
   SELECT session, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced
   FROM erased_usage`,
  "DROP TABLE erased_usage",
  "ALTER TABLE erased_usage_by_owner RENAME TO erased_usage",
  "CREATE INDEX erased_usage_of_user ON erased_usage (user_digest) WHERE user_digest <> ''",
  // How often names were forgotten in a session's sums.
  "CREATE TABLE usage_revisions (session TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  // forgets: 1 while the read model may still have a forgotten name.
  "ALTER TABLE unsent_usage ADD COLUMN forgets INTEGER NOT NULL DEFAULT 0",
  // Sessions that were given to another end user. Their calls from before name the earlier one. end_user: the digest.
  `CREATE TABLE former_end_users (
     end_user TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (end_user, session)
   ) STRICT, WITHOUT ROWID`,
  // forgotten: the erased end user's name is in no usage any more. Only erasures of end users have it to do.
  "ALTER TABLE erasure_receipts ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 1",
  "UPDATE erasure_receipts SET forgotten = 0 WHERE kind = 'end_user' AND done_at IS NULL",
];

/** The migration that takes the names of end users out of the sums, whose primary key and index would keep the bytes of a deleted one. */
export const USAGE_NAMES: readonly string[] = [
  "CREATE TABLE usage_names (n INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT",
  "INSERT INTO usage_names (digest, name) SELECT DISTINCT user_digest, end_user FROM erased_usage WHERE end_user <> ''",
  "UPDATE erased_usage SET end_user = user_digest WHERE end_user <> ''",
];
