/** The tables of an audit log. */
export const AUDIT_TABLES: readonly string[] = [
  // entry: as JSON, without its hash. actor, target: ids. nonce: of the act (`Act`); null: every call makes an entry. audit_anchor: the newest
  // entry that was removed; no row while there is none.
  `CREATE TABLE audit (
     seq INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     action TEXT NOT NULL,
     actor TEXT,
     target TEXT NOT NULL,
     entry TEXT NOT NULL,
     hash TEXT NOT NULL,
     nonce TEXT
   ) STRICT`,
  "CREATE INDEX audit_by_time ON audit (at)",
  "CREATE INDEX audit_by_action ON audit (action)",
  "CREATE INDEX audit_by_actor ON audit (actor)",
  "CREATE INDEX audit_by_target ON audit (target)",
  "CREATE UNIQUE INDEX audit_by_nonce ON audit (nonce, action, target) WHERE nonce IS NOT NULL",
  "CREATE TABLE audit_anchor (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT",
  "CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
  `CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit WHEN OLD.seq > coalesce((SELECT seq FROM audit_anchor), 0)
     BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
  `CREATE TRIGGER audit_in_order BEFORE INSERT ON audit
     WHEN NEW.seq IS NOT coalesce((SELECT max(seq) FROM audit), (SELECT seq FROM audit_anchor), 0) + 1
     BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
  `CREATE TRIGGER audit_anchor_is_entry BEFORE INSERT ON audit_anchor WHEN NEW.hash IS NOT (SELECT hash FROM audit WHERE seq = NEW.seq)
     BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
  `CREATE TRIGGER audit_anchor_grows BEFORE UPDATE ON audit_anchor
     WHEN NEW.seq <= OLD.seq OR NEW.hash IS NOT (SELECT hash FROM audit WHERE seq = NEW.seq)
     BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
  "CREATE TRIGGER audit_anchor_stays BEFORE DELETE ON audit_anchor BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END",
];
