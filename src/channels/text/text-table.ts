/** A wider table is not aligned: chats are narrow, and empty cells would fill a message with spaces. */
const MOST_COLUMNS = 12;
const MOST_WIDTH = 40;
const SEPARATOR = " | ";
/** Chinese, Japanese and Korean characters, and emoji, take two cells of a monospaced font. */
const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60\p{Emoji_Presentation}]/u;

/** The lines of a table in a monospaced font. */
export function toTableLines(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [header, ...rows].map((row) => row.map((cell) => cell.replace(/\s+/g, " ").trim()));
  const widths = header.length > MOST_COLUMNS ? header.map(() => 0) : header.map((_, column) => findWidth(all, column));
  const [first = "", ...lines] = all.map((row) => toTableLine(row, widths));
  const width = widths.reduce((sum, each) => sum + each + SEPARATOR.length, -SEPARATOR.length);
  return [first, "-".repeat(Math.min(Math.max(width, 3), MOST_WIDTH)), ...lines];
}

const findWidth = (rows: readonly (readonly string[])[], column: number): number =>
  rows.reduce((widest, row) => Math.max(widest, Math.min(measure(row[column] ?? ""), MOST_WIDTH)), 0);

function toTableLine(row: readonly string[], widths: readonly number[]): string {
  const filled = row.findLastIndex((cell) => cell !== "") + 1;
  const cells = row.slice(0, filled).map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - measure(cell))));
  return cells.join(SEPARATOR).trimEnd();
}

function measure(text: string): number {
  let cells = 0;
  for (const character of text) cells += WIDE.test(character) ? 2 : 1;
  return cells;
}
