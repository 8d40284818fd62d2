/**
 * Finds the next names in a list of usage by session or end user. Each is found by an index from the one before, so that the calls behind a page
 * are not read.
 */
import { NO_SESSION, toDaySession } from "../domain/erased-usage";
import { type CallRange, DAY_MS, PART_ROWS } from "./usage-counts";

/** What the names are of. `no_session`: the ids of the range's days, under which the usage of requests without a session is kept. */
export type NameKind = "session" | "end_user" | "no_session";

/** Where the next names begin. */
export interface NamePlace {
  readonly name: string;
  readonly beyond: ">" | ">=";
}

export interface FoundNames {
  /** Those that may have calls in the range. Together they have no more than one statement sums up, unless it is one name. */
  readonly names: readonly string[];
  readonly isLarge: boolean;
  /** Rows that were read. */
  readonly read: number;
  /** Null: there are no more names. */
  readonly next: NamePlace | null;
}

/** Names of one statement, whose list is a parameter. */
const MOST_NAMES = 1_000;
/** Rows that a name costs that has no call: it is looked for and counted in two tables. */
const NAME_ROWS = 4;

const LEDGERS = ["usage", "erased_usage"] as const;
const each = (toSql: (table: string) => string, between: string): string => LEDGERS.map(toSql).join(between);

/** SQL for the name beyond another, which is SQL, too. */
type BuildNext = (beyond: NamePlace["beyond"], name: string) => string;

const findNext =
  (column: string): BuildNext =>
  (beyond, name) =>
    `(SELECT min(name) FROM (${each(
      (table) =>
        `SELECT (SELECT ${column} FROM ${table} WHERE tenant_id = ?1 AND ${column} ${beyond} ${name} ORDER BY ${column} LIMIT 1) AS name`,
      " UNION ALL ",
    )}))`;

/** The ids of days are known: ?4 has the next of each, as JSON. */
const findNextDay: BuildNext = (beyond, name) => (beyond === ">=" ? name : `json_extract(?4, '$."' || ${name} || '"')`);

/** A session's calls are counted at any time: no index has them by time. */
const buildCount = (column: string, range: string): string =>
  each(
    (table) =>
      `(SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE tenant_id = ?1 AND ${column} = found.name ${range} LIMIT ${PART_ROWS + 1}))`,
    " + ",
  );

/** A name is counted in the row behind its own. The last row's name is where the next names begin. */
const buildQuery =
  (next: BuildNext, count: string) =>
  (beyond: NamePlace["beyond"]): string =>
    `WITH RECURSIVE found (name, counted, calls, total) AS (SELECT ${next(beyond, "?2")}, NULL, 0, 0
    UNION ALL SELECT ${next(">", "found.name")}, name, ${count}, total + calls
      FROM found WHERE name IS NOT NULL AND total + calls <= ${PART_ROWS} LIMIT ?3)
  SELECT counted AS name, calls, name AS next FROM found`;

const QUERIES: Readonly<Record<NameKind, (beyond: NamePlace["beyond"]) => string>> = {
  end_user: buildQuery(findNext("end_user"), buildCount("end_user", "AND at >= ?4 AND at < ?5")),
  session: buildQuery(findNext("session_id"), buildCount("session_id", "")),
  no_session: buildQuery(findNextDay, buildCount("session_id", "")),
};

/** The id of each day in the range, by the one before it. */
function linkDays({ from, to }: CallRange): Readonly<Record<string, string>> {
  const next: Record<string, string> = {};
  let before = "";
  for (let at = Math.floor(from / DAY_MS) * DAY_MS; at < to; at += DAY_MS) {
    next[before] = toDaySession(at);
    before = toDaySession(at);
  }
  return next;
}

function listParams(kind: NameKind, range: CallRange): readonly (string | number)[] {
  switch (kind) {
    case "end_user":
      return [range.from, range.to];
    case "session":
      return [];
    case "no_session":
      return [JSON.stringify(linkDays(range))];
  }
}

export async function findNames(
  db: D1Database,
  range: CallRange,
  { kind, place, most }: { readonly kind: NameKind; readonly place: NamePlace; readonly most: number },
): Promise<FoundNames> {
  const { results } = await db
    .prepare(QUERIES[kind](place.beyond))
    .bind(range.tenant, place.name, (kind === "no_session" ? MOST_NAMES : Math.min(most, MOST_NAMES)) + 1, ...listParams(kind, range))
    .all<{ name: string | null; calls: number; next: string | null }>();
  const counted = results.flatMap(({ name, calls }) => (name === null ? [] : [{ name, calls }]));
  const read = counted.reduce((sum, { calls }) => sum + calls, NAME_ROWS * counted.length);
  const isLarge = read - NAME_ROWS * counted.length > PART_ROWS;
  const left = isLarge && counted.length > 1 ? counted.pop() : undefined;
  const next = left?.name ?? results.at(-1)?.next ?? null;
  const names = counted.filter(({ name, calls }) => calls > 0 && (kind !== "session" || !name.endsWith(NO_SESSION)));
  return {
    names: names.map(({ name }) => name),
    isLarge: isLarge && left === undefined,
    read,
    next: next === null ? null : { name: next, beyond: ">=" },
  };
}
