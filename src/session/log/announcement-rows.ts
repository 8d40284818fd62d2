/** What the tenant's object was not told yet. Each row is written in the transaction of the events that it follows from. */
import type { Announcement } from "../../app/to-announcements";
import type { Sql } from "./sql";

export const ANNOUNCEMENT_TABLES = `
  CREATE TABLE announcements (n INTEGER PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL);
`;

interface WaitingAnnouncement {
  readonly n: number;
  readonly announcement: Announcement;
}

type Row = { readonly n: number; readonly seq: number; readonly at: number; readonly type: Announcement["type"]; readonly data: string };

/** Call it in the transaction of the events. */
export function addAnnouncements(sql: Sql, announcements: readonly Announcement[]): void {
  for (const { seq, at, type, data } of announcements)
    sql.all("INSERT INTO announcements (seq, at, type, data) VALUES (?, ?, ?, ?)", seq, at, type, JSON.stringify(data));
}

/** Oldest first. The rows are this file's own. */
export const readAnnouncements = (sql: Sql, limit: number): readonly WaitingAnnouncement[] =>
  sql
    .all<Row>("SELECT n, seq, at, type, data FROM announcements ORDER BY n LIMIT ?", limit)
    .map(({ n, data, ...row }) => ({ n, announcement: { ...row, data: JSON.parse(data) as Announcement["data"] } }));

export function forgetAnnouncements(sql: Sql, upTo: number): void {
  sql.all("DELETE FROM announcements WHERE n <= ?", upTo);
}
