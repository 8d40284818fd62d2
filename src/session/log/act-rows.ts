/** The acts that the tenant's audit log does not have yet, each under the seq of its last event. */
import type { SessionAct } from "../../app/audit-chain";
import type { Sql } from "./sql";

export const ACT_TABLES = "CREATE TABLE acts (seq INTEGER PRIMARY KEY, act TEXT NOT NULL);";

/** Call it in the transaction of the act's events. */
export function addAct(sql: Sql, act: SessionAct): void {
  sql.all("INSERT INTO acts (seq, act) VALUES (?, ?)", act.seq, JSON.stringify(act));
}

/** Oldest first. The text is this file's own. */
export const readActs = (sql: Sql, limit: number): readonly SessionAct[] =>
  sql.all<{ act: string }>("SELECT act FROM acts ORDER BY seq LIMIT ?", limit).map(({ act }) => JSON.parse(act) as SessionAct);

export const hasActs = (sql: Sql): boolean => readActs(sql, 1).length > 0;

export function forgetActs(sql: Sql, upTo: number): void {
  sql.all("DELETE FROM acts WHERE seq <= ?", upTo);
}
