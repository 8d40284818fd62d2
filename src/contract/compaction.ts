/** Compactions as clients see them. */
import { z } from "@hono/zod-openapi";
import type { FileOps } from "../context/file-ops";
import { policyChoiceSchema } from "../context/policy-choice";
import type { BreakerView } from "../domain/breaker";
import { COMPACTION_TRIGGERS, type CompactionFailure, type CoveredRange, type EpochOp } from "../domain/compaction-events";
import type { Receipt, SummaryInstructions } from "../domain/receipt";
import { domainShape } from "./domain-shape";
import { id, time } from "./ids";
import { callUsage, modelFailureKind } from "./model-call";
import { dollars, type TokenFigure, tokenFigure } from "./tokens";

/** Positions, both included. */
export const coveredRange = domainShape<CoveredRange>()(z.object({ from: z.int(), to: z.int() }));

export const breakerView = domainShape<BreakerView>()(
  z
    .object({
      open: z.boolean().openapi({ description: "While the breaker is open, no model is asked for a summary" }),
      failures: z.int().openapi({ description: "Compactions that failed for good since the last one that made progress" }),
      fruitless: z.int().openapi({ description: "Consecutive summaries that freed less than a tenth" }),
      closes_after: z
        .int()
        .nullable()
        .openapi({ description: "Tokens (raw estimate) to be added before a model is asked again. Null if the breaker is closed" }),
    })
    .openapi("CompactionBreaker"),
);

export const compactionFailure = domainShape<CompactionFailure>()(
  z.enum([
    ...modelFailureKind.options,
    "empty",
    "cut_off",
    "too_long",
    "not_smaller",
    "sections_missing",
    "lease_expired",
    "unknown_model",
    "nothing_to_do",
    "budget",
    "superseded",
    "discarded",
    "internal",
  ]),
);

type TakingBack = Extract<EpochOp, { op: "revert" | "reset" }>;
/** Only the number of the items that came back. */
type Counted<T> = T extends unknown ? Omit<T, "items"> & { readonly items: number } : never;
export type ShownOp = Exclude<EpochOp, TakingBack> | Counted<TakingBack>;

/** What became of the standing instructions: `summary_instructions` of the session, or `summary.instructions` of its policy. */
export const summaryInstructions = domainShape<SummaryInstructions>()(
  z.enum(["applied", "left_out"]).openapi({
    description:
      "What became of the standing instructions (summary_instructions of the session, summary.instructions of its policy). `applied`: the summariser was given them. `left_out`: it was not, because an earlier answer could not be used, the breaker was open, or they would have left it too little room. Null if there were none, or if no model wrote the summary",
  }),
);

const receiptFields = {
  tokens_before: tokenFigure.openapi({ description: "The size of the next request before the change" }),
  tokens_after: tokenFigure.openapi({ description: "The size of the next request after the change" }),
  items_before: z.int(),
  items_after: z.int(),
  model: z
    .string()
    .nullable()
    .openapi({ description: "The model that was asked for a summary, also if it delivered none. Null if no model was asked" }),
  usage: callUsage
    .nullable()
    .openapi({ description: "Sum over all calls of the compaction that reported usage. Null if no call reported any" }),
  ms: z.number().openapi({ description: "Total duration of those calls in milliseconds" }),
  cost: dollars.openapi({ description: "US dollars of those calls. Null if the cost of any of them is unknown" }),
  economy: z
    .object({
      read_cost_before: z.number(),
      read_cost_after: z.number(),
      price: z.number(),
      cache_kept: z
        .number()
        .openapi({ description: "Tokens at the start of the next request that the provider's cache is expected to hold still" }),
    })
    .openapi({
      description: "In the model's price unit: the cost of reading the next request before and after, and the expected price of the change",
    }),
  rungs: z
    .array(
      z.object({
        rung: z.string(),
        gain: z.number().openapi({ description: "Tokens of the next request that it was expected to free" }),
        reason: z.string(),
      }),
    )
    .readonly()
    .openapi({ description: "Steps of the ladder in the order taken" }),
  mode: z.enum(["transcript", "same_prefix"]).nullable(),
  attempts: z.int(),
  breaker_open: z.boolean().openapi({
    description: "Whether the breaker was open when the view changed. While it is open, a model is asked only by hand",
  }),
  dropped_items: z.int().openapi({ description: "Messages that left the view without a summary" }),
  redacted: z.int().optional().openapi({
    description: "How many secrets were replaced in what the summariser read. Absent unless the policy redacts (`summary.redact`)",
  }),
  edited: z
    .object({ by: id("key"), at: time })
    .optional()
    .openapi({ description: "The last editor of the draft, by API key. Absent if the summary is as the model wrote it" }),
};

