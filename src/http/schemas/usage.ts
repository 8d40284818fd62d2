/** The usage ledger as clients see it: sums of one session, its calls, and the calls of a tenant in groups. */
import { z } from "@hono/zod-openapi";
import { USAGE_GROUPS, type UsageRow } from "../../app/read-api";
import type { LedgerRow, UsageSums } from "../../app/session-views";
import { CALL_PURPOSES } from "../../domain/model-call";
import { documents } from "./documents";
import { id, idOrNull, time } from "./ids";
import { limitQuery, listView } from "./page";
import { dollars, modelFailureKind } from "./turn";

const tokens = {
  input: z.int().openapi({ description: "All of it: uncached, cached and cache_write" }),
  uncached: z.int(),
  cached: z.int().openapi({ description: "Read from the provider's cache" }),
  cache_write: z.int().openapi({ description: "Written to the provider's cache" }),
  output: z.int().openapi({ description: "Thinking included" }),
  reasoning: z.int(),
};

const sums = {
  calls: z.int(),
  failed_calls: z.int().openapi({ description: "Calls that a failure, a stop or a crash ended" }),
  ...tokens,
  cost: dollars.openapi({ description: "US dollars of the calls whose cost is known; null: it is known of none" }),
  unpriced_calls: z.int().openapi({ description: "Calls whose cost is unknown, for want of a price or of a count: cost is without them" }),
  cost_complete: z.boolean(),
};

export const usageSumsView = documents<UsageSums>()(z.object(sums));

const purpose = z.enum(CALL_PURPOSES);
const source = z.enum(["turn", "context_compaction", "title", "comparison"]);

export const callOutcome = z.enum([
  ...(["stop", "length", "tool_calls", "content_filter", "other"] as const),
  ...modelFailureKind.options,
  ...(["cannot_fit", "round_limit", "storage_full", "unknown_model", "crashed", "internal", "stale"] as const),
]);

export const ledgerRowView = documents<LedgerRow>()(
  z
    .object({
      seq: z.int(),
      at: time,
      turn_id: idOrNull("trn"),
      purpose,
      source,
      model: z.string(),
      input: tokens.input.nullable(),
      uncached: tokens.uncached.nullable(),
      cached: tokens.cached.nullable(),
      cache_write: tokens.cache_write.nullable(),
      output: tokens.output.nullable(),
      reasoning: tokens.reasoning.nullable(),
      cost: dollars.openapi({ description: "US dollars, by the prices of the moment; null: unknown" }),
      estimate: z.number().openapi({ description: "Our own count of the request before it was sent, unscaled" }),
      outcome: callOutcome,
      ms: z.number(),
    })
    .openapi("ModelCall"),
);

const usageRowView = documents<UsageRow>()(
  z
    .object({
      day: z
        .string()
        .nullable()
        .openapi({ example: "2026-11-22", description: "UTC; null, as the others, where the rows are not grouped by it" }),
      session_id: id("ses").nullable(),
      model: z.string().nullable(),
      purpose: purpose.nullable(),
      source: source.nullable(),
      ...sums,
    })
    .openapi("Usage"),
);

export const usageListView = listView(usageRowView).extend({ from: time, to: time });

export const MAX_USAGE_DAYS = 92;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_DAYS = 30;

/** NaN when the text is no day. `Date.parse` would take 30 February for a day in March. */
function parseDay(text: string): number {
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) || new Date(at).toISOString().startsWith(text) ? at : Number.NaN;
}

/** Epoch milliseconds, or a day, which stands for its beginning. */
const moment = z
  .string()
  .regex(/^(?:\d{1,15}|\d{4}-\d{2}-\d{2})$/, "epoch milliseconds, or a day as 2026-11-22")
  .transform((text) => (text.includes("-") ? parseDay(text) : Number(text)))
  .refine((at) => Number.isSafeInteger(at), "not a day of any month");

const groups = z
  .string()
  .max(64)
  .transform((text) => (text === "" ? [] : text.split(",")))
  .pipe(z.array(z.enum(USAGE_GROUPS)).refine((names) => new Set(names).size === names.length, "each at most once"))
  .default(["day"])
  .openapi({
    type: "string",
    default: "day",
    example: "day,model",
    description: `Any of ${USAGE_GROUPS.join(", ")}, with commas between; empty: one row for all`,
  });

const instant = { type: "string", pattern: "^(\\d{1,15}|\\d{4}-\\d{2}-\\d{2})$" } as const;

export const usageQuery = z.strictObject({
  ...limitQuery,
  after: z.string().min(1).max(512).optional().openapi({ description: "next_cursor of the page before, with all else as it was" }),
  group_by: groups,
  from: moment.optional().openapi({ ...instant, description: `The first moment; default: the day ${DEFAULT_DAYS} days before \`to\`` }),
  to: moment
    .optional()
    .openapi({ ...instant, description: `The first moment after; default: now. At most ${MAX_USAGE_DAYS} days after \`from\`` }),
  session: id("ses").optional(),
  model: z.string().min(1).max(200).optional(),
  purpose: purpose.optional(),
});

interface UsageRange {
  readonly from: number;
  readonly to: number;
}

/** Null when the range ends before it begins, or is longer than one answer may look at. */
export function toRange(asked: { readonly from?: number | undefined; readonly to?: number | undefined }, now: number): UsageRange | null {
  const to = asked.to ?? now + 1;
  const from = asked.from ?? Math.floor(to / DAY_MS) * DAY_MS - DEFAULT_DAYS * DAY_MS;
  return from <= to && to - from <= MAX_USAGE_DAYS * DAY_MS ? { from: Math.max(0, from), to } : null;
}
