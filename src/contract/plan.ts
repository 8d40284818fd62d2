/** The plan that a dry run of a compaction shows: the planner's own result, and the state of the breaker. */
import { z } from "@hono/zod-openapi";
import type { NoPlanReason, Plan } from "../context/plan";
import type { BreakerView } from "../domain/breaker";
import { COMPACTION_TRIGGERS, type Reduction } from "../domain/compaction-events";
import { breakerView, coveredRange } from "./compaction";
import { domainShape } from "./domain-shape";
import { id } from "./ids";
import { fitReportView } from "./model-call";
import { tokenFigure } from "./tokens";

/** A plan by hand assumes a closed breaker, because the request resets it. `breaker` is its real state. */
export type ShownPlan = Plan & { readonly breaker: BreakerView };

const reductions = z.array(domainShape<Reduction>()(z.object({ position: z.int(), tokens: z.number() }))).readonly();
const step = {
  gain: z.number().openapi({ description: "Tokens of the next request that it frees, in the unit of current_context_tokens" }),
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
    reread: z.number().openapi({ description: "Raw tokens of earlier messages that the summary reads again" }),
    replaces: overlays,
    keeps: z.array(z.int()).readonly(),
    merge: z.boolean(),
    generation: z.int(),
    split: z.int().nullable(),
    mode: z.enum(["transcript", "same_prefix"]),
    items: z.int(),
    tokens: z.number(),
    expected: z.number().openapi({ description: "Expected size of the summary in raw tokens" }),
    boundary_timestamp: z.int(),
    ...step,
  }),
]);
const rungs = z.array(rung).readonly();

const NO_PLAN = ["unknown_window", "below_threshold", "nothing_older", "fits", "suspended", "no_summary", "not_by_policy"] as const;
const noPlanReason = domainShape<NoPlanReason>()(z.enum(NO_PLAN));

export const shownPlan = domainShape<ShownPlan>()(
  z
    .discriminatedUnion("kind", [
      z.object({ kind: z.literal("none"), reason: noPlanReason, next: tokenFigure, breaker: breakerView }),
      z.object({
        kind: z.literal("compact"),
        trigger: z.enum(COMPACTION_TRIGGERS),
        base_epoch: z.int(),
        next: tokenFigure,
        expected: tokenFigure.openapi({ description: "The next request after all rungs are taken" }),
        rungs,
        fallback: rungs.openapi({
          description: "The rungs that are taken if no summary can be made. Empty for a request by hand, because nothing has to leave",
        }),
        economy: z
          .object({
            rent: z.number(),
            price: z.number(),
            read_cost_before: z.number(),
            read_cost_after: z.number(),
            cache_kept: z.number(),
          })
          .nullable(),
        breaker_open: z.boolean().openapi({
          description: "The breaker in the plan. A request by hand resets it; `breaker` is its state now",
        }),
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
