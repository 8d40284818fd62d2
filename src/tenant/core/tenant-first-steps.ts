/**
 * The first steps of the tables of a tenant's object: those up to the tenant's deletion. They never change. `tenant-schema.ts` has the later ones.
 */

/** The statement that gives `more` scopes to the keys that have `scope`. */
const grant = (scope: string, more: string): string =>
  `UPDATE keys SET scopes = scopes || ' ${more}' WHERE ' ' || scopes || ' ' LIKE '% ${scope} %'`;

export const FIRST_STEPS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE tenant (
       one INTEGER PRIMARY KEY CHECK (one = 1),
       id TEXT NOT NULL,
       name TEXT NOT NULL,
       default_model TEXT NOT NULL,
       default_policy TEXT NOT NULL,
       created_at INTEGER NOT NULL
     ) STRICT`,
    // hash: the keyed hash of the whole key. scopes: separated by spaces.
    `CREATE TABLE keys (
       id TEXT PRIMARY KEY,
       hash TEXT NOT NULL UNIQUE,
       name TEXT NOT NULL,
       scopes TEXT NOT NULL,
       created_at INTEGER NOT NULL,
       expires_at INTEGER,
       revoked_at INTEGER
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE models (
       id TEXT PRIMARY KEY,
       provider TEXT NOT NULL CHECK (provider IN ('embedded', 'openai-compatible')),
       upstream_id TEXT NOT NULL,
       base_url TEXT,
       context_window INTEGER,
       max_output INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // session: the id of what the request made. The column got its name when that was always a session.
    `CREATE TABLE idempotency (
       key TEXT PRIMARY KEY,
       digest TEXT NOT NULL,
       session TEXT NOT NULL,
       expires_at INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX idempotency_by_expiry ON idempotency (expires_at)",
    // The read model lags while revision > projected. deployment: the deployment's models as last projected.
    `CREATE TABLE projection (
       one INTEGER PRIMARY KEY CHECK (one = 1),
       revision INTEGER NOT NULL,
       projected INTEGER NOT NULL,
       attempts INTEGER NOT NULL,
       deployment TEXT NOT NULL
     ) STRICT`,
    "INSERT INTO projection (one, revision, projected, attempts, deployment) VALUES (1, 0, 0, 0, '')",
  ],
  [
    // What the tenant registered for a model. A null column means that it named nothing, except for the window: with
    // window_said 1, null means unknown. Rows from before this migration have 1. Prices: US dollars per million tokens.
    // capabilities: JSON. credential: a name. The provider is checked when it is accepted.
    `CREATE TABLE models_2 (
       id TEXT PRIMARY KEY,
       provider TEXT NOT NULL,
       upstream_id TEXT NOT NULL,
       base_url TEXT,
       context_window INTEGER,
       max_output INTEGER,
       window_said INTEGER NOT NULL DEFAULT 1,
       capabilities TEXT,
       ratio REAL,
       price_input REAL,
       price_output REAL,
       price_cached REAL,
       price_cache_write REAL,
       credential TEXT
     ) STRICT, WITHOUT ROWID`,
    `INSERT INTO models_2 (id, provider, upstream_id, base_url, context_window, max_output)
       SELECT id, provider, upstream_id, base_url, context_window, max_output FROM models`,
    "DROP TABLE models",
    "ALTER TABLE models_2 RENAME TO models",
    // wrapped_key, sealed: nonce and ciphertext in base64 (docs/decisions/0008). kid: the master key that wraps.
    `CREATE TABLE credentials (
       name TEXT PRIMARY KEY,
       kid TEXT NOT NULL,
       wrapped_key TEXT NOT NULL,
       sealed TEXT NOT NULL,
       created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE suggestions (
       model TEXT NOT NULL,
       figure TEXT NOT NULL,
       source TEXT NOT NULL,
       tokens INTEGER NOT NULL,
       at INTEGER NOT NULL,
       PRIMARY KEY (model, figure, source)
     ) STRICT, WITHOUT ROWID`,
  ],
  [
    // said: what the tenant registered, as JSON. listing: what the server reported that it has, as JSON.
    `CREATE TABLE tools (
       name TEXT PRIMARY KEY,
       said TEXT NOT NULL,
       created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL
     ) STRICT`,
    `CREATE TABLE mcp_servers (
       name TEXT PRIMARY KEY,
       said TEXT NOT NULL,
       listing TEXT NOT NULL,
       listed_at INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL
     ) STRICT`,
  ],
  [
    // The sums of an erased session's calls for a quarter of an hour from `at` on, a model and a purpose.
    `CREATE TABLE erased_usage (
       session TEXT NOT NULL,
       at INTEGER NOT NULL,
       model TEXT NOT NULL,
       purpose TEXT NOT NULL,
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
       PRIMARY KEY (session, at, model, purpose)
     ) STRICT, WITHOUT ROWID`,
  ],
  // Key ids. Null: the deployment's admin, or a row from before this migration.
  ["ALTER TABLE keys ADD COLUMN created_by TEXT", "ALTER TABLE keys ADD COLUMN revoked_by TEXT"],
  [
    // Erasures under way: from before anything is erased until every store has reported.
    `CREATE TABLE erasures (
       session TEXT PRIMARY KEY,
       asked_at INTEGER NOT NULL,
       due_at INTEGER NOT NULL,
       attempts INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
  ],
  // A JSON list of web origins.
  ["ALTER TABLE tenant ADD COLUMN allowed_origins TEXT NOT NULL DEFAULT '[]'"],
  [
    // claims: the requests that may open the session. More than one only where they name the same external id.
    "ALTER TABLE sessions ADD COLUMN external_id TEXT",
    "ALTER TABLE sessions ADD COLUMN claims INTEGER NOT NULL DEFAULT 1",
    "CREATE UNIQUE INDEX sessions_by_external_id ON sessions (external_id) WHERE external_id IS NOT NULL",
  ],
  [
    // state: uploading, stored or removed. due_at: when an upload or an unused file ends, or when the bytes of a removed one are removed
    // again; null while a session refers to the file. removed_for: the session whose erasure removed the file. tokens: estimated, for a model
    // that reads it.
    `CREATE TABLE files (
       id TEXT PRIMARY KEY,
       name TEXT,
       media_type TEXT NOT NULL,
       bytes INTEGER NOT NULL,
       sha256 TEXT NOT NULL,
       tokens INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       state TEXT NOT NULL,
       removed_for TEXT,
       due_at INTEGER,
       attempts INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX files_by_due ON files (due_at) WHERE due_at IS NOT NULL",
    "CREATE TABLE file_refs (session TEXT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (session, file)) STRICT, WITHOUT ROWID",
    "CREATE INDEX file_refs_by_file ON file_refs (file)",
  ],
  // Until when a message may be on its way to its session. Null: the session has confirmed the reference.
  ["ALTER TABLE file_refs ADD COLUMN held_until INTEGER"],
  // How far in its log each session was when it last said which files it refers to.
  ["CREATE TABLE file_keeps (session TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID"],
  [
    // Ended throwaway sessions whose sums in `erased_usage` are not in the read model yet.
    "CREATE TABLE unsent_usage (session TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    // For a throwaway session: 1 if the file came with its request and ends with it, 0 if the request named it. Null: an ordinary session.
    "ALTER TABLE file_refs ADD COLUMN own INTEGER",
  ],
  [
    // Throwaway sessions whose sums were taken over, for as long as one may report them again. The sums of a day are in `erased_usage`
    // together, under an id that no session has.
    "CREATE TABLE ended_throwaways (session TEXT PRIMARY KEY, ended_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX ended_throwaways_by_time ON ended_throwaways (ended_at)",
    // How often sums were added that are not sent.
    "ALTER TABLE unsent_usage ADD COLUMN added INTEGER NOT NULL DEFAULT 0",
  ],
  // A key keeps what it could do when the scopes were fewer.
  [
    grant("sessions:read", "files:read tools:read usage:read"),
    grant("sessions:write", "sessions:erase files:write"),
    grant("models:write", "credentials:write settings:write"),
  ],
  // rotated_from, rotated_to: the ids of the keys before and after it.
  [
    "ALTER TABLE keys ADD COLUMN last_used_at INTEGER",
    "ALTER TABLE keys ADD COLUMN rotated_from TEXT",
    "ALTER TABLE keys ADD COLUMN rotated_to TEXT",
  ],
  // What was granted of a rate in the window that ends then.
  [
    `CREATE TABLE rate_windows (
       subject TEXT NOT NULL,
       ends_at INTEGER NOT NULL,
       granted INTEGER NOT NULL,
       PRIMARY KEY (subject, ends_at)
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX rate_windows_by_end ON rate_windows (ends_at)",
    // revision: of the deployment's changes of what tenants may use.
    "CREATE TABLE tenant_limits (one INTEGER PRIMARY KEY CHECK (one = 1), limits TEXT NOT NULL, revision INTEGER NOT NULL) STRICT",
  ],
  [
    // end_user: the digest of the tenant's id and the end user's name, so that no name is here. labelled: 1 if `end_user` and `forks` say what
    // the session's object says; 0 if it has to be asked.
    "ALTER TABLE sessions ADD COLUMN end_user TEXT",
    "ALTER TABLE sessions ADD COLUMN labelled INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX sessions_by_end_user ON sessions (end_user) WHERE end_user IS NOT NULL",
    "CREATE INDEX sessions_unlabelled ON sessions (id) WHERE labelled = 0",
    // A row stays when a session is erased: a fork of a fork is found through it.
    "CREATE TABLE forks (session TEXT PRIMARY KEY, source TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX forks_by_source ON forks (source)",
    // target: the id of a session, or the digest of an end user. gathered: 1 when all its sessions are known.
    `CREATE TABLE erasure_receipts (
       id TEXT PRIMARY KEY,
       kind TEXT NOT NULL,
       target TEXT NOT NULL,
       forks INTEGER NOT NULL,
       requested_at INTEGER NOT NULL,
       gathered INTEGER NOT NULL,
       done_at INTEGER
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX erasure_receipts_by_target ON erasure_receipts (target)",
    "CREATE INDEX erasure_receipts_running ON erasure_receipts (id) WHERE done_at IS NULL",
    "CREATE TABLE erased_sessions (session TEXT NOT NULL, erasure TEXT NOT NULL, PRIMARY KEY (session, erasure)) STRICT, WITHOUT ROWID",
    "CREATE INDEX erased_sessions_by_erasure ON erased_sessions (erasure)",
    // The models that erased sessions called, whose providers may keep what they were sent.
    "CREATE TABLE erasure_models (erasure TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (erasure, model)) STRICT, WITHOUT ROWID",
    // The stores that have not reported, by name.
    "ALTER TABLE erasures ADD COLUMN pending TEXT NOT NULL DEFAULT 'session read_model files'",
    // End users whose access tokens from before this time are refused, until the last of them has expired.
    "CREATE TABLE ended_users (end_user TEXT PRIMARY KEY, before INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX ended_users_by_end ON ended_users (until)",
  ],
];
