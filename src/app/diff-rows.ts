/** Rows as they are against rows as the log says they should be. Pure. */

type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;
/** What names a row within its session and table. */
export type RowKey = string | number;
/** By table, by the row's name. */
export type RowSnapshot = Readonly<Record<string, Readonly<Record<string, Row>>>>;

/** `column` null: the whole row is missing (`before` null) or does not belong there (`after` null). */
export interface RowDifference {
  readonly table: string;
  readonly key: string;
  readonly column: string | null;
  readonly before: Cell;
  readonly after: Cell;
}

export interface KeyedRow {
  readonly key: RowKey;
  readonly row: Row;
}

/** What two pages of one table say, as far as both reach. */
interface PageMerge {
  readonly differences: readonly Omit<RowDifference, "table">[];
  /** Rows to be written as they are expected, and rows that do not belong there. */
  readonly write: readonly RowKey[];
  readonly remove: readonly RowKey[];
  /** Actual rows looked at. */
  readonly rows: number;
  /** Everything up to this key was compared; null: there was nothing. */
  readonly upTo: RowKey | null;
}

/** A report shows the beginning of a long text only. */
const SHOWN_CHARS = 80;

const shown = (cell: Cell | undefined): Cell =>
  typeof cell === "string" && cell.length > SHOWN_CHARS ? `${cell.slice(0, SHOWN_CHARS)}…` : (cell ?? null);

/** Whole snapshots: for what is known to be small. */
export function diffRows(expected: RowSnapshot, actual: RowSnapshot): readonly RowDifference[] {
  const tables = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...tables].flatMap((table) => {
    const wanted = expected[table] ?? {};
    const found = actual[table] ?? {};
    const keys = new Set([...Object.keys(wanted), ...Object.keys(found)]);
    return [...keys].flatMap((key) => diffRow(wanted[key], found[key]).map((difference) => ({ table, key, ...difference })));
  });
}

/**
 * Pages of one table, each in order of its keys, from the same place on. A page that has rows may have more behind
 * them: what lies beyond the nearer of the two ends is left for the next pages.
 */
export function mergePages(expected: readonly KeyedRow[], actual: readonly KeyedRow[]): PageMerge {
  const ends = [expected, actual].flatMap((rows) => rows.at(-1)?.key ?? []);
  const upTo = ends.reduce<RowKey | null>((least, end) => (least === null || compareKeys(end, least) < 0 ? end : least), null);
  const within = ({ key }: KeyedRow): boolean => upTo !== null && compareKeys(key, upTo) <= 0;
  const wanted = new Map(expected.filter(within).map(({ key, row }) => [key, row]));
  const found = new Map(actual.filter(within).map(({ key, row }) => [key, row]));
  const keys = [...new Set([...wanted.keys(), ...found.keys()])].sort(compareKeys);
  const all = keys.flatMap((key) => diffRow(wanted.get(key), found.get(key)).map((difference) => ({ key, ...difference })));
  const wrong = [...new Set(all.map(({ key }) => key))];
  return {
    differences: all.map(({ key, ...difference }) => ({ key: String(key), ...difference })),
    write: wrong.filter((key) => wanted.has(key)),
    remove: wrong.filter((key) => !wanted.has(key)),
    rows: found.size,
    upTo,
  };
}

/** As SQLite orders them: numbers before texts. Ids are ASCII, where its order of bytes is that of JavaScript. */
function compareKeys(a: RowKey, b: RowKey): number {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

type CellDifference = Omit<RowDifference, "table" | "key">;

function diffRow(wanted: Row | undefined, found: Row | undefined): readonly CellDifference[] {
  if (!wanted || !found) return [{ column: null, before: found ? "row" : null, after: wanted ? "row" : null }];
  const columns = new Set([...Object.keys(wanted), ...Object.keys(found)]);
  return [...columns].flatMap((column) => {
    const before = found[column] ?? null;
    const after = wanted[column] ?? null;
    return before === after ? [] : [{ column, before: shown(before), after: shown(after) }];
  });
}

export const countRows = (snapshot: RowSnapshot): number =>
  Object.values(snapshot).reduce((sum, rows) => sum + Object.keys(rows).length, 0);
