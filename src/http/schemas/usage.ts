/** The usage ledger as clients see it: sums of one session, its calls, and the calls of a tenant in groups. */
import { z } from "@hono/zod-openapi";
import { USAGE_GROUPS } from "../../app/read-api";
import { id } from "../../contract/ids";
import { endUser } from "../../contract/label";
import { callPurpose } from "../../contract/model-call";
import { limitQuery } from "./page";

export const MAX_USAGE_DAYS = 92;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_DAYS = 30;
/** A cursor names one value of each dimension, in base64. An end user alone may have 256 characters. */
const MAX_CURSOR = 4_096;

/** NaN when the text is no day. `Date.parse` would take 30 February for a day in March. */
function parseDay(text: string): number {
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) || new Date(at).toISOString().startsWith(text) ? at : Number.NaN;
}

/** Epoch milliseconds, or a day, which stands for its beginning. */
export const moment = z
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

export const instant = { type: "string", pattern: "^(\\d{1,15}|\\d{4}-\\d{2}-\\d{2})$" } as const;

export const usageQuery = z.strictObject({
  ...limitQuery,
  after: z.string().min(1).max(MAX_CURSOR).optional().openapi({ description: "next_cursor of the page before, with all else as it was" }),
  group_by: groups,
  from: moment.optional().openapi({ ...instant, description: `The first moment; default: the day ${DEFAULT_DAYS} days before \`to\`` }),
  to: moment
    .optional()
    .openapi({ ...instant, description: `The first moment after; default: now. At most ${MAX_USAGE_DAYS} days after \`from\`` }),
  session: id("ses").optional().openapi({ description: "Only the calls of this session" }),
  model: z.string().min(1).max(200).optional().openapi({ description: "Only the calls of this model" }),
  purpose: callPurpose.optional().openapi({ description: "Only calls of this purpose" }),
  format: z
    .enum(["json", "csv", "jsonl"])
    .optional()
    .openapi({ description: "`csv` and `jsonl`: all rows in one answer, without pages. Absent: as `Accept` says, else JSON" }),
  key_id: id("key").optional().openapi({ description: "Only the calls that this API key asked for" }),
  end_user: endUser.optional().openapi({ description: "Only the calls of this end user" }),
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
