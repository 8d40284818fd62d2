/**
 * Every statement of the tenant's object runs by an index: the databases of its tests explain each statement of `src/tenant` and `src/audit`
 * once, and refuse one that reads a table that grows with the tenant, or sorts what a condition selects of it.
 */
import type { DatabaseSync } from "node:sqlite";
import { findUnbounded, type PlanRow } from "./query-plan";

/** Tables that do not grow with the tenant's sessions, and why. */
const BOUNDED: Readonly<Record<string, string>> = {
  tenant: "one row",
  projection: "one row",
  usage_bound: "one row",
  retention: "one row",
  tenant_limits: "one row",
  session_count: "one row",
  scrub_due: "one row",
  audit_anchor: "one row",
  placement: "one row",
  schema_version: "one row",
  sqlite_master: "the tables of a build",
  sqlite_sequence: "the tables of a build",
  keys: "MAX_ACTIVE_KEYS and MAX_ENDED_KEYS",
  models: "MAX_MODELS",
  credentials: "MAX_CREDENTIALS",
  tools: "MAX_TOOLS",
  mcp_servers: "MAX_MCP_SERVERS",
  channels: "MAX_CHANNELS",
  pairing_codes: "MAX_PAIRING_CODES for each channel",
  pairing_guesses: "MAX_WRONG_BY_CHANNEL for each channel",
  webhook_endpoints: "MAX_ENDPOINTS",
  exports: "MAX_EXPORTS",
  imports: "MAX_IMPORTS",
  admin_acts: "acts of the deployment's admin that it does not know yet",
  unsent_usage: "sums that are on their way to the read model",
  slot_leases: "leases of what is under way, swept at times",
};

/** Statements that go through rows of a table that grows, and why they may. */
const ALLOWED: readonly (readonly [statement: RegExp, why: string])[] = [
  [/^SELECT count\(\*\) AS files, .* FROM files$/, "MAX_FILES, once for each upload"],
  [/^UPDATE files SET name = .* WHERE name IS NOT NULL$/, "MAX_FILES, once, of a deleted tenant"],
  [/^DELETE FROM files WHERE state <> 'uploading'$/, "MAX_FILES, once, of a deleted tenant"],
  [/^INSERT INTO session_count .* FROM sessions$/, "once in the life of a tenant"],
  [/^SELECT count\(\*\) AS n FROM sessions WHERE created_at <= \?$/, "the candidates of a preview of retention, which it states"],
  [/^SELECT entry, hash FROM audit WHERE at >= /, "MAX_AUDIT_ENTRIES, of the time that is asked for"],
  [/^SELECT count\(\*\) AS n FROM "/, "tables that are copied whole, before and after"],
  [/ FROM sqlite_master /, "the tables of a build"],
  [/ FROM (imports|export_sessions JOIN exports) .* ORDER BY (exports\.)?id/, "MAX_IMPORTS, MAX_EXPORTS"],
];

/** Partial indexes of work that is under way. What they have is read in full, and is as much as there is to do. */
const UNDER_WAY = /^SCAN \w+ USING (COVERING )?INDEX (erasure_receipts_running|sessions_unlabelled|sessions_unopened)\b/;
/** `erasures` (in a join, `n`): the sessions whose erasure is under way. */
const NOTES = /^SCAN (n|erasures)\b/;
/** Common table expressions, and rows of JSON by the names that statements give them. */
const PASSING = ["copies", "c", "asked", "rows"];
/** The first rows of a table, in the order of an index. */
const isFirstRows = (statement: string): boolean => /\bLIMIT (\?|\d+)/.test(statement) && !/\bWHERE\b(?!.*\bIN \(SELECT)/s.test(statement);

const isStatement = /^\s*(SELECT|UPDATE|DELETE|INSERT|WITH)\b/i;
/** Tests read whole tables, and the deployment's object, which has an audit log as well, has few rows. */
function isOwn(): boolean {
  const stack = new Error("for its stack").stack ?? "";
  return /\/src\/(tenant|audit)\//.test(stack) && !stack.includes("/src/deployment/");
}

/** The steps of the statement's plan that read more than it answers. */
export function findScans(statement: string, plan: readonly PlanRow[]): readonly string[] {
  const text = statement.trim().replaceAll(/\s+/g, " ");
  if (ALLOWED.some(([allowed]) => allowed.test(text))) return [];
  const found = findUnbounded(plan, { passing: [...PASSING, ...Object.keys(BOUNDED)] });
  return found.filter((detail) => !UNDER_WAY.test(detail) && !NOTES.test(detail) && !(detail.startsWith("SCAN ") && isFirstRows(text)));
}

export class ScanError extends Error {
  override readonly name = "ScanError";
}

/** What the plan of each statement reads beyond its answer. */
const known = new Map<string, readonly string[]>();

function findKnownScans(database: DatabaseSync, statement: string): readonly string[] {
  const found =
    known.get(statement) ??
    findScans(statement, database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all() as unknown as readonly PlanRow[]);
  known.set(statement, found);
  return found;
}

/** Throws a `ScanError` for a statement of the tenant's object that scans. Whose it is takes longer to tell than whether it scans. */
export function checkPlan(database: DatabaseSync, statement: string): void {
  if (!isStatement.test(statement)) return;
  const found = findKnownScans(database, statement);
  if (found.length > 0 && isOwn()) throw new ScanError(`${found.join(", ")} in ${statement}`);
}
