/** The cursor with which a rebuild of a session continues. */
import { z } from "@hono/zod-openapi";
import type { RebuildProgress } from "../../app/projection/rebuild-ports";

const count = z.int().min(0);
const progress = z.strictObject({
  phase: z.enum(["clear", "compare", "extend", "clean"]),
  pass: count,
  place: z.strictObject({ table: z.string(), after: z.union([z.string(), z.number(), z.null()]) }),
  found: count,
  rows: count,
});

/** Clients pass it on and do not read it. Hexadecimal, because the key of a damaged row may hold any character. */
export function toRebuildCursor(at: RebuildProgress): string {
  return Array.from(new TextEncoder().encode(JSON.stringify(at)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Null when the cursor is malformed, or names a table that is not in `tables`. */
export function parseRebuildCursor(text: string, tables: readonly string[]): RebuildProgress | null {
  const bytes = Uint8Array.from(text.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));
  try {
    const parsed = progress.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return parsed.success && tables.includes(parsed.data.place.table) ? parsed.data : null;
  } catch {
    return null;
  }
}
