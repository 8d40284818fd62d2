/** Two summaries side by side. */
import { z } from "@hono/zod-openapi";
import { TERM_KINDS } from "../context/kept-terms";
import type { DiffLine } from "../lib/line-diff";
import { compactionFailure, coveredRange, summaryInstructions } from "./compaction";
import { domainShape } from "./domain-shape";
import { id, time } from "./ids";
import { callUsage } from "./model-call";
import { tokenFigure } from "./tokens";

export const summaryRef = z
  .union([z.literal("current"), id("cmp")], "must be the id of a compaction, or current")
  .openapi({ description: "A committed compaction or a draft, by its id. `current`: the summaries in the view, as one text" });
export type SummaryRef = z.infer<typeof summaryRef>;

const comparedSummary = z.object({
  summary: summaryRef,
  text: z.string(),
  tokens: tokenFigure.openapi({ description: "The size of `text`. Always estimated" }),
  range: coveredRange.openapi({ description: "Positions that the summary covers" }),
  model: z.string().nullable().openapi({ description: "The model that wrote the summary. Null: several models, no model, or unknown" }),
  summary_instructions: summaryInstructions.nullable(),
  edited: z
    .object({ by: id("key"), at: time })
    .nullable()
    .openapi({ description: "Null if the summary has not changed since the model wrote it" }),
  kept: z.int().openapi({ description: "How many of `terms` the summary contains" }),
});
export type ComparedSummary = z.infer<typeof comparedSummary>;

const summaryAnswer = z.object({
  text: z.string().nullable(),
  failure: compactionFailure.nullable().openapi({ description: "Why there is no answer. Null if there is one" }),
  holds: z
    .boolean()
    .nullable()
    .openapi({ description: "Whether the answer contains what was expected. Null if there is no answer, or nothing was expected" }),
  in_summary: z
    .boolean()
    .nullable()
    .openapi({ description: "Whether the summary itself contains what was expected. Null if nothing was expected" }),
  usage: callUsage.nullable(),
});
export type SummaryAnswer = z.infer<typeof summaryAnswer>;

const answeredQuestion = z.object({ question: z.string(), expect: z.string().nullable(), a: summaryAnswer, b: summaryAnswer });
export type AnsweredQuestion = z.infer<typeof answeredQuestion>;

export const summaryComparison = z
  .object({
    a: comparedSummary,
    b: comparedSummary,
    terms: z
      .array(
        z.object({
          term: z.string(),
          kind: z.enum(TERM_KINDS),
          count: z.int().openapi({ description: "How often the messages contain the term" }),
          in_a: z.boolean(),
          in_b: z.boolean(),
        }),
      )
      .readonly()
      .openapi({
        description:
          "The most frequent names, numbers and identifiers in the messages that either summary covers, at most 100. Messages of branches that were left are not read",
      }),
    terms_complete: z.boolean().openapi({ description: "Whether all of those messages were read" }),
    diff: domainShape<readonly DiffLine[]>()(z.array(z.object({ in: z.enum(["a", "b", "both"]), line: z.string() })).readonly()),
    model: z.string().nullable().openapi({ description: "The model that answered. Null if no question was asked" }),
    questions: z.array(answeredQuestion).readonly(),
  })
  .openapi("SummaryComparison");
export type SummaryComparison = z.infer<typeof summaryComparison>;
