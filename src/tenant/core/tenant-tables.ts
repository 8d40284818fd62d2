/** The tables of a tenant's object that no neighbour has in a file of its own. */
export const TENANT_TABLES: readonly string[] = [
  // allowed_origins: a JSON list of web origins. deleted_at: null, if the tenant was not deleted. status: TENANT_STATUSES.
  `CREATE TABLE tenant (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL,
     name TEXT NOT NULL,
     default_model TEXT NOT NULL,
     default_policy TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     allowed_origins TEXT NOT NULL DEFAULT '[]',
     deleted_at INTEGER,
     status TEXT NOT NULL DEFAULT 'active',
     suspended_at INTEGER,
     suspend_reason TEXT
   ) STRICT`,
  // hash: the keyed hash of the whole key. scopes: separated by spaces. created_by, revoked_by: ids of keys; null for the deployment's admin.
  // rotated_from, rotated_to: the ids of the keys before and after it. restriction: JSON; null: none.
  `CREATE TABLE keys (
     id TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     name TEXT NOT NULL,
     scopes TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     created_by TEXT,
     revoked_by TEXT,
     last_used_at INTEGER,
     rotated_from TEXT,
     rotated_to TEXT,
     restriction TEXT
   ) STRICT, WITHOUT ROWID`,
  // claims: the requests that may open the session. More than one only where they name the same external id. end_user: the digest of the tenant's
  // id and the end user's name, so that no name is here. labelled: 1 if `end_user` and `forks` say what the session's object says; 0 if it has to
  // be asked. retain_at: when the session has to be looked at; null: when it is old enough for the shortest rule of retention. given_to: the digest
  // of the end user to whom a session was last given. Only limits count by it. Null: `end_user` says whose the session is, if that is known.
  `CREATE TABLE sessions (
     id TEXT PRIMARY KEY,
     created_at INTEGER NOT NULL,
     external_id TEXT,
     claims INTEGER NOT NULL DEFAULT 1,
     end_user TEXT,
     labelled INTEGER NOT NULL DEFAULT 0,
     retain_at INTEGER,
     given_to TEXT
   ) STRICT, WITHOUT ROWID`,
  "CREATE UNIQUE INDEX sessions_by_external_id ON sessions (external_id) WHERE external_id IS NOT NULL",
  "CREATE INDEX sessions_by_end_user ON sessions (end_user) WHERE end_user IS NOT NULL",
  "CREATE INDEX sessions_unlabelled ON sessions (id) WHERE labelled = 0",
  "CREATE INDEX sessions_by_retention ON sessions (retain_at, created_at)",
  "CREATE INDEX sessions_by_given_to ON sessions (given_to) WHERE given_to IS NOT NULL",
  // A row stays when a session is erased: a fork of a fork is found through it.
  "CREATE TABLE forks (session TEXT PRIMARY KEY, source TEXT NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX forks_by_source ON forks (source)",
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
  // When what was deleted is to be overwritten in the object's files. noted: counts the deletions that it is for. ready_at: when the tables may be
  // written anew.
  `CREATE TABLE scrub_due (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     due_at INTEGER NOT NULL,
     noted INTEGER NOT NULL,
     ready_at INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
];

/** How the key's clients are served: JSON. Null: by the defaults. */
export const KEY_CLIENTS: readonly string[] = ["ALTER TABLE keys ADD COLUMN clients TEXT"];

/** What the tenant set up, and what providers and servers reported about it. */
export const SETTING_TABLES: readonly string[] = [
  // What the tenant registered for a model. A null column means that it named nothing, except for the window: with window_said 1, null means
  // unknown. Prices: US dollars per million tokens. capabilities, quirks: JSON. credential, endpoint: a name. The provider is checked when it is accepted.
  `CREATE TABLE models (
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
     credential TEXT,
     endpoint TEXT,
     quirks TEXT
   ) STRICT, WITHOUT ROWID`,
  // What refusals taught about an endpoint (context/model-quirks). address: the base URL, or the provider. upstream_id: empty for what holds for
  // all models of the address. value: JSON.
  `CREATE TABLE learned_quirks (
     address TEXT NOT NULL,
     upstream_id TEXT NOT NULL,
     quirk TEXT NOT NULL,
     value TEXT NOT NULL,
     at INTEGER NOT NULL,
     PRIMARY KEY (address, upstream_id, quirk)
   ) STRICT, WITHOUT ROWID`,
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
];

export const FILE_TABLES: readonly string[] = [
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
  // held_until: until when a message may be on its way to its session; null: the session has confirmed the reference. own: for a throwaway
  // session, 1 if the file came with its request and ends with it, 0 if the request named it; null: an ordinary session.
  `CREATE TABLE file_refs (
     session TEXT NOT NULL,
     file TEXT NOT NULL,
     held_until INTEGER,
     own INTEGER,
     PRIMARY KEY (session, file)
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX file_refs_by_file ON file_refs (file)",
  // How far in its log each session was when it last said which files it refers to.
  "CREATE TABLE file_keeps (session TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];

/** What an erasure finds without reading all that the tenant has. */
export const ERASURE_INDEXES: readonly string[] = [
  "CREATE INDEX erasures_by_due ON erasures (due_at)",
  "CREATE INDEX sessions_unopened ON sessions (id) WHERE labelled = 2",
  "CREATE INDEX former_end_users_by_session ON former_end_users (session)",
  "CREATE INDEX files_removed_for ON files (removed_for) WHERE removed_for IS NOT NULL",
];

/** The number of sessions, of a tenant whose sessions were ever counted. Without a row the triggers change nothing. */
export const SESSION_COUNT: readonly string[] = [
  "CREATE TABLE session_count (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL) STRICT",
  "CREATE TRIGGER session_counted AFTER INSERT ON sessions BEGIN UPDATE session_count SET n = n + 1; END",
  "CREATE TRIGGER session_uncounted AFTER DELETE ON sessions BEGIN UPDATE session_count SET n = n - 1; END",
];

/** References of throwaway sessions, which end by time. */
export const FILE_HOLDS: readonly string[] = [
  "CREATE INDEX file_refs_by_hold ON file_refs (held_until) WHERE own IS NOT NULL",
  // used_at: when a request last asked for the file for the session, which may still say so.
  "ALTER TABLE file_refs ADD COLUMN used_at INTEGER",
];

export const ERASURE_TABLES: readonly string[] = [
  // Erasures under way: from before anything is erased until every store has reported. pending: the stores that have not, by name.
  `CREATE TABLE erasures (
     session TEXT PRIMARY KEY,
     asked_at INTEGER NOT NULL,
     due_at INTEGER NOT NULL,
     attempts INTEGER NOT NULL,
     pending TEXT NOT NULL DEFAULT 'session read_model files'
   ) STRICT, WITHOUT ROWID`,
  // target: the id of a session, or the digest of an end user. gathered: 1 when all its sessions are known. forgotten: the erased end user's name
  // is in no usage any more. Only erasures of end users have it to do.
  `CREATE TABLE erasure_receipts (
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL,
     target TEXT NOT NULL,
     forks INTEGER NOT NULL,
     requested_at INTEGER NOT NULL,
     gathered INTEGER NOT NULL,
     done_at INTEGER,
     cause TEXT NOT NULL DEFAULT 'request',
     forgotten INTEGER NOT NULL DEFAULT 1
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX erasure_receipts_by_target ON erasure_receipts (target)",
  "CREATE INDEX erasure_receipts_running ON erasure_receipts (id) WHERE done_at IS NULL",
  "CREATE TABLE erased_sessions (session TEXT NOT NULL, erasure TEXT NOT NULL, PRIMARY KEY (session, erasure)) STRICT, WITHOUT ROWID",
  "CREATE INDEX erased_sessions_by_erasure ON erased_sessions (erasure)",
  // The models that erased sessions called, whose providers may keep what they were sent.
  "CREATE TABLE erasure_models (erasure TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (erasure, model)) STRICT, WITHOUT ROWID",
  // End users whose access tokens from before this time are refused, until the last of them has expired.
  "CREATE TABLE ended_users (end_user TEXT PRIMARY KEY, before INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX ended_users_by_end ON ended_users (until)",
  // The tenant's retention. setting: as JSON. starts_at: nothing is removed before.
  "CREATE TABLE retention (one INTEGER PRIMARY KEY CHECK (one = 1), setting TEXT NOT NULL, starts_at INTEGER NOT NULL) STRICT",
];
