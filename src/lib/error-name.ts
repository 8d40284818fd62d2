/** The name of a thrown value's class, for a log line. The message stays out, because it may hold content. */
export const toErrorName = (error: unknown): string => (error instanceof Error ? error.name : "unknown");

const DATABASE_CAUSES: readonly (readonly [words: RegExp, cause: string])[] = [
  [/no such (table|column)/i, "not_migrated"],
  [/SQLITE_FULL|disk is full|maximum DB size/i, "full"],
  [/SQLITE_CORRUPT|malformed|SQLITE_NOTADB|not a database/i, "corrupt"],
  [/SQLITE_READONLY|readonly database/i, "read_only"],
  [/overloaded|too many requests/i, "overloaded"],
  [/timeout|timed out/i, "timeout"],
];

/** Why a database failed, as a code for the log. Its own words may quote parameters. `other`: they say nothing known. */
export function toDatabaseCause(error: unknown): string {
  const words = String(error);
  return DATABASE_CAUSES.find(([known]) => known.test(words))?.[1] ?? "other";
}
