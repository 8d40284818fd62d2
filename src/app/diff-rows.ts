/** Rows as they are against rows as the log says they should be. Pure. */

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;
/** By table, by the row's name within the session. */
export type RowSnapshot = Readonly<Record<string, Readonly<Record<string, Row>>>>;

/** `column` null: the whole row is missing (`before` null) or does not belong there (`after` null). */
export interface RowDifference {
  readonly table: string;
  readonly key: string;
  readonly column: string | null;
  readonly before: Cell;
  readonly after: Cell;
}

/** A report shows the beginning of a long text only. */
const SHOWN_CHARS = 80;

const shown = (cell: Cell | undefined): Cell =>
  typeof cell === "string" && cell.length > SHOWN_CHARS ? `${cell.slice(0, SHOWN_CHARS)}…` : (cell ?? null);

export function diffRows(expected: RowSnapshot, actual: RowSnapshot): readonly RowDifference[] {
  const tables = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...tables].flatMap((table) => {
    const wanted = expected[table] ?? {};
    const found = actual[table] ?? {};
    const keys = new Set([...Object.keys(wanted), ...Object.keys(found)]);
    return [...keys].flatMap((key) => diffRow(wanted[key], found[key]).map((difference) => ({ table, key, ...difference })));
  });
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
