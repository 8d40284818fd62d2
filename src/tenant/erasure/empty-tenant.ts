/** Empties a deleted tenant's own tables. What stays is a tombstone with the receipt, and sums of usage for invoices. */
import { remakeTables } from "../../lib/scrub/rewrite-tables";
import type { SyncSql } from "../../lib/sync-sql";
import { forgetFileNames } from "../files/file-names";

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
  "usage_bound",
  "usage_revisions",
  "unsent_usage",
  "ended_throwaways",
  "forks",
  // Where the rows are that have to go.
  "placement",
  // Entries name models, tools and credentials: `forget` of the audit log removes them, and keeps the place where the chain goes on.
  "audit",
  "audit_anchor",
  // What the deployment's log does not have yet: ids only.
  "admin_acts",
  "scrub",
  "scrub_due",
]);
const EXPORT_TABLES = ["exports", "export_parts", "export_sessions"];
/** What the erasures of the sessions need. It goes last. */
const NEEDED = new Set(["sessions", "files", "file_refs", "file_keeps", "usage_names", "session_chats", ...EXPORT_TABLES]);
const TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";

/** Removes keys, models, credentials, tools, settings and everything else that no session's erasure needs. Call it inside a transaction. */
export function closeTenant(sql: SyncSql, at: number): void {
  const names = sql.rows<{ name: string }>(TABLES).map(({ name }) => name);
  const [tenant] = sql.rows<{ id: string; created_at: number }>("SELECT id, created_at FROM tenant");
  remakeTables(
    sql,
    names.filter((name) => name === "tenant" || !(KEPT.has(name) || NEEDED.has(name))),
  );
  const columns = "one, id, name, default_model, default_policy, created_at, deleted_at";
  if (tenant) sql.rows(`INSERT INTO tenant (${columns}) VALUES (1, ?, '', '', '', ?, ?)`, tenant.id, tenant.created_at, at);
  forgetFileNames(sql);
}

/** Removes the rest, when no session is left. An upload under way is still noted, so that its bytes are removed after its hour. */
export function emptyTenant(sql: SyncSql): void {
  remakeTables(sql, ["sessions", ...EXPORT_TABLES, "session_chats", "file_refs", "file_keeps"]);
  sql.rows("DELETE FROM files WHERE state <> 'uploading'");
}
