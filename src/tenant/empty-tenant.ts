/** Empties a deleted tenant's own tables. What stays is a tombstone with the receipt, and sums of usage for invoices. */
import type { SyncSql } from "../lib/sync-sql";

/** The tables that stay: ids, times and sums, without text. What another version adds is emptied. */
const KEPT = new Set([
  "tenant",
  "schema_version",
  "projection",
  "erasures",
  "erasure_receipts",
  "erased_sessions",
  "erasure_models",
  "erased_usage",
  "usage_revisions",
  "unsent_usage",
  "ended_throwaways",
  "forks",
  // Where the rows are that have to go.
  "placement",
  // Entries name models, tools and credentials: `forget` of the audit log removes them, and keeps the place where the chain goes on.
  "audit",
  "audit_anchor",
]);
/** What the erasures of the sessions need. It goes last. */
const NEEDED = new Set(["sessions", "files", "file_refs", "file_keeps"]);

const TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";

/** Removes keys, models, credentials, tools, settings and everything else that no session's erasure needs. Call it inside a transaction. */
export function closeTenant(sql: SyncSql, at: number): void {
  for (const { name } of sql.rows<{ name: string }>(TABLES)) {
    if (KEPT.has(name) || NEEDED.has(name)) continue;
    sql.rows(`DELETE FROM "${name}"`);
  }
  sql.rows("UPDATE tenant SET name = '', default_model = '', default_policy = '', allowed_origins = '[]', deleted_at = ?", at);
  sql.rows("UPDATE files SET name = NULL");
}

/** Removes the rest, when no session is left. An upload under way is still noted, so that its bytes are removed after its hour. */
export function emptyTenant(sql: SyncSql): void {
  sql.rows("DELETE FROM sessions");
  sql.rows("DELETE FROM file_refs");
  sql.rows("DELETE FROM file_keeps");
  sql.rows("DELETE FROM files WHERE state <> 'uploading'");
}
