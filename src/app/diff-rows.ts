/** Compares actual rows with the rows that the log implies. Pure. */
import type { RowDifference } from "../contract/rebuild";

type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;
/** Identifies a row within its session and table. */
export type RowKey = string | number;
/** Rows by table, then by key. */
export type RowSnapshot = Readonly<Record<string, Readonly<Record<string, Row>>>>;

export interface KeyedRow {
  readonly key: RowKey;
  readonly row: Row;
}

/** The comparison of two pages of one table, up to the key that both pages reach. */
interface PageMerge {
  readonly differences: readonly Omit<RowDifference, "table">[];
  /** Keys of rows to write as expected, and of rows to remove. */
  readonly write: readonly RowKey[];
  readonly remove: readonly RowKey[];
  /** Actual rows that were compared. */
  readonly rows: number;
  /** Everything up to this key was compared. Null when both pages were empty. */
  readonly upTo: RowKey | null;
}

/** A report shows only the beginning of a long text. */
const SHOWN_CHARS = 80;

const shown = (cell: Cell | undefined): Cell =>
  typeof cell === "string" && cell.length > SHOWN_CHARS ? `${cell.slice(0, SHOWN_CHARS)}…` : (cell ?? null);

/** Compares whole snapshots, which must be small. */
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
 * Compares pages of one table, each in order of its keys, from the same place on. A page with rows may be followed by more, so rows beyond
 * the smaller of the two last keys are left for the next pages.
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

/** SQLite's order: numbers before texts. Ids are ASCII, where SQLite's byte order equals JavaScript's. */
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
