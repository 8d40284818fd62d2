/** The request and the answer of a comparison of two summaries. */
import { z } from "@hono/zod-openapi";
import { MOST_QUESTIONS } from "../../app/compaction/ask-summaries";
import type { ComparedSummary, CompareInput, SummaryAnswer, SummaryComparison } from "../../app/comparison-views";
import { TERM_KINDS } from "../../context/kept-terms";
import { compactionFailure, coveredRange } from "../../contract/compaction";
import { id, time } from "../../contract/ids";
import { callUsage } from "../../contract/model-call";
import { documents } from "./documents";

const MAX_QUESTION = 1_000;
const MAX_EXPECT = 500;
const isFilled = (text: string): boolean => text.trim() !== "";
const filled = (most: number) => z.string().max(most).refine(isFilled, "must not be empty");

const summaryRef = z
  .union([z.literal("current"), id("cmp")], "must be the id of a compaction, or current")
  .openapi({ description: "A compaction that was committed, or a draft that waits; `current`: the summaries that stand now" });

export const compareInput = z
  .strictObject({
    a: summaryRef,
    b: summaryRef,
    questions: z
      .array(
        z.strictObject({
          question: filled(MAX_QUESTION),
          expect: filled(MAX_EXPECT).optional().openapi({ description: "What a good answer holds, by its words" }),
        }),
      )
      .max(MOST_QUESTIONS)
      .optional()
      .openapi({ description: "Each is asked of a model that sees summary a alone, then b alone: two calls a question" }),
    model: z.string().min(1).optional().openapi({ description: "Who answers; by default the session's model" }),
  })
  .openapi("CompareSummaries");

export const toCompareInput = ({ a, b, questions = [], model }: z.infer<typeof compareInput>): CompareInput => ({
  a,
  b,
  questions: questions.map(({ question, expect = null }) => ({ question, expect })),
  model: model ?? null,
});

const compared = documents<ComparedSummary>()(
  z.object({
    summary: summaryRef,
    text: z.string(),
    tokens: z.int(),
    range: coveredRange,
    model: z.string().nullable(),
    edited: z.object({ by: id("key"), at: time }).nullable(),
    kept: z.int().openapi({ description: "How many of `terms` it has" }),
  }),
);

const answer = documents<SummaryAnswer>()(
  z.object({
    text: z.string().nullable(),
    failure: compactionFailure.nullable(),
    holds: z.boolean().nullable().openapi({ description: "Whether the answer holds what was expected" }),
    in_summary: z.boolean().nullable().openapi({ description: "Whether the summary itself does" }),
    usage: callUsage.nullable(),
  }),
);

export const summaryComparisonView = documents<SummaryComparison>()(
  z
    .object({
      a: compared,
      b: compared,
      terms: z
        .array(z.object({ term: z.string(), kind: z.enum(TERM_KINDS), count: z.int(), in_a: z.boolean(), in_b: z.boolean() }))
        .readonly()
        .openapi({
          description:
            "Names, numbers and identifiers that the messages of these ranges say most often, at most 100; messages of branches that were left are not read",
        }),
      terms_complete: z.boolean(),
      diff: z.array(z.object({ in: z.enum(["a", "b", "both"]), line: z.string() })).readonly(),
      model: z.string().nullable(),
      questions: z.array(z.object({ question: z.string(), expect: z.string().nullable(), a: answer, b: answer })).readonly(),
    })
    .openapi("SummaryComparison"),
);
