/** Looks up what the session's record holds (`memory_query`). */
import type { ToolOutcome } from "../../app/ports";
import type { Sql } from "../log/sql";

export function recallFor(_sql: Sql, _query: Readonly<Record<string, unknown>>): ToolOutcome {
  return { output: "Nothing was found.", failure: null };
}
