/**
 * Lists the people who talk in one tenant's sessions. A page reads one row of an index for each session of the people on it.
 */
import type { EndUserList, EndUserListInput, EndUserListPage, ReadError } from "../app/read-api";
import type { EndUserSummary } from "../contract/end-user";
import { err, ok, type Result } from "../lib/result";
import { databaseFor, type ReadModelEnv } from "./database-for";
import { parseUsageCursor, toUsageCursor } from "./usage-query";

const SUMMARY = `SELECT end_user, count(*) AS sessions, max(updated_at) AS last_used_at
  FROM sessions INDEXED BY sessions_of_user_by_update WHERE tenant_id = ? AND end_user IS NOT NULL`;
const DIRECTIONS = { asc: { beyond: ">", by: "end_user" }, desc: { beyond: "<", by: "end_user DESC" } };

export function createEndUserList(env: ReadModelEnv): EndUserList {
  return {
    listEndUsers: async (input) => listEndUsers(await databaseFor(env, input.tenant), input),
    findEndUser: async (tenant, endUser) => {
      const db = await databaseFor(env, tenant);
      return db.prepare(`${SUMMARY} AND end_user = ? GROUP BY end_user`).bind(tenant, endUser).first<EndUserSummary>();
    },
  };
}

async function listEndUsers(db: D1Database, input: EndUserListInput): Promise<Result<EndUserListPage, ReadError>> {
  const { tenant, limit, order } = input;
  const [after] = input.after === null ? [] : (parseUsageCursor(input.after, ["end_user"]) ?? []);
  if (input.after !== null && after === undefined) return err({ code: "invalid_cursor" });
  const { beyond, by } = DIRECTIONS[order];
  const behind = after === undefined ? "" : `AND end_user ${beyond} ?`;
  const { results } = await db
    .prepare(`${SUMMARY} ${behind} GROUP BY end_user ORDER BY ${by} LIMIT ?`)
    .bind(tenant, ...(after === undefined ? [] : [after]), limit + 1)
    .all<EndUserSummary>();
  const data = results.slice(0, limit);
  const last = results.length > limit ? data.at(-1) : undefined;
  return ok({ data, has_more: last !== undefined, next_cursor: last ? toUsageCursor([last.end_user]) : null });
}
