/**
 * The object's tables, created with the session and migrated when the object wakes. Triggers guard the log: no UPDATE,
 * no DELETE, and an INSERT only at `max + 1`, because INSERT OR REPLACE bypasses the other two.
 */
import { requireKnownSchema } from "../../lib/schema-steps";
import { WALLET_TABLES } from "../wallet/wallet-rows";
import { ACT_TABLES } from "./act-rows";
import { ANNOUNCEMENT_TABLES } from "./announcement-rows";
import { EXECUTION_TABLES } from "./execution-rows";
import { RECALL_TABLES } from "./recall-tables";
import type { Sql } from "./sql";

/** For past requests: states along the log (`checkpoints`), and an index from a turn to its calls (`turn-calls`). */
const PAST_TABLES = `
  CREATE TABLE checkpoints (seq INTEGER PRIMARY KEY, version INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX calls_by_turn ON events (json_extract(data, '$.turn'))
    WHERE type = 'ModelCallFinished' AND json_extract(data, '$.turn') IS NOT NULL;
`;

/** A step never changes after its release. */
export const SESSION_STEPS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type TEXT NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL
  );
  CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
  CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
  CREATE TRIGGER events_in_order BEFORE INSERT ON events
    WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

  CREATE TABLE bodies (id TEXT NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (id, part)) WITHOUT ROWID;
  CREATE TABLE items (position INTEGER PRIMARY KEY, meta TEXT NOT NULL);
  CREATE UNIQUE INDEX items_by_client_id ON items (json_extract(meta, '$.client_id')) WHERE json_extract(meta, '$.client_id') IS NOT NULL;
  CREATE TABLE turns (id TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE compactions (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE views_before (compaction TEXT PRIMARY KEY, seq INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE branches (number INTEGER PRIMARY KEY, data TEXT NOT NULL);
  CREATE TABLE snapshots (part INTEGER PRIMARY KEY, version INTEGER NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL);

  CREATE TABLE frames (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, at INTEGER NOT NULL, lines TEXT NOT NULL);
  CREATE TABLE jobs (kind TEXT PRIMARY KEY, due_at INTEGER NOT NULL, attempts INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE idempotency (key TEXT PRIMARY KEY, digest TEXT NOT NULL, outcome TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
  CREATE TABLE pending_outcomes (compaction TEXT PRIMARY KEY, token INTEGER NOT NULL, outcome TEXT NOT NULL, place TEXT) WITHOUT ROWID;
  ${EXECUTION_TABLES}
  ${RECALL_TABLES}
  ${PAST_TABLES}
  ${ACT_TABLES}
  ${WALLET_TABLES}
  ${ANNOUNCEMENT_TABLES}
  `,
];

/** True when a session was ever opened here. A look-up of an unknown id must leave nothing behind. */
export const hasSchema = (sql: Sql): boolean =>
  sql.all("SELECT 1 AS one FROM sqlite_master WHERE type = 'table' AND name = 'meta'").length > 0;

/** Applies the missing steps, each in its own transaction. Throws `UnknownSchemaError` if a build with more steps wrote the tables. */
export function migrateSession(sql: Sql, steps: readonly string[] = SESSION_STEPS): void {
  const current = hasSchema(sql) ? Number(readMeta(sql, "schema_version") ?? 0) : 0;
  requireKnownSchema(current, steps.length);
  for (const [index, step] of steps.entries()) {
    if (index < current) continue;
    sql.transaction(() => {
      sql.script(step);
      writeMeta(sql, "schema_version", String(index + 1));
    });
  }
}

export function readMeta(sql: Sql, key: string): string | null {
  return sql.all<{ value: string }>("SELECT value FROM meta WHERE key = ?", key)[0]?.value ?? null;
}

export function writeMeta(sql: Sql, key: string, value: string): void {
  sql.all("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value);
}

/** When the newest rows of a restoration came. As long as it is there, the log is not whole and counts as empty. */
export const RESTORING_KEY = "restoring_since";

const RESTORED_KEY = "restored_at";

/** A restored session has the times of its first life. This is when it came back. */
export const noteRestored = (sql: Sql, at: number): void => writeMeta(sql, RESTORED_KEY, String(at));

/** Epoch milliseconds. 0: the session was not restored. */
export const readRestoredAt = (sql: Sql): number => Number(readMeta(sql, RESTORED_KEY) ?? 0);

export const isRestoring = (sql: Sql): boolean => hasSchema(sql) && readMeta(sql, RESTORING_KEY) !== null;
