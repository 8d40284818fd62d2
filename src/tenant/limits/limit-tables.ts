/**
 * What limits are counted by. subject: of `SlotSubject`, with a digest in place of an end user's name. given_to: the digest of the end user
 * to whom a session was last given. Only limits count by it. Null: `end_user` says whose the session is, if that is known.
 */
export const LIMIT_TABLES: readonly string[] = [
  "CREATE TABLE slot_leases (lease TEXT PRIMARY KEY, subject TEXT NOT NULL, slots INTEGER NOT NULL, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX slot_leases_by_subject ON slot_leases (subject)",
  "ALTER TABLE sessions ADD COLUMN given_to TEXT",
  "CREATE INDEX sessions_by_given_to ON sessions (given_to) WHERE given_to IS NOT NULL",
];
