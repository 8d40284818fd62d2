/** Writes groups of usage as CSV (RFC 4180) or as one JSON object a line: all of them in one answer, a page of rows in memory. */
import type { ReadError, UsageInput, UsageList, UsagePage } from "../app/read-api";
import { USAGE_COLUMNS, type UsageRow } from "../contract/usage";
import { ok, type Result } from "../lib/result";

export const EXPORT_TYPES = { csv: "text/csv; charset=utf-8; header=present", jsonl: "application/x-ndjson; charset=utf-8" } as const;
export type ExportFormat = keyof typeof EXPORT_TYPES;

/**
 * Rows of one query. An invocation has 1,000 queries to D1 (Cloudflare's D1 limits, paid plan), so an export ends with an error after some
 * millions, and one by session or end user after half a million names.
 */
const EXPORT_PAGE_ROWS = 5_000;

/** A cell that begins so may be read as a formula (OWASP, CSV injection). */
const FORMULA_STARTS = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];

function toCell(value: UsageRow[keyof UsageRow]): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = FORMULA_STARTS.some((start) => value.startsWith(start)) ? `'${value}` : value;
  return [",", '"', "\r", "\n"].some((special) => text.includes(special)) ? `"${text.replaceAll('"', '""')}"` : text;
}

const toCsvLine = (row: UsageRow): string => `${USAGE_COLUMNS.map((column) => toCell(row[column])).join(",")}\r\n`;
const toJsonLine = (row: UsageRow): string => `${JSON.stringify(row)}\n`;

const HEADS: Readonly<Record<ExportFormat, string>> = { csv: `${USAGE_COLUMNS.join(",")}\r\n`, jsonl: "" };
const LINES: Readonly<Record<ExportFormat, (row: UsageRow) => string>> = { csv: toCsvLine, jsonl: toJsonLine };

interface UsageExport {
  readonly body: ReadableStream<Uint8Array>;
  readonly completeFrom: number | null;
}

/** The first page is read before the answer begins, so that a refusal has its status. A later failure cuts the answer off: it never ends as if it were whole. */
export async function exportUsage(
  usageList: UsageList,
  input: Omit<UsageInput, "limit">,
  format: ExportFormat,
): Promise<Result<UsageExport, ReadError>> {
  const read = (after: string | null) => usageList.sumUsage({ ...input, limit: EXPORT_PAGE_ROWS, after });
  const first = await read(input.after);
  if (!first.ok) return first;
  const encoder = new TextEncoder();
  let page: UsagePage | null = first.value;
  let head = HEADS[format];
  const { complete_from: completeFrom } = first.value;
  const readAfter = async (after: string) => {
    const next = await read(after);
    // Rows that were removed between two pages would be missing without a word.
    if (next.ok && (next.value.complete_from ?? 0) > Math.max(input.from, completeFrom ?? 0))
      throw new Error("Usage was removed while it was exported");
    return next;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!page) return controller.close();
      const text = head + page.data.map(LINES[format]).join("");
      head = "";
      if (text !== "") controller.enqueue(encoder.encode(text));
      page = await readNext(page.next_cursor, readAfter);
      if (!page) controller.close();
    },
  });
  return ok({ body, completeFrom });
}

async function readNext(cursor: string | null, read: (after: string) => ReturnType<UsageList["sumUsage"]>): Promise<UsagePage | null> {
  if (cursor === null) return null;
  const next = await read(cursor);
  if (!next.ok) throw new Error("A cursor of this list was refused");
  return next.value;
}