/**
 * A receipt as clients see it. The stored one has the sizes as numbers, with their certainty in `measured`. It does not hold file paths,
 * because paths are content. They are read from the summary or the note, and leave with it.
 */
export type ShownReceipt = Omit<Receipt, "tokens_before" | "tokens_after" | "measured" | "summary_instructions"> & {
  readonly tokens_before: TokenFigure;
  readonly tokens_after: TokenFigure;
  readonly summary_instructions: SummaryInstructions | null;
  readonly files: FileOps | null;
};
const shownReceipt = domainShape<ShownReceipt>()(
  z.object({
    ...receiptFields,
    summary_instructions: summaryInstructions.nullable(),
    files: z
      .object({ read: z.array(z.string()).readonly(), modified: z.array(z.string()).readonly() })
      .nullable()
      .openapi({
        description:
          "Files that tool calls read and modified, as the summary or the note lists them, including those of the summaries that it replaced. Null if there is no list",
      }),
  }),
);

const draftView = z.object({
  edits: z.int().openapi({ description: "The number of edits, which the next edit or a commit must name" }),
  edited_by: id("key").nullable().openapi({ description: "The API key of the last editor. Null if the draft was not edited" }),
  edited_at: time.nullable(),
});
export type DraftView = z.infer<typeof draftView>;

const withoutOps = z.object({
  id: id("cmp"),
  seq: z.int().openapi({ description: "The seq of the event that requested it, or of the change itself if nothing requested it" }),
  trigger: z.enum(COMPACTION_TRIGGERS),
  status: z.enum(["requested", "running", "drafted", "completed", "failed", "reverted"]),
  did_compact: z.boolean(),
  requested_at: time,
  finished_at: time.nullable(),
  attempts: z.int(),
  failure: compactionFailure.nullable(),
  epoch: z.int().nullable(),
  range: coveredRange.nullable().openapi({ description: "Positions that left the view, or will leave it" }),
  keep_recent: z.int().nullable().openapi({ description: "As requested by hand, like up_to and instructions" }),
  up_to: z.int().nullable(),
  instructions: z.string().nullable(),
  rebuild: z.boolean().openapi({ description: "The request was to write the current summaries anew" }),
  model: z.string().nullable().openapi({ description: "The model that the request named. Null: the session's policy decides" }),
  policy: policyChoiceSchema
    .nullable()
    .openapi({ description: "The policy that the request named, whose rules for summaries apply. Null: the session's policy decides" }),
  draft: draftView.nullable().openapi({ description: "Null if it was not requested as a draft" }),
  summary: z.string().nullable(),
  receipt: shownReceipt.nullable().openapi({ description: "For a draft that is read by itself: what committing it now would do" }),
  cache: z
    .object({
      expected: z.number().openapi({ description: "Tokens at the start of the next request that should still be cached" }),
      first_call: z
        .object({ model: z.string(), input: z.int(), cached: z.int(), at: time })
        .nullable()
        .openapi({ description: "The first call of a turn in the new epoch, as the provider counted it" }),
    })
    .nullable()
    .openapi({ description: "The effect of the change on the provider's cache: expected and actual" }),
  reverted: z
    .object({ by: id("cmp"), at: time })
    .nullable()
    .openapi({ description: "The change that reverted it" }),
});

const OPS = ["summarize", "drop", "clear_results", "shorten", "evict_media", "revert", "reset"] as const;

export const compactionView = withoutOps
  .extend({
    ops: z.array(z.looseObject({ op: z.enum(OPS) })).openapi({ description: "What the change of the view did, by positions and ids" }),
  })
  .openapi("Compaction");

/** The document leaves the fields of each operation open; `domain` has their types. */
export type CompactionView = z.infer<typeof withoutOps> & { readonly ops: readonly ShownOp[] };
