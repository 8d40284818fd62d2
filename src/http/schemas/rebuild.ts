/** The reports of a rebuild, and the cursor with which a rebuild of many steps goes on. */
import { z } from "@hono/zod-openapi";
import type { RowDifference } from "../../app/diff-rows";
import type { RebuildProgress, RebuildStep } from "../../app/projection/rebuild-ports";
import type { TenantRebuildReport } from "../../app/projection/rebuild-tenant";
import { id } from "../../contract/ids";
import { documents } from "./documents";

const cell = z.union([z.string(), z.number(), z.null()]);
const differences = z
  .array(
    documents<RowDifference>()(
      z.object({ table: z.string(), key: z.string(), column: z.string().nullable(), before: cell, after: cell }),
    ).readonly(),
  )
  .readonly();

interface SessionReport extends Omit<RebuildStep, "next"> {
  readonly next_cursor: string | null;
}

export const sessionReport = documents<SessionReport>()(
  z
    .object({
      session: z.string(),
      differences: differences.openapi({ description: "Those that this request found" }),
      repaired: z.boolean().nullable().openapi({ description: "Nothing is wrong now; null: it goes on with next_cursor" }),
      rows: z.int().openapi({ description: "Rows looked at; at the end, all of them" }),
      next_cursor: z.string().nullable(),
    })
    .openapi("RebuildReport"),
);

export const tenantReport = documents<TenantRebuildReport>()(
  z.object({ tenant: id("ten"), differences, repaired: z.boolean(), rows: z.int() }).openapi("TenantRebuildReport"),
);

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
