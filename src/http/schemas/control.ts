/** The requests that change the model's view by hand, and the plan that a dry run shows. */
import { z } from "@hono/zod-openapi";
import type { CompactInput, ShownPlan } from "../../app/control-views";
import type { NoPlanReason } from "../../context/plan";
import { breakerView, coveredRange } from "../../contract/compaction";
import { id } from "../../contract/ids";
import { fitReportView } from "../../contract/model-call";
import { tokenFigure } from "../../contract/tokens";
import { COMPACTION_TRIGGERS, type Reduction } from "../../domain/compaction-events";
import { documents } from "./documents";
import { policyChoiceInput } from "./policy";

const MAX_INSTRUCTIONS = 4_000;
const isFilled = (text: string): boolean => text.trim() !== "";

export const compactInput = z
  .strictObject({
    dry_run: z.boolean().optional().openapi({ description: "Only the plan; nothing is stored" }),
    instructions: z
      .string()
      .max(MAX_INSTRUCTIONS)
      .refine(isFilled, "must not be empty")
      .nullable()
      .optional()
      .openapi({ description: "What the summary should look after" }),
    keep_recent: z.int().min(1).nullable().optional().openapi({ description: "Tokens that stay verbatim; by default as the policy says" }),
    up_to: z.int().min(1).nullable().optional().openapi({ description: "Nothing after this position is compacted" }),
    draft: z.boolean().optional().openapi({ description: "It waits to be read, edited, and committed or discarded; one at a time" }),
    rebuild: z.boolean().optional().openapi({
      description: "The summaries that stand are made anew, as one, from the messages they stand for; nothing else leaves the view",
    }),
    model: z.string().min(1).optional().openapi({ description: "Who writes it, in place of those that the policy names" }),
    policy: policyChoiceInput.optional().openapi({
      description:
        "Over the session's, for this compaction alone: its rules for summaries hold (form, length, attempts), and nothing else of it",
    }),
  })
  .openapi("Compact");

export const toCompactInput = (input: z.infer<typeof compactInput>): CompactInput => ({
  dryRun: input.dry_run ?? false,
  instructions: input.instructions ?? null,
  keepRecent: input.keep_recent ?? null,
  upTo: input.up_to ?? null,
  ...(input.draft && { draft: input.draft }),
  ...(input.rebuild && { rebuild: input.rebuild }),
  ...(input.model !== undefined && { model: input.model }),
  ...(input.policy !== undefined && { policy: input.policy }),
});

const reductions = z.array(documents<Reduction>()(z.object({ position: z.int(), tokens: z.number() }))).readonly();
const step = {
  gain: z.number().openapi({ description: "Tokens of the next request that it should free, in the unit of current_context_tokens" }),
  reason: z.string(),
};
const overlays = z.array(id("ovl")).readonly();

const rung = z.discriminatedUnion("rung", [
  z.object({ rung: z.literal("clear_results"), items: reductions, ...step }),
  z.object({ rung: z.literal("evict_media"), items: reductions, ...step }),
  z.object({ rung: z.literal("shorten"), items: reductions, chars: z.int(), ...step }),
  z.object({ rung: z.literal("drop"), from: z.int(), to: z.int(), replaces: overlays, items: z.int(), ...step }),
  z.object({
    rung: z.literal("summarize"),
    range: coveredRange,
    source: coveredRange,
    reread: z.number().openapi({ description: "Tokens of the messages before the source that it reads again, raw" }),
    replaces: overlays,
    keeps: z.array(z.int()).readonly(),
    merge: z.boolean(),
    generation: z.int(),
    split: z.int().nullable(),
    mode: z.enum(["transcript", "same_prefix"]),
    items: z.int(),
    tokens: z.number(),
    expected: z.number().openapi({ description: "Tokens of the summary, raw" }),
    boundary_timestamp: z.int(),
    ...step,
  }),
]);
const rungs = z.array(rung).readonly();

const reasons = ["unknown_window", "below_threshold", "nothing_older", "fits", "suspended", "no_summary", "not_by_policy"] as const;
const noPlanReason = documents<NoPlanReason>()(z.enum(reasons));

/** The planner's own result, and the state of the breaker. */
export const planView = documents<ShownPlan>()(
  z
    .discriminatedUnion("kind", [
      z.object({ kind: z.literal("none"), reason: noPlanReason, next: tokenFigure, breaker: breakerView }),
      z.object({
        kind: z.literal("compact"),
        trigger: z.enum(COMPACTION_TRIGGERS),
        base_epoch: z.int(),
        next: tokenFigure,
        expected: tokenFigure.openapi({ description: "The next request when all rungs are taken" }),
        rungs,
        fallback: rungs.openapi({ description: "What takes their place when no model helps: by hand nothing, since nothing had to leave" }),
        economy: z
          .object({
            rent: z.number(),
            price: z.number(),
            read_cost_before: z.number(),
            read_cost_after: z.number(),
            cache_kept: z.number(),
          })
          .nullable(),
        breaker_open: z
          .boolean()
          .openapi({ description: "As the plan was made: a request by hand resets the breaker. `breaker` is the breaker as it is" }),
        breaker: breakerView,
      }),
      z.object({
        kind: z.literal("cannot_fit"),
        fit: fitReportView,
        breaker: breakerView,
      }),
    ])
    .openapi("CompactionPlan"),
);

/** Pins are sent with every request: few, and short. */
const MAX_PINS = 32;
const MAX_PIN_CHARS = 4_000;

export const pinsInput = z
  .strictObject({ pins: z.array(z.string().max(MAX_PIN_CHARS).refine(isFilled, "must not be empty")).max(MAX_PINS) })
  .openapi("PutPins");
