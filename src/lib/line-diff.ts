/**
 * Compares two texts line by line: which lines are in one, in the other, or in both, in an order in which each text can be read from top to
 * bottom. It uses the table of the longest common subsequence, because the texts are summaries of some hundred lines. Where the table would
 * be too large (`MOST_CELLS`), the part that differs is shown as a whole.
 */
export interface DiffLine {
  readonly in: "a" | "b" | "both";
  readonly line: string;
}

/** The most pairs of lines to compare: 16 MB of table. */
const MOST_CELLS = 4_000_000;

export function diffLines(a: string, b: string): readonly DiffLine[] {
  const [left, right] = [a.split("\n"), b.split("\n")];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const both = (lines: readonly string[]): DiffLine[] => lines.map((line) => ({ in: "both", line }));
  const middle = diffMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end));
  return [...both(left.slice(0, start)), ...middle, ...both(left.slice(left.length - end))];
}

function diffMiddle(left: readonly string[], right: readonly string[]): readonly DiffLine[] {
  if (left.length * right.length > MOST_CELLS)
    return [...left.map((line): DiffLine => ({ in: "a", line })), ...right.map((line): DiffLine => ({ in: "b", line }))];
  const common = commonLengths(left, right);
  const width = right.length + 1;
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [ours, theirs] = [left[i], right[j]];
    if (ours !== undefined && ours === theirs) {
      lines.push({ in: "both", line: ours });
      i++;
      j++;
    } else if (ours !== undefined && (theirs === undefined || at(common, (i + 1) * width + j) >= at(common, i * width + j + 1))) {
      lines.push({ in: "a", line: ours });
      i++;
    } else if (theirs !== undefined) {
      lines.push({ in: "b", line: theirs });
      j++;
    }
  }
  return lines;
}

const at = (table: Uint32Array, index: number): number => table[index] ?? 0;

/** The entry at (i, j) is the length of the longest common subsequence of the left lines from i on and the right lines from j on. */
function commonLengths(left: readonly string[], right: readonly string[]): Uint32Array {
  const width = right.length + 1;
  const table = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      table[i * width + j] =
        left[i] === right[j]
          ? at(table, (i + 1) * width + j + 1) + 1
          : Math.max(at(table, (i + 1) * width + j), at(table, i * width + j + 1));
  return table;
}
