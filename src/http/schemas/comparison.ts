/** The request of a comparison of two summaries. */
import { z } from "@hono/zod-openapi";
import { MOST_QUESTIONS } from "../../app/compaction/ask-summaries";
import type { CompareInput } from "../../app/draft-api";
import { summaryRef } from "../../contract/comparison";

const MAX_QUESTION = 1_000;
const MAX_EXPECT = 500;
const isFilled = (text: string): boolean => text.trim() !== "";
const filled = (most: number) => z.string().max(most).refine(isFilled, "must not be empty");

export const compareInput = z
  .strictObject({
    a: summaryRef,
    b: summaryRef,
    questions: z
      .array(
        z.strictObject({
          question: filled(MAX_QUESTION),
          expect: filled(MAX_EXPECT).optional().openapi({ description: "What a good answer contains" }),
        }),
      )
      .max(MOST_QUESTIONS)
      .optional()
      .openapi({ description: "A model answers each question from summary a alone, then from summary b alone: two calls a question" }),
    model: z.string().min(1).optional().openapi({ description: "The model that answers. By default the session's model" }),
  })
  .openapi("CompareSummaries");

export const toCompareInput = ({ a, b, questions = [], model }: z.infer<typeof compareInput>): CompareInput => ({
  a,
  b,
  questions: questions.map(({ question, expect = null }) => ({ question, expect })),
  model: model ?? null,
});
