/** The steps by which the tables of an object come about, and the version that says how many of them were applied. */
import type { SyncSql } from "./sync-sql";

/** Another build with more steps wrote the tables. The object must refuse, because it does not know what they mean. */
export class UnknownSchemaError extends Error {
  override readonly name = "UnknownSchemaError";
}

/** Throws `UnknownSchemaError` if more steps were applied than this build has. */
export function requireKnownSchema(version: number, steps: number): void {
  if (version > steps) throw new UnknownSchemaError(`the tables have version ${version}, and this build knows ${steps}`);
}

/** A step is a list of statements that never changes after its release. */
export type SchemaSteps = readonly (readonly string[])[];

/** Applies the missing steps to an object that is no session. Call it inside a transaction. */
export function applySchemaSteps(sql: SyncSql, steps: SchemaSteps): void {
  sql.rows("CREATE TABLE IF NOT EXISTS schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT");
  sql.rows("INSERT INTO schema_version (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING");
  const version = sql.rows<{ version: number }>("SELECT version FROM schema_version")[0]?.version ?? 0;
  requireKnownSchema(version, steps.length);
  if (version === steps.length) return;
  for (const statement of steps.slice(version).flat()) sql.rows(statement);
  sql.rows("UPDATE schema_version SET version = ?", steps.length);
}
