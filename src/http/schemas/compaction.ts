import { z } from "@hono/zod-openapi";
import type { CompactionView, DraftView, ShownReceipt } from "../../app/control-views";
import { compactionFailure, coveredRange } from "../../contract/compaction";
import { id, time } from "../../contract/ids";
import { callUsage } from "../../contract/model-call";
import { certainty, dollars } from "../../contract/tokens";
import { COMPACTION_TRIGGERS } from "../../domain/compaction-events";
import { documents } from "./documents";
import { policyChoiceView } from "./policy";

const receiptView = documents<ShownReceipt>()(
  z.object({
    tokens_before: z.number().openapi({ description: "Of the next request, as it was; `measured` says how it is known" }),
    tokens_after: z.number(),
    measured: z
      .object({ before: certainty, after: certainty })
      .optional()
      .openapi({ description: "What tokens_before and tokens_after rest on; absent in receipts from before it was recorded" }),
    items_before: z.int(),
    items_after: z.int(),
    model: z.string().nullable(),
    usage: callUsage.nullable(),
    ms: z.number(),
    cost: dollars
      .optional()
      .openapi({ description: "US dollars of those calls; null: unknown of one of them. Absent in receipts from before it was recorded" }),
    economy: z
      .object({
        read_cost_before: z.number(),
        read_cost_after: z.number(),
        price: z.number(),
        cache_kept: z
          .number()
          .openapi({ description: "Tokens at the start of the next request that the provider's cache should still hold" }),
      })
      .nullable()
      .openapi({
        description:
          "In the model's price unit: reading the next request before and after, and what the change was expected to cost; null in receipts from before every change of the view said it",
      }),
    rungs: z
      .array(
        z.object({
          rung: z.string(),
          gain: z
            .number()
            .openapi({ description: "Tokens of the next request that it was to free, in the unit of current_context_tokens" }),
          reason: z.string(),
        }),
      )
      .readonly()
      .openapi({ description: "Steps of the ladder in the order taken, with the tokens that each was expected to free" }),
    mode: z.enum(["transcript", "same_prefix"]).nullable(),
    attempts: z.int(),
    breaker_open: z
      .boolean()
      .openapi({ description: "Whether the breaker was open when the view changed: then no model is asked for a summary, unless by hand" }),
    dropped_items: z.int().openapi({ description: "Messages that left the view without a summary" }),
    edited: z
      .object({ by: id("key"), at: time })
      .optional()
      .openapi({ description: "The key of who edited the summary last, before it was committed; absent: it stands as a model wrote it" }),
    files: z
      .object({ read: z.array(z.string()).readonly(), modified: z.array(z.string()).readonly() })
      .nullable()
      .openapi({
        description:
          "Files that tool calls read and modified, as the summary or the note lists them, with those of the summaries it replaced; null: there is none",
      }),
  }),
);

const OPS = ["summarize", "drop", "clear_results", "shorten", "evict_media", "revert", "reset"] as const;

const draftView = documents<DraftView>()(
  z.object({
    edits: z.int().openapi({ description: "How often it was edited: the next edit names it" }),
    edited_by: id("key").nullable().openapi({ description: "The key that edited it last. Null: it was not edited" }),
    edited_at: time.nullable(),
  }),
);

const described = documents<Omit<CompactionView, "ops">>()(
  z.object({
    id: id("cmp"),
    seq: z.int(),
    trigger: z.enum(COMPACTION_TRIGGERS),
    status: z.enum(["requested", "running", "drafted", "completed", "failed", "reverted"]),
    did_compact: z.boolean(),
    requested_at: time,
    finished_at: time.nullable(),
    attempts: z.int(),
    failure: compactionFailure.nullable(),
    epoch: z.int().nullable(),
    range: coveredRange.nullable().openapi({ description: "Positions that left the view, or are going to" }),
    keep_recent: z.int().nullable().openapi({ description: "As asked for by hand; so are up_to and instructions" }),
    up_to: z.int().nullable(),
    instructions: z.string().nullable(),
    rebuild: z.boolean().openapi({ description: "The summaries that stood were to be made anew" }),
    model: z.string().nullable().openapi({ description: "Who was asked to write it by hand, in place of those that the policy names" }),
    policy: policyChoiceView.nullable().openapi({ description: "Whose rules for summaries were asked for by hand" }),
    draft: draftView.nullable().openapi({ description: "Null: it was not asked for as a draft" }),
    summary: z.string().nullable(),
    receipt: receiptView.nullable().openapi({ description: "Of a draft that is read by itself: what committing it now would do" }),
    cache: z
      .object({
        expected: z.number().nullable().openapi({ description: "Tokens of the next request that should still be cached" }),
        first_call: z
          .object({ model: z.string(), input: z.int(), cached: z.int(), at: time })
          .nullable()
          .openapi({ description: "The first call of a turn in the new epoch, as the provider counted it" }),
      })
      .nullable()
      .openapi({ description: "What the change did to the provider's cache: expected, and as it turned out" }),
    reverted: z
      .object({ by: id("cmp"), at: time })
      .nullable()
      .openapi({ description: "The change that took it back" }),
  }),
);

export const compactionView = described
  .extend({
    ops: z.array(z.looseObject({ op: z.enum(OPS) })).openapi({ description: "What the epoch change did, by positions and ids" }),
  })
  .openapi("Compaction");
