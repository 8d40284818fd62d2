/** The values that SQLite takes and returns, by column. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;
