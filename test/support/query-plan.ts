/** Reads a plan that SQLite made for a query (`EXPLAIN QUERY PLAN`), and finds what grows with a table instead of with the answer. */

export interface PlanRow {
  readonly detail: string;
}

/** The full-text index, asked for a term (M), or its list of terms, asked for one of them. Any other way goes through all of it. */
const TERM_LOOKUP = /VIRTUAL TABLE INDEX (\d+):(M?)/;
/** The bit of FTS5's list of terms (`fts5vocab`) for a look-up of one term. */
const ONE_TERM = 0x100;

function isTermLookup(detail: string): boolean {
  const [, number, match] = TERM_LOOKUP.exec(detail) ?? [];
  return match === "M" || (Number(number ?? 0) & ONE_TERM) > 0;
}

/** What is not a table: rows of JSON, constants, subqueries, and the common table expressions that a caller names. */
const NO_TABLE = /^SCAN (CONSTANT ROW|json_each|\d+ CONSTANT ROWS|\(subquery-\d+\))/;

/**
 * The steps of a plan that read a whole table or index, or sort all that a condition selects. `passing`: names in the query that stand for
 * rows of the query itself. `sorts`: the query may sort, because what it sorts is bounded.
 */
export function findUnbounded(plan: readonly PlanRow[], { passing = [], sorts = false }: Allowed = {}): readonly string[] {
  return plan.flatMap(({ detail }) => {
    if (detail.startsWith("USE TEMP B-TREE FOR ORDER BY")) return sorts ? [] : [detail];
    // SQLite goes through a table to make an automatic index of it, for one query.
    const isWhole = detail.startsWith("SCAN ") || detail.includes(" AUTOMATIC ");
    if (!isWhole || NO_TABLE.test(detail) || isTermLookup(detail)) return [];
    return passing.includes(detail.split(" ")[1] ?? "") ? [] : [detail];
  });
}

interface Allowed {
  readonly passing?: readonly string[];
  readonly sorts?: boolean;
}
